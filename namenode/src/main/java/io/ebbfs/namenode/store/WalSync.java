package io.ebbfs.namenode.store;

import java.io.IOException;

/**
 * Shares syncs of the write-ahead log between threads (group commit). A caller writes to the log
 * and then calls {@link #await}. One of the waiting callers syncs the log for all callers that came
 * before. Thread-safe.
 *
 * <p>After a failed sync the state of the disk is unknown, so every later call fails too.
 */
final class WalSync {
  /** The sync itself. */
  @FunctionalInterface
  interface Sync {
    void run() throws IOException;
  }

  private final Sync sync;
  private long requested;
  private long done;
  private boolean running;
  private IOException failure;

  WalSync(Sync sync) {
    this.sync = sync;
  }

  /** Returns once all records that were written before this call are on the disk. */
  void await() throws IOException {
    long upTo;
    synchronized (this) {
      long mine = ++requested;
      while (running && done < mine && failure == null) {
        waitQuietly();
      }
      throwIfFailed();
      if (done >= mine) {
        return;
      }
      running = true;
      upTo = requested;
    }
    lead(upTo);
  }

  private void lead(long upTo) throws IOException {
    IOException thrown = new IOException("the sync of the log was cut short");
    try {
      sync.run();
      thrown = null;
    } catch (IOException e) {
      thrown = e;
      throw e;
    } finally {
      synchronized (this) {
        running = false;
        failure = thrown;
        if (thrown == null) {
          done = upTo;
        }
        notifyAll();
      }
    }
  }

  /** Fails if an earlier sync has failed. */
  synchronized void throwIfFailed() throws IOException {
    if (failure != null) {
      throw new IOException(
          "an earlier sync of the metadata log failed, so the namenode writes nothing more;"
              + " check the disk and restart the namenode: "
              + failure.getMessage(),
          failure);
    }
  }

  private void waitQuietly() throws IOException {
    try {
      wait();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while waiting for a sync of the metadata log", e);
    }
  }
}
