package io.ebbfs.manager.bound;

import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;

/**
 * Enforces the storage bound of one policy: its encoded data stores at most so many bytes per live
 * byte. Every encoding and every conversion is checked here before it is proposed.
 *
 * <p>The room of a policy is {@code bound * live - stored}, in bytes. The enforcer keeps two rooms:
 *
 * <ul>
 *   <li>The room now counts what transitions under way or proposed will add, and ignores what they
 *       will save. A change that needs room must fit into it. Therefore the bound holds in whatever
 *       order the transitions end.
 *   <li>The room at the end counts all transitions as done. If it is negative, the policy is over
 *       its bound, and fast stripes have to become compact.
 * </ul>
 *
 * <p>A policy without a bound has infinite room. Not thread-safe.
 */
public final class StorageBound {
  private final OptionalDouble bound;
  private double stored;
  private double live;
  private double roomNow;

  /**
   * What a transition changes.
   *
   * @param storedBytes stored bytes that it adds; negative if it saves some
   * @param liveBytes encoded logical bytes that it adds
   */
  public record Change(double storedBytes, double liveBytes) {
    /** Parities or deleted data change, and live data does not. */
    public static Change ofStored(double bytes) {
      return new Change(bytes, 0);
    }
  }

  /**
   * @param bound most stored bytes per live byte; empty for none
   * @param storedBytes of the stripes of the policy, as they are now
   */
  public StorageBound(OptionalDouble bound, long storedBytes, long liveBytes) {
    this.bound = bound;
    this.stored = storedBytes;
    this.live = liveBytes;
    this.roomNow = room(storedBytes, liveBytes);
  }

  /** Enters a transition that is under way or proposed. */
  public void enter(Change change) {
    stored += change.storedBytes;
    live += change.liveBytes;
    reserve(change);
  }

  /** Keeps room for a change that is not proposed yet, so that no other change takes the room. */
  public void reserve(Change change) {
    roomNow -= Math.max(0, roomTakenBy(change));
  }

  /** Whether a change may be proposed now. */
  public boolean fitsNow(Change change) {
    return Math.max(0, roomTakenBy(change)) <= roomNow;
  }

  /** Whether there is room for a change once all transitions under way or proposed are done. */
  public boolean fitsAtEnd(Change change) {
    return roomTakenBy(change) <= roomAtEnd();
  }

  /**
   * How many of these changes, from the first, may be proposed now. A change that needs no room
   * always may.
   */
  public int countThatFitNow(List<Change> changes) {
    double room = roomNow;
    int count = 0;
    for (Change change : changes) {
      double taken = Math.max(0, roomTakenBy(change));
      if (taken > 0 && taken > room) {
        break;
      }
      room -= taken;
      count++;
    }
    return count;
  }

  /** Whether the policy is over its bound even when all transitions are done. */
  public boolean isExceededAtEnd() {
    return roomAtEnd() < 0;
  }

  /** How many bytes of room a change lacks now; 0 or less if it fits. */
  public double lackingNow(Change change) {
    return Math.max(0, roomTakenBy(change)) - roomNow;
  }

  /** How many bytes of room a change lacks at the end; negative if there is more than enough. */
  public double lackingAtEnd(Change change) {
    return roomTakenBy(change) - roomAtEnd();
  }

  /** Stored bytes per live byte once all transitions are done; 0 if nothing is encoded. */
  public double overheadAtEnd() {
    return live == 0 ? 0 : stored / live;
  }

  /** "1.50x", or "none". */
  public String show() {
    return bound.isPresent() ? String.format(Locale.ROOT, "%.2fx", bound.getAsDouble()) : "none";
  }

  /** How much room a change takes; negative if it makes room; 0 without a bound. */
  private double roomTakenBy(Change change) {
    return bound.isEmpty() ? 0 : change.storedBytes - bound.getAsDouble() * change.liveBytes;
  }

  private double roomAtEnd() {
    return room(stored, live);
  }

  private double room(double storedBytes, double liveBytes) {
    return bound.isEmpty()
        ? Double.POSITIVE_INFINITY
        : bound.getAsDouble() * liveBytes - storedBytes;
  }
}
