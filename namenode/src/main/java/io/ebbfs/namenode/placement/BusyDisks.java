package io.ebbfs.namenode.placement;

import java.util.Arrays;

/**
 * Tells which disks have many more calls queued than the others, so that new blocks go elsewhere as
 * long as there are others. Pure and immutable.
 */
public final class BusyDisks {
  /** A disk with this many times the mean is busy. */
  private static final int MANY_TIMES = 4;

  /** So many queued calls are no load: one copy or one reader keeps about one call queued. */
  private static final double FLOOR = 4;

  private final double limit;

  /**
   * @param queuedCalls of each disk in service; below 0 if the server of the disk does not tell:
   *     such a disk does not lower the mean, and is not busy
   */
  public BusyDisks(double[] queuedCalls) {
    double mean = Arrays.stream(queuedCalls).filter(calls -> calls >= 0).average().orElse(0);
    this.limit = Math.max(FLOOR, MANY_TIMES * mean);
  }

  /** Whether a disk has at least four times the mean, and more than a few queued calls. */
  public boolean isBusy(double queuedCalls) {
    return queuedCalls > FLOOR && queuedCalls >= limit;
  }
}
