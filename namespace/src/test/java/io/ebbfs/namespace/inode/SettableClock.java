package io.ebbfs.namespace.inode;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.concurrent.atomic.AtomicLong;

/** A clock that stands still until it is told otherwise. Thread-safe. */
final class SettableClock extends Clock {
  private final AtomicLong millis = new AtomicLong(1_800_000_000_000L);

  void advance(long by) {
    millis.addAndGet(by);
  }

  @Override
  public long millis() {
    return millis.get();
  }

  @Override
  public Instant instant() {
    return Instant.ofEpochMilli(millis());
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
