package io.ebbfs.coding.plan;

/** There is no plan for a request. The message says why, and what would help. */
public final class CannotPlanException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public CannotPlanException(String message) {
    super(message);
  }
}
