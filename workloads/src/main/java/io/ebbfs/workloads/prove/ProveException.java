package io.ebbfs.workloads.prove;

/** A proof that could not be tried, or a step of it that did not come about; with the remedy. */
public final class ProveException extends RuntimeException {
  private static final long serialVersionUID = 1;

  ProveException(String message) {
    super(message);
  }

  ProveException(String message, Throwable cause) {
    super(message, cause);
  }
}
