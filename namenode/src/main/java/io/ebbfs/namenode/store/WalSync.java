package io.ebbfs.namenode.store;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Syncs the write-ahead log for all commits at once (group commit). A writer writes to the log,
 * takes a position with {@link #written}, and waits for that position or is called back. One thread
 * syncs: all records that were written before a sync began share it. Thread-safe.
 *
 * <p>After a failed sync the state of the disk is unknown, so every later call fails too.
 */
final class WalSync implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(WalSync.class);

  /** The sync itself. */
  @FunctionalInterface
  interface Sync {
    void run() throws IOException;
  }

  /** With so many callbacks, a sync no longer waits for more commits. */
  private static final int MANY = 32;

  private record Waiting(long position, Consumer<IOException> callback) {}

  private final Sync sync;
  private final Consumer<IOException> onFailure;
  private final Thread thread;
  private final AtomicLong written = new AtomicLong();

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition work = lock.newCondition();
  private final Condition progress = lock.newCondition();
  private List<Waiting> waiting = new ArrayList<>();
  private long wanted;
  private boolean willAsk;
  private boolean closing;
  // Written under the lock.
  private volatile long synced;
  private volatile IOException failure;

  /**
   * @param onFailure hears of the first failed sync, after all that wait for it
   */
  WalSync(Sync sync, Consumer<IOException> onFailure) {
    this.sync = sync;
    this.onFailure = onFailure;
    this.thread = new Thread(this::syncUntilClosed, "metadata-sync");
    thread.setDaemon(true);
    thread.start();
  }

  /** Notes that a record was written to the log. Returns the position to wait for. */
  long written() {
    return written.incrementAndGet();
  }

  /** The position of the latest record. */
  long position() {
    return written.get();
  }

  boolean isSynced(long position) {
    return synced >= position;
  }

  /** Returns once the log is on the disk up to a position. */
  void await(long position) throws IOException {
    if (isSynced(position)) {
      return;
    }
    lock.lock();
    try {
      want(position);
      while (!isSynced(position)) {
        throwIfFailed();
        progress.await();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while waiting for a sync of the metadata log", e);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Calls back once the log is on the disk up to a position; see {@link PendingSync}. A sync begins
   * when the task that {@code turnEnd} gets is run, or when {@link #MANY} callbacks wait. So the
   * commits of calls that came together share a sync.
   */
  void whenSynced(long position, Executor turnEnd, Consumer<IOException> callback) {
    if (!waitsFor(position, callback)) {
      callback.accept(isSynced(position) ? null : failed());
    } else if (mustAsk(position)) {
      try {
        turnEnd.execute(this::askForAll);
      } catch (RejectedExecutionException e) { // the turn ends with its executor
        askForAll();
      }
    }
  }

  private boolean waitsFor(long position, Consumer<IOException> callback) {
    if (isSynced(position)) {
      return false;
    }
    lock.lock();
    try {
      if (isSynced(position) || failure != null) {
        return false;
      }
      waiting.add(new Waiting(position, callback));
      if (waiting.size() >= MANY) {
        want(position);
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Whether nobody has asked, or will ask, for a sync of this position. */
  private boolean mustAsk(long position) {
    lock.lock();
    try {
      if (position <= wanted || willAsk) {
        return false;
      }
      willAsk = true;
      return true;
    } finally {
      lock.unlock();
    }
  }

  private void askForAll() {
    lock.lock();
    try {
      willAsk = false;
      want(position());
    } finally {
      lock.unlock();
    }
  }

  private void want(long position) {
    if (position > wanted) {
      wanted = position;
      work.signal();
    }
  }

  private void syncUntilClosed() {
    try {
      while (awaitWork()) {
        long upTo = written.get();
        sync.run();
        complete(upTo, null);
      }
    } catch (Throwable e) { // without this thread, no commit would ever be acknowledged
      IOException why =
          e instanceof IOException io
              ? io
              : new IOException("the sync of the log was cut short: " + e, e);
      complete(synced, why);
      onFailure.accept(why);
    }
  }

  private boolean awaitWork() {
    lock.lock();
    try {
      while (wanted <= synced) {
        if (closing) {
          return false;
        }
        work.awaitUninterruptibly();
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  private void complete(long upTo, IOException failed) {
    List<Waiting> due = new ArrayList<>();
    lock.lock();
    try {
      List<Waiting> later = new ArrayList<>();
      if (failed == null) {
        synced = upTo;
      } else {
        failure = failed;
      }
      for (Waiting one : waiting) {
        (failed != null || one.position() <= upTo ? due : later).add(one);
      }
      waiting = later;
      progress.signalAll();
    } finally {
      lock.unlock();
    }
    IOException told = failed == null ? null : failed();
    due.forEach(one -> call(one.callback(), told));
  }

  private static void call(Consumer<IOException> callback, IOException failed) {
    try {
      callback.accept(failed);
    } catch (RuntimeException | Error e) {
      LOG.error("A call could not be answered after its commit was synced", e);
    }
  }

  /** Fails if an earlier sync has failed. */
  void throwIfFailed() throws IOException {
    if (failure != null) {
      throw failed();
    }
  }

  private IOException failed() {
    IOException cause = failure;
    return new IOException(
        "an earlier sync of the metadata log failed, so the namenode writes nothing more;"
            + " check the disk and restart the namenode: "
            + cause.getMessage(),
        cause);
  }

  /** Syncs what was written, answers all that wait, and ends the thread. */
  @Override
  public void close() throws IOException {
    try {
      if (failure == null) {
        await(position());
      }
    } finally {
      lock.lock();
      try {
        closing = true;
        work.signal();
      } finally {
        lock.unlock();
      }
      joinQuietly();
    }
  }

  private void joinQuietly() throws IOException {
    if (Thread.currentThread() == thread) {
      return; // the handler of a failed sync closes the store
    }
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while the metadata log was closed", e);
    }
  }
}
