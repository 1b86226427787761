package io.ebbfs.cluster;

/**
 * Something that the operator can mend: the message names what failed, the value, and the remedy,
 * and is meant to be printed alone, without a stack trace.
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
