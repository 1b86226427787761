package io.ebbfs.namespace.simulation;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;

/** Time that passes when it is told to. */
final class SimClock extends Clock {
  private long nowMillis = 1_700_000_000_000L;

  void advance(long millis) {
    nowMillis += millis;
  }

  @Override
  public long millis() {
    return nowMillis;
  }

  @Override
  public Instant instant() {
    return Instant.ofEpochMilli(nowMillis);
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
