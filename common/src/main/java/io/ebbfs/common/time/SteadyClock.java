package io.ebbfs.common.time;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.util.function.LongSupplier;

/**
 * A clock that starts with the time of day and goes on by the monotonic timer of the machine. It
 * never jumps: for leases, heartbeats and other waits, which a change of the time of day must not
 * end or prolong. Its time may differ from the time of day by as much as the latter was changed.
 * Thread-safe.
 */
public final class SteadyClock extends Clock {
  private final Instant start;
  private final ZoneId zone;
  private final LongSupplier nanoTimer;
  private final long startNanos;

  private SteadyClock(Instant start, ZoneId zone, LongSupplier nanoTimer, long startNanos) {
    this.start = start;
    this.zone = zone;
    this.nanoTimer = nanoTimer;
    this.startNanos = startNanos;
  }

  /** A clock that begins with the present time of another one. */
  public static SteadyClock from(Clock timeOfDay) {
    return from(timeOfDay, System::nanoTime);
  }

  static SteadyClock from(Clock timeOfDay, LongSupplier nanoTimer) {
    return new SteadyClock(
        timeOfDay.instant(), timeOfDay.getZone(), nanoTimer, nanoTimer.getAsLong());
  }

  @Override
  public Instant instant() {
    return start.plusNanos(nanoTimer.getAsLong() - startNanos);
  }

  @Override
  public ZoneId getZone() {
    return zone;
  }

  @Override
  public Clock withZone(ZoneId other) {
    return new SteadyClock(start, other, nanoTimer, startNanos);
  }
}
