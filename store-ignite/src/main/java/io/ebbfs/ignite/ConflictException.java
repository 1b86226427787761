package io.ebbfs.ignite;

/**
 * A transaction of another process changed a row first, or a node left: nothing is written, and the
 * transaction runs again. Unchecked, so that no body of a transaction swallows it.
 */
final class ConflictException extends RuntimeException {
  private static final long serialVersionUID = 1;

  ConflictException(Throwable cause) {
    super(cause.getMessage(), cause, false, false);
  }
}
