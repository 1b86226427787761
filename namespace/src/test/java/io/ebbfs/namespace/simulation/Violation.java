package io.ebbfs.namespace.simulation;

/** A promise was broken. */
final class Violation extends AssertionError {
  private static final long serialVersionUID = 1L;

  Violation(String message) {
    super(message);
  }
}
