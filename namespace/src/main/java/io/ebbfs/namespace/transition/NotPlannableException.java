package io.ebbfs.namespace.transition;

import java.util.Optional;
import java.util.function.Supplier;

/** A transition cannot be run now, or ever; the message says why. */
final class NotPlannableException extends Exception {
  private static final long serialVersionUID = 1;

  private final boolean forEver;
  private final transient Supplier<Shortage> shortage;

  private NotPlannableException(String message, boolean forEver, Supplier<Shortage> shortage) {
    super(message);
    this.forEver = forEver;
    this.shortage = shortage;
  }

  /** Something may change: it is tried again. */
  static NotPlannableException now(String message) {
    return new NotPlannableException(message, false, null);
  }

  /** There is no place for a block; what is missing is found out only if somebody asks. */
  static NotPlannableException noPlace(String message, Supplier<Shortage> shortage) {
    return new NotPlannableException(message, false, shortage);
  }

  /** What it was about is gone. */
  static NotPlannableException ever(String message) {
    return new NotPlannableException(message, true, null);
  }

  /** What is missing for a placement; empty if it was not for the placement. */
  Optional<Shortage> shortage() {
    return Optional.ofNullable(shortage).map(Supplier::get);
  }

  boolean forEver() {
    return forEver;
  }
}
