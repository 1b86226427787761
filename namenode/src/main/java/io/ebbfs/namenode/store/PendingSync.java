package io.ebbfs.namenode.store;

import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * The commits of one call that are not on the disk yet. Between {@link #begin} and {@link #end},
 * transactions of this thread do not wait for the disk. The caller sends its answer from {@link
 * #whenSynced}.
 *
 * <p>What cannot be undone must not be done before the disk has the commits: such work runs {@link
 * #outside}, or after {@link MetadataStore#sync}, which always waits.
 *
 * <p>Used by one thread at a time. If a call moves to another thread, it takes its PendingSync
 * along and calls {@link #resume} there.
 */
public final class PendingSync {
  private static final ThreadLocal<PendingSync> CURRENT = new ThreadLocal<>();

  private WalSync log;
  private long position;

  private PendingSync() {}

  /** Work that waits for the disk itself. */
  @FunctionalInterface
  public interface Work<R> {
    R run() throws IOException;
  }

  /**
   * From now on, transactions of this thread do not wait for the disk.
   *
   * @throws IllegalStateException if an earlier scope of this thread has not ended
   */
  public static PendingSync begin() {
    PendingSync scope = new PendingSync();
    scope.resume();
    return scope;
  }

  /**
   * Goes on after {@link #end}, perhaps on another thread.
   *
   * @throws IllegalStateException if an earlier scope of this thread has not ended
   */
  public void resume() {
    if (CURRENT.get() != null) {
      throw new IllegalStateException("an earlier call of this thread has not ended its scope");
    }
    CURRENT.set(this);
  }

  /** From now on, transactions of this thread wait for the disk. */
  public void end() {
    if (CURRENT.get() == this) {
      CURRENT.remove();
    }
  }

  /** Runs work whose commits are on the disk when it returns, within a scope too. */
  public static <R> R outside(Work<R> work) throws IOException {
    PendingSync scope = CURRENT.get();
    if (scope == null) {
      return work.run();
    }
    CURRENT.remove();
    try {
      return work.run();
    } finally {
      CURRENT.set(scope);
    }
  }

  /** Whether all commits of the call are on the disk, or the call made none. */
  public boolean isSynced() {
    return log == null || log.isSynced(position);
  }

  /**
   * Calls back once all commits of the call are on the disk: at once if they are, or else from the
   * thread that syncs. The callback must be short and must not throw. To be called after {@link
   * #end}.
   *
   * @param turnEnd runs a task once the calls that came together with this one have made their
   *     commits; these commits then share a sync
   * @param callback hears null, or why the sync failed
   */
  public void whenSynced(Executor turnEnd, Consumer<IOException> callback) {
    if (log == null) {
      callback.accept(null);
    } else {
      log.whenSynced(position, turnEnd, callback);
    }
  }

  /** Waits for the disk, or leaves it to the scope of this thread. */
  static void awaitOrDefer(WalSync log, long position) throws IOException {
    PendingSync scope = CURRENT.get();
    if (scope == null || scope.log != null && scope.log != log) {
      log.await(position); // a call that uses a second store waits for that one
    } else {
      scope.log = log;
      scope.position = Math.max(scope.position, position);
    }
  }
}
