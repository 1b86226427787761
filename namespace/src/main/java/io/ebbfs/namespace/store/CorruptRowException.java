package io.ebbfs.namespace.store;

/**
 * A stored row that cannot be read: the store's files were damaged or written by something else.
 */
public final class CorruptRowException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public CorruptRowException(String message, Throwable cause) {
    super(message, cause);
  }
}
