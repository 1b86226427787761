package io.ebbfs.client;

import java.io.IOException;

/** A server leads too many lanes, or a lane has too many writers: another lane may take records. */
final class LaneBusyException extends IOException {
  private static final long serialVersionUID = 1;

  LaneBusyException(String message) {
    super(message);
  }
}
