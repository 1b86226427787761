package io.ebbfs.namenode.datanodes;

import java.time.Clock;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides when the safe mode after a start ends: once every known disk has reported its blocks or
 * failed, or once the grace time is over. The grace time begins with the first registration,
 * because no server can report before it registers. Thread-safe.
 */
final class SafeMode {
  private static final Logger LOG = LoggerFactory.getLogger(SafeMode.class);
  private static final long NEVER = Long.MIN_VALUE;

  private final Clock clock;
  private final long graceMillis;
  private final AtomicLong firstRegisteredMillis = new AtomicLong(NEVER);
  private final Set<String> awaitedDisks = ConcurrentHashMap.newKeySet();
  private volatile boolean on = true;

  SafeMode(Clock clock, long graceMillis) {
    this.clock = clock;
    this.graceMillis = graceMillis;
  }

  /** A disk is known from before the start: safe mode waits for it. */
  void awaitDisk(String storageUuid) {
    awaitedDisks.add(storageUuid);
  }

  /** A disk has reported its blocks or has failed: safe mode no longer waits for it. */
  void diskSettled(String storageUuid) {
    awaitedDisks.remove(storageUuid);
  }

  void serverRegistered() {
    firstRegisteredMillis.compareAndSet(NEVER, clock.millis());
  }

  boolean isOn() {
    if (on && (awaitedDisks.isEmpty() || graceIsOver())) {
      on = false;
      LOG.info("safe mode is over; {} known disks have not reported", awaitedDisks.size());
    }
    return on;
  }

  private boolean graceIsOver() {
    long first = firstRegisteredMillis.get();
    return first != NEVER && clock.millis() - first >= graceMillis;
  }
}
