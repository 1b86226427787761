package io.ebbfs.testbed;

/**
 * An error that the operator can remedy. The message names the failed thing, the value and the
 * remedy, and is printed alone, without a stack trace.
 */
public final class ClusterException extends Exception {
  /** Creates an exception with a complete message. */
  public ClusterException(String message) {
    super(message);
  }

  /** Creates an exception with a complete message; the cause is for logs only. */
  public ClusterException(String message, Throwable cause) {
    super(message, cause);
  }
}
