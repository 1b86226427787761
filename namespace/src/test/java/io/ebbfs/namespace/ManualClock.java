package io.ebbfs.namespace;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;

/** A clock that stands still until it is told otherwise. Read by any thread, advanced by one. */
public final class ManualClock extends Clock {
  private volatile long millis;

  public ManualClock() {
    this(1_700_000_000_000L);
  }

  public ManualClock(long startMillis) {
    millis = startMillis;
  }

  public void advance(long byMillis) {
    millis = millis + byMillis;
  }

  @Override
  public long millis() {
    return millis;
  }

  @Override
  public Instant instant() {
    return Instant.ofEpochMilli(millis);
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
