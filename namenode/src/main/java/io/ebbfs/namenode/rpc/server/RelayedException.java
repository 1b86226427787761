package io.ebbfs.namenode.rpc.server;

import java.io.IOException;

/** The failure of a call at another namenode; the caller gets its class and message unchanged. */
public final class RelayedException extends IOException {
  private static final long serialVersionUID = 1;

  private final String className;

  /**
   * @param className of the exception that the other namenode has thrown
   */
  public RelayedException(String className, String message) {
    super(message);
    this.className = className;
  }

  String className() {
    return className;
  }
}
