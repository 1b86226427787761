package io.ebbfs.common.time;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.concurrent.atomic.AtomicLong;

/** A clock that stands still until it is told otherwise. Thread-safe. */
public final class ManualClock extends Clock {
  private final AtomicLong millis;

  public ManualClock() {
    this(1_700_000_000_000L);
  }

  public ManualClock(long startMillis) {
    millis = new AtomicLong(startMillis);
  }

  public void advance(long byMillis) {
    millis.addAndGet(byMillis);
  }

  @Override
  public long millis() {
    return millis.get();
  }

  @Override
  public Instant instant() {
    return Instant.ofEpochMilli(millis.get());
  }

  @Override
  public ZoneId getZone() {
    return ZoneOffset.UTC;
  }

  @Override
  public Clock withZone(ZoneId zone) {
    return this;
  }
}
