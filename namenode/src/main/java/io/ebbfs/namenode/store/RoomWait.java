package io.ebbfs.namenode.store;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.Semaphore;

/**
 * The wait of one call for room in a quota that deleted trees still take. A call that waits holds a
 * thread, and heartbeats need threads of the same pool. So only a few calls of a process wait at
 * once; a further call is refused without a wait. Used by one thread.
 */
final class RoomWait implements AutoCloseable {
  /** So many calls of this process wait at once. */
  static final int MOST_WAITING = 4;

  private static final long MOST_MILLIS = 5_000;
  private static final long LOOK_MILLIS = 50;
  private static final Semaphore PERMITS = new Semaphore(MOST_WAITING);

  private boolean waits;
  private long waitedMillis;

  /**
   * Waits until it is time to look for room again.
   *
   * @throws IOException what the client hears, if the call has waited long enough, or if as many
   *     calls wait as may
   */
  void await(DeletionsPendingException refused) throws IOException {
    if (waitedMillis >= MOST_MILLIS) {
      throw refused.exceeded();
    }
    NonBlocking.beforeWait();
    if (!waits && !PERMITS.tryAcquire()) {
      throw refused.exceeded();
    }
    waits = true;
    sleep();
    waitedMillis += LOOK_MILLIS;
  }

  /** How many calls of this process wait now. */
  static int waiting() {
    return MOST_WAITING - PERMITS.availablePermits();
  }

  private static void sleep() throws InterruptedIOException {
    try {
      Thread.sleep(LOOK_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while it waited for room in a quota");
    }
  }

  @Override
  public void close() {
    if (waits) {
      PERMITS.release();
    }
  }
}
