package io.ebbfs.raid;

import java.util.function.LongSupplier;

/**
 * A token bucket over the bytes that background work moves. It holds one second's worth; what is
 * larger than that goes into debt, which those who come later wait for. Thread-safe.
 */
public final class Throttle {
  /** Passes time: the real thing sleeps, a simulation moves its clock. */
  public interface Pause {
    /** Returns after so many milliseconds. */
    void millis(long millis) throws InterruptedException;
  }

  private static final double NANOS_PER_SECOND = 1e9;

  private final double bytesPerSecond;
  private final LongSupplier nanoTime;
  private final Pause pause;
  private double tokens;
  private long last;

  /** A throttle; 0 bytes per second stands for no limit. */
  public Throttle(long bytesPerSecond, LongSupplier nanoTime, Pause pause) {
    this.bytesPerSecond = bytesPerSecond;
    this.nanoTime = nanoTime;
    this.pause = pause;
    this.tokens = bytesPerSecond;
    this.last = nanoTime.getAsLong();
  }

  /** Returns when so many bytes may be moved. */
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
    // Whoever comes while there is no debt goes at once; the debt it makes delays the next.
    long wait = tokens >= 0 ? 0 : (long) Math.ceil(-tokens / bytesPerSecond * 1000);
    tokens -= bytes;
    return wait;
  }
}
