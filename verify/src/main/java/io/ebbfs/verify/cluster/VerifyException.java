package io.ebbfs.verify.cluster;

/** A verification could not start, or one of its steps did not come about. Says the remedy. */
public final class VerifyException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public VerifyException(String message) {
    super(message);
  }

  public VerifyException(String message, Throwable cause) {
    super(message, cause);
  }
}
