package io.ebbfs.namenode.tasks.plan;

import io.ebbfs.namenode.tasks.lifecycle.PlacementShortage;
import java.util.Optional;
import java.util.function.Supplier;

/** An attempt of a transition cannot be planned, now or ever; the message says why. */
public final class NotPlannableException extends Exception {
  private static final long serialVersionUID = 1;

  private final boolean forEver;
  private final transient Supplier<PlacementShortage> shortage;

  private NotPlannableException(
      String message, boolean forEver, Supplier<PlacementShortage> shortage) {
    super(message);
    this.forEver = forEver;
    this.shortage = shortage;
  }

  /** The transition is tried again: the cluster may change. */
  public static NotPlannableException now(String message) {
    return new NotPlannableException(message, false, null);
  }

  /** A block finds no place. The shortage is computed only if {@link #shortage} is called. */
  static NotPlannableException noPlace(String message, Supplier<PlacementShortage> shortage) {
    return new NotPlannableException(message, false, shortage);
  }

  /** The transition is dropped: its blocks or stripes are gone, or no retry can help. */
  static NotPlannableException ever(String message) {
    return new NotPlannableException(message, true, null);
  }

  /** What the placement lacks; empty if the placement was not the reason. */
  public Optional<PlacementShortage> shortage() {
    return Optional.ofNullable(shortage).map(Supplier::get);
  }

  public boolean forEver() {
    return forEver;
  }
}
