package io.ebbfs.namespace.transition;

/** A transition cannot be run now, or ever; the message says why. */
final class NotPlannableException extends Exception {
  private static final long serialVersionUID = 1;

  private final boolean forEver;

  private NotPlannableException(String message, boolean forEver) {
    super(message);
    this.forEver = forEver;
  }

  /** Something may change: it is tried again. */
  static NotPlannableException now(String message) {
    return new NotPlannableException(message, false);
  }

  /** What it was about is gone. */
  static NotPlannableException ever(String message) {
    return new NotPlannableException(message, true);
  }

  boolean forEver() {
    return forEver;
  }
}
