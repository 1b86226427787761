package io.ebbfs.namespace.store;

import java.io.IOException;

/**
 * Shares syncs of a log between the threads that wait for one. A caller has written to the log
 * before it calls {@link #await}; one of the waiting callers syncs for all that came before it.
 * Thread-safe.
 *
 * <p>After a failed sync nobody knows what is on the disk, so every later call fails too.
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

  /** Returns when everything that was written to the log before this call is on the disk. */
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
          "an earlier sync of the metadata log failed, so nothing more is written;"
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
