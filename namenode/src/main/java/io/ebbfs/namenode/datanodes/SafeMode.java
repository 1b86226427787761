package io.ebbfs.namenode.datanodes;

import java.time.Clock;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides when the safe mode after a start ends: once every known disk has reported its blocks or
 * failed. Otherwise it ends when so many blocks as configured are readable on the disks that have
 * reported, and the grace time is over. The grace time begins with the first registration, because
 * no server can report before it registers. An operator may enter and leave safe mode at any time.
 * Thread-safe.
 */
final class SafeMode {
  private static final Logger LOG = LoggerFactory.getLogger(SafeMode.class);
  private static final long NEVER = Long.MIN_VALUE;

  private final Clock clock;
  private final long graceMillis;
  private final AtomicLong firstRegisteredMillis = new AtomicLong(NEVER);
  private final Set<String> awaitedDisks = ConcurrentHashMap.newKeySet();
  private volatile boolean blocksReadable;
  private volatile boolean starting = true;
  private volatile boolean entered;

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

  /** Enough blocks are readable on the disks that have reported. */
  void blocksAreReadable() {
    blocksReadable = true;
  }

  /** An operator enters safe mode; it lasts until {@link #leave}. */
  void enter() {
    entered = true;
    LOG.warn("safe mode was entered by an operator; it lasts until the operator leaves it");
  }

  /** An operator leaves safe mode, whatever has reported. */
  void leave() {
    LOG.warn("safe mode was left by an operator; {} known disks have not reported", waiting());
    entered = false;
    starting = false;
  }

  /** Takes over the safe mode of another namenode. */
  void follow(boolean awaitsServers) {
    starting = awaitsServers;
    if (!awaitsServers) {
      awaitedDisks.clear();
    }
  }

  /** True if an operator entered safe mode: then files are not changed either. */
  boolean isEntered() {
    return entered;
  }

  private int waiting() {
    return awaitedDisks.size();
  }

  boolean isOn() {
    if (starting && (awaitedDisks.isEmpty() || (blocksReadable && graceIsOver()))) {
      starting = false;
      LOG.info("safe mode of the start is over; {} known disks have not reported", waiting());
    }
    return starting || entered;
  }

  private boolean graceIsOver() {
    long first = firstRegisteredMillis.get();
    return first != NEVER && clock.millis() - first >= graceMillis;
  }
}
