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
 * once.
 *
 * <p>Of the changes that come when a time is due, one writes it: the first one. The others would
 * wait for the lock of the row, one behind the other, and each would write it again.
 *
 * <p>Thread-safe. A change is made by one thread.
 */
public final class DirectoryTimes {
  private static final long MERGE_NANOS = TimeUnit.SECONDS.toNanos(1);
  // A commit takes no longer; see the patience of the store's clients.
  private static final long WRITE_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final int MOST = 100_000;

  private final Map<Long, State> states = new ConcurrentHashMap<>();
  private final LongSupplier nanoClock;

  /**
   * What is known of a directory.
   *
   * @param writtenNanos when this process wrote the time last
   * @param pending the time that is yet to be written, or null
   * @param writer the thread whose change is about to write the time, or null
   * @param begunNanos since when
   */
  private record State(long writtenNanos, Pending pending, Thread writer, long begunNanos) {
    static State written(long nanos, Pending pending) {
      return new State(nanos, pending, null, 0);
    }

    State with(Pending time) {
      Thread still = writer == Thread.currentThread() ? null : writer;
      Pending latest = pending == null ? time : pending.latest(time);
      return new State(writtenNanos, latest, still, begunNanos);
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

  private boolean isBeingWritten(State state) {
    return state.writer() != null && nanoClock.getAsLong() - state.begunNanos() < WRITE_NANOS;
  }

  /**
   * Whether the change of the calling thread writes the time of a directory: nobody of this process
   * has written it within the last second, or is about to. A thread whose change failed, and that
   * does not repeat it, holds the others off for 10 s: their times are written later meanwhile.
   */
  public boolean writesNow(long directoryId) {
    if (isMerged(directoryId)) {
      return false;
    }
    Thread self = Thread.currentThread();
    State state =
        states.compute(
            directoryId,
            (id, before) -> {
              if (before == null && states.size() >= MOST
                  || before != null && (isFresh(before) || isBeingWritten(before))) {
                return before;
              }
              long now = nanoClock.getAsLong();
              return before == null
                  ? new State(now - MERGE_NANOS, null, self, now)
                  : new State(before.writtenNanos(), before.pending(), self, now);
            });
    return state == null || state.writer() == self;
  }

  /** Notes that a change has written a time of a directory. A later time stays to be written. */
  public void noteWritten(long directoryId, Pending written) {
    if (states.size() < MOST || states.containsKey(directoryId)) {
      states.compute(
          directoryId,
          (id, state) -> {
            Pending pending = state == null ? null : state.pending();
            boolean isLater = pending != null && pending.latest(written) != written;
            return State.written(nanoClock.getAsLong(), isLater ? pending : null);
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
        (id, state) ->
            state == null ? State.written(nanoClock.getAsLong(), time) : state.with(time));
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
          } else if (!isBeingWritten(state)) {
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
            State.written(
                nanoClock.getAsLong(), time.equals(state.pending()) ? null : state.pending()));
  }
}
