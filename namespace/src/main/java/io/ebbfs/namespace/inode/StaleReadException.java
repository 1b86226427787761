package io.ebbfs.namespace.inode;

import java.io.IOException;

/** What was read before locking is no longer so: the transaction is to be repeated. */
public final class StaleReadException extends IOException {
  private static final long serialVersionUID = 1;

  public StaleReadException(String what) {
    super(what);
  }

  /** It happens in the course of things, so it costs no stack trace. */
  @Override
  public synchronized Throwable fillInStackTrace() {
    return this;
  }
}
