package io.ebbfs.namenode.store;

/**
 * A stored row cannot be parsed: the files of the store are damaged, or another program wrote them.
 */
public final class CorruptRowException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public CorruptRowException(String message, Throwable cause) {
    super(message, cause);
  }
}
