package io.ebbfs.namenode.store;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;

/**
 * Lets users in until it is closed; {@link #close} returns once the last of them has left. Each
 * thread counts in a cell of its own, so that users on many cores do not contend. Thread-safe.
 */
final class UseGate {
  private static final int CELLS = 32;
  private static final int CACHE_LINE = 16;
  private static final long POLL_NANOS = 100_000;

  private final AtomicIntegerArray users = new AtomicIntegerArray(CELLS * CACHE_LINE);
  private volatile boolean closed;

  /** Must be followed by {@link #leave} on the same thread. */
  void enter() throws IOException {
    users.incrementAndGet(cell());
    if (closed) {
      leave();
      throw new IOException("the metadata store is closed: the namenode is shutting down");
    }
  }

  void leave() {
    users.decrementAndGet(cell());
  }

  private static int cell() {
    return (int) (Thread.currentThread().getId() & (CELLS - 1)) * CACHE_LINE;
  }

  /** Returns false if the gate was closed before. */
  synchronized boolean close() {
    if (closed) {
      return false;
    }
    closed = true;
    for (int cell = 0; cell < CELLS; cell++) {
      while (users.get(cell * CACHE_LINE) != 0) {
        LockSupport.parkNanos(POLL_NANOS);
      }
    }
    return true;
  }
}
