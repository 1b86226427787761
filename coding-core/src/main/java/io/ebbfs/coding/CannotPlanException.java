package io.ebbfs.coding;

/** What was asked for cannot be planned; the message says why and what would help. */
public final class CannotPlanException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public CannotPlanException(String message) {
    super(message);
  }
}
