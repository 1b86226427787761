package io.ebbfs.manager.policy;

import java.util.OptionalDouble;

/**
 * The room of a policy under its bound, in bytes that may still be stored: bound * live - stored.
 * Everything under way or proposed is entered with what it adds; two readings come out of it. What
 * grows storage must fit {@link #strictRoom}, which counts on nothing that is not done yet, so no
 * order of the transitions exceeds the bound on the way. What shrinks it looks at {@link #endRoom}.
 * Not thread-safe.
 */
final class Ledger {
  private final OptionalDouble bound;
  private double stored;
  private double live;
  private double strictRoom;

  Ledger(OptionalDouble bound, long storedBytes, long liveBytes) {
    this.bound = bound;
    this.stored = storedBytes;
    this.live = liveBytes;
    this.strictRoom = room(storedBytes, liveBytes);
  }

  /** Enters a transition that is under way or proposed. */
  void add(double storedDelta, double liveDelta) {
    stored += storedDelta;
    live += liveDelta;
    keep(use(storedDelta, liveDelta));
  }

  /** Keeps room for what is not proposed yet, from what grows storage. */
  void keep(double use) {
    strictRoom -= Math.max(0, use);
  }

  /** How much room such a change takes; negative if it makes room. */
  double use(double storedDelta, double liveDelta) {
    return bound.isEmpty() ? 0 : storedDelta - bound.getAsDouble() * liveDelta;
  }

  double endRoom() {
    return room(stored, live);
  }

  double strictRoom() {
    return strictRoom;
  }

  double endOverhead() {
    return live == 0 ? 0 : stored / live;
  }

  private double room(double storedBytes, double liveBytes) {
    return bound.isEmpty()
        ? Double.POSITIVE_INFINITY
        : bound.getAsDouble() * liveBytes - storedBytes;
  }
}
