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
 * <p>A policy without a bound has infinite room. The bound of a policy may lie within the bound of
 * the whole cluster, which all changes of all policies enter. A change that adds fast data must fit
 * into both. An encoding into the compact code asks the policy's own bound only: to make room in
 * the cluster is up to the policies whose fast data is worth least. Not thread-safe.
 */
public final class StorageBound {
  private final OptionalDouble bound;
  private final StorageBound cluster;
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
    this(bound, storedBytes, liveBytes, null);
  }

  private StorageBound(
      OptionalDouble bound, long storedBytes, long liveBytes, StorageBound cluster) {
    this.bound = bound;
    this.cluster = cluster;
    this.stored = storedBytes;
    this.live = liveBytes;
    this.roomNow = room(storedBytes, liveBytes);
  }

  /** The bound of a policy within this bound of the whole cluster. */
  public StorageBound within(OptionalDouble ofPolicy, long storedBytes, long liveBytes) {
    return new StorageBound(ofPolicy, storedBytes, liveBytes, this);
  }

  /** Enters a transition that is under way or proposed. */
  public void enter(Change change) {
    addAtEnd(change);
    reserve(change);
  }

  private void addAtEnd(Change change) {
    stored += change.storedBytes;
    live += change.liveBytes;
    if (cluster != null) {
      cluster.addAtEnd(change);
    }
  }

  /** Keeps room for a change that is not proposed yet, so that no other change takes the room. */
  public void reserve(Change change) {
    roomNow -= Math.max(0, roomTakenBy(change));
    if (cluster != null) {
      cluster.reserve(change);
    }
  }

  /** Whether a change may be proposed now. A change that needs no room always may. */
  public boolean fitsNow(Change change) {
    double taken = roomTakenBy(change);
    return (taken <= 0 || taken <= roomNow) && (cluster == null || cluster.fitsNow(change));
  }

  /** Whether there is room for a change once all transitions under way or proposed are done. */
  public boolean fitsAtEnd(Change change) {
    return lackingAtEnd(change) <= 0;
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

  /** Whether the policy or the whole cluster is over its bound when all transitions are done. */
  public boolean isAnyExceededAtEnd() {
    return isExceededAtEnd() || cluster != null && cluster.isExceededAtEnd();
  }

  /** How many bytes of room a change lacks now; 0 or less if it fits. */
  public double lackingNow(Change change) {
    return Math.max(0, roomTakenBy(change)) - roomNow;
  }

  /** How many bytes of room a change lacks at the end; negative if there is more than enough. */
  public double lackingAtEnd(Change change) {
    double lacking = roomTakenBy(change) - roomAtEnd();
    return cluster == null ? lacking : Math.max(lacking, cluster.lackingAtEnd(change));
  }

  /** Stored bytes per live byte once all transitions are done; 0 if nothing is encoded. */
  public double overheadAtEnd() {
    return live == 0 ? 0 : stored / live;
  }

  /** "1.50x", or "none", and the bound of the cluster if there is one. */
  public String show() {
    String own =
        bound.isPresent() ? String.format(Locale.ROOT, "%.2fx", bound.getAsDouble()) : "none";
    return cluster == null || cluster.bound.isEmpty()
        ? own
        : "%s (of the cluster: %s)".formatted(own, cluster.show());
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
