package io.ebbfs.namenode.store;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Modification times of directories that this process has yet to write. Each change of the entries
 * of a directory sets its time. If each change wrote the row of the directory, all changes in one
 * directory would conflict, whichever processes make them. So a process writes the time with a
 * change at most once per second and directory. It merges the times of all other changes here, and
 * writes the latest one a second later. Bounded: with too many directories, times are written at
 * once. Thread-safe.
 */
public final class DirectoryTimes {
  private static final long MERGE_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final int MOST = 100_000;

  private final Map<Long, State> states = new ConcurrentHashMap<>();
  private final LongSupplier nanoClock;

  /**
   * What is known of a directory.
   *
   * @param writtenNanos when this process wrote the time last
   * @param pending the time that is yet to be written, or null
   */
  private record State(long writtenNanos, Pending pending) {
    State with(Pending time) {
      return new State(writtenNanos, pending == null ? time : pending.latest(time));
    }
  }

  /**
   * A time that is yet to be written.
   *
   * @param timesSet how often clients had set the time of the directory before the change
   */
  public record Pending(long millis, int timesSet) {
    Pending latest(Pending other) {
      boolean isLater =
          timesSet == other.timesSet ? millis > other.millis : timesSet > other.timesSet;
      return isLater ? this : other;
    }
  }

  DirectoryTimes(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  /** Whether this process has written the time of a directory within the last second. */
  public boolean isMerged(long directoryId) {
    State state = states.get(directoryId);
    return state != null && isFresh(state);
  }

  private boolean isFresh(State state) {
    return nanoClock.getAsLong() - state.writtenNanos() < MERGE_NANOS;
  }

  /** Notes that a change has written a time of a directory. A later time stays to be written. */
  public void noteWritten(long directoryId, Pending written) {
    if (states.size() < MOST || states.containsKey(directoryId)) {
      states.compute(
          directoryId,
          (id, state) -> {
            Pending pending = state == null ? null : state.pending();
            boolean isLater = pending != null && pending.latest(written) != written;
            return new State(nanoClock.getAsLong(), isLater ? pending : null);
          });
    }
  }

  /**
   * Notes a time that is to be written later.
   *
   * @param time with the number that the row has which the change has locked
   */
  public void noteLater(long directoryId, Pending time) {
    states.compute(
        directoryId,
        (id, state) -> state == null ? new State(nanoClock.getAsLong(), time) : state.with(time));
  }

  /** The times that are to be written now, by the ids of the directories. */
  public Map<Long, Pending> due() {
    return pending(false);
  }

  /** All times that are yet to be written. */
  public Map<Long, Pending> all() {
    return pending(true);
  }

  private Map<Long, Pending> pending(boolean fresh) {
    Map<Long, Pending> found = new HashMap<>();
    states.forEach(
        (id, state) -> {
          if (!fresh && isFresh(state)) {
            return;
          }
          if (state.pending() != null) {
            found.put(id, state.pending());
          } else {
            states.remove(id, state);
          }
        });
    return found;
  }

  /** Notes that a pending time was written, or need not be written any more. */
  public void settle(long directoryId, Pending time) {
    states.computeIfPresent(
        directoryId,
        (id, state) ->
            new State(
                nanoClock.getAsLong(), time.equals(state.pending()) ? null : state.pending()));
  }
}
