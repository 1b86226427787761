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
  private static final long NONE = Long.MIN_VALUE;

  private final Map<Long, State> states = new ConcurrentHashMap<>();
  private final LongSupplier nanoClock;

  /**
   * What is known of a directory.
   *
   * @param writtenNanos when this process wrote the time last
   * @param pendingMillis the time that is yet to be written, or NONE
   */
  private record State(long writtenNanos, long pendingMillis) {}

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

  /** Notes that a change writes the time of a directory. */
  public void noteWritten(long directoryId) {
    if (states.size() < MOST || states.containsKey(directoryId)) {
      states.put(directoryId, new State(nanoClock.getAsLong(), NONE));
    }
  }

  /** Notes a time that is to be written later. */
  public void noteLater(long directoryId, long millis) {
    states.compute(
        directoryId,
        (id, state) ->
            state == null
                ? new State(nanoClock.getAsLong(), millis)
                : new State(state.writtenNanos(), Math.max(state.pendingMillis(), millis)));
  }

  /** Somebody sets the time of a directory to another value: what was noted does not count. */
  public void forget(long directoryId) {
    states.remove(directoryId);
  }

  /** The times that are to be written now, by the ids of the directories. */
  public Map<Long, Long> due() {
    return pending(false);
  }

  /** All times that are yet to be written. */
  public Map<Long, Long> all() {
    return pending(true);
  }

  private Map<Long, Long> pending(boolean fresh) {
    Map<Long, Long> found = new HashMap<>();
    states.forEach(
        (id, state) -> {
          if (!fresh && isFresh(state)) {
            return;
          }
          if (state.pendingMillis() != NONE) {
            found.put(id, state.pendingMillis());
          } else {
            states.remove(id, state);
          }
        });
    return found;
  }

  /** Whether a time is still to be written. */
  public boolean isPending(long directoryId, long millis) {
    State state = states.get(directoryId);
    return state != null && state.pendingMillis() == millis;
  }

  /** Notes that a pending time was written, or need not be written any more. */
  public void settle(long directoryId, long millis) {
    states.computeIfPresent(
        directoryId,
        (id, state) ->
            new State(
                nanoClock.getAsLong(),
                state.pendingMillis() == millis ? NONE : state.pendingMillis()));
  }
}
