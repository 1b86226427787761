package io.ebbfs.raid.executor;

import java.util.function.LongSupplier;

/**
 * Limits the bytes that background work moves in a second, by a token bucket that holds the tokens
 * of one second. A larger request runs at once and leaves a debt; the next request waits until the
 * debt is paid. Thread-safe.
 */
public final class Throttle {
  /** Lets time pass: a process sleeps, a simulation moves its clock. */
  public interface Pause {
    /** Returns after this time. */
    void millis(long millis) throws InterruptedException;
  }

  private static final double NANOS_PER_SECOND = 1e9;

  private final double bytesPerSecond;
  private final LongSupplier nanoTime;
  private final Pause pause;
  private double tokens;
  private long last;

  /** A throttle; 0 bytes per second is no limit. */
  public Throttle(long bytesPerSecond, LongSupplier nanoTime, Pause pause) {
    this.bytesPerSecond = bytesPerSecond;
    this.nanoTime = nanoTime;
    this.pause = pause;
    this.tokens = bytesPerSecond;
    this.last = nanoTime.getAsLong();
  }

  /** Waits until these bytes may be moved. */
  public void acquire(long bytes) throws InterruptedException {
    if (bytesPerSecond > 0) {
      long millis = reserve(bytes);
      if (millis > 0) {
        pause.millis(millis);
      }
    }
  }

  private synchronized long reserve(long bytes) {
    long now = nanoTime.getAsLong();
    tokens = Math.min(bytesPerSecond, tokens + (now - last) / NANOS_PER_SECOND * bytesPerSecond);
    last = now;
    // Without a debt a request runs at once. Its own debt delays the next request.
    long wait = tokens >= 0 ? 0 : (long) Math.ceil(-tokens / bytesPerSecond * 1000);
    tokens -= bytes;
    return wait;
  }
}
