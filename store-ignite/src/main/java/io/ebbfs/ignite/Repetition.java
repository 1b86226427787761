package io.ebbfs.ignite;

import java.io.IOException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Work that runs again, with pauses that grow, until a limit of time. Used by one thread. */
final class Repetition {
  private static final long FIRST_PAUSE_NANOS = 200_000;
  private static final long LONGEST_PAUSE_NANOS = 50_000_000;

  private final long limitMillis;
  private final long deadline;
  private long pause = FIRST_PAUSE_NANOS;

  Repetition(long limitMillis) {
    this.limitMillis = limitMillis;
    this.deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limitMillis);
  }

  /**
   * Pauses before the next run.
   *
   * @throws IOException if the time is over
   */
  void pause(RuntimeException failure) throws IOException {
    if (System.nanoTime() > deadline || Thread.currentThread().isInterrupted()) {
      throw new IOException(
          "gave up after %d ms, because other namenodes change the same rows or nodes of the metadata store are missing (%s); try again"
              .formatted(limitMillis, failure.getMessage()),
          failure);
    }
    LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(pause) + 1);
    pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS);
  }
}
