package io.ebbfs.namenode.store;

import java.io.IOException;

/**
 * The store was lost during a commit: either all writes of the transaction are there, or none.
 * Whoever repeats the transaction must first read whether its writes are there.
 */
public class OutcomeUnknownException extends IOException {
  private static final long serialVersionUID = 1;

  public OutcomeUnknownException(String message, Throwable cause) {
    super(message, cause);
  }
}
