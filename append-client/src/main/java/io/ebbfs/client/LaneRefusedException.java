package io.ebbfs.client;

import java.io.IOException;

/**
 * A server does not lead a lane, for a reason that names the server that cannot be used, if one is
 * to blame.
 */
final class LaneRefusedException extends IOException {
  private static final long serialVersionUID = 1;

  private final String reason;

  LaneRefusedException(String message, String reason) {
    super(message + ": " + reason);
    this.reason = reason;
  }

  String reason() {
    return reason;
  }
}
