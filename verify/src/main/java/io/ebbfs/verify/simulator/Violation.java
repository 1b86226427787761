package io.ebbfs.verify.simulator;

/** A promise was broken. */
final class Violation extends AssertionError {
  private static final long serialVersionUID = 1L;

  Violation(String message) {
    super(message);
  }
}
