package io.ebbfs.namenode.store;

import java.io.IOException;

/**
 * A row changed after the transaction read it and before the transaction locked it. {@link
 * OptimisticTransactions} runs the transaction again.
 */
public final class StaleReadException extends IOException {
  private static final long serialVersionUID = 1;

  public StaleReadException(String what) {
    super(what);
  }

  /** The exception is part of normal work, so it records no stack trace. */
  @Override
  public synchronized Throwable fillInStackTrace() {
    return this;
  }
}
