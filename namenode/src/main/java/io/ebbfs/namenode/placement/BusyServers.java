package io.ebbfs.namenode.placement;

import java.util.Arrays;

/**
 * Tells which servers are much busier than the others, so that new blocks go elsewhere as long as
 * there are others (QFS: chunk servers with too much load). Pure and immutable.
 */
public final class BusyServers {
  /** A server with this many times the mean is busy. */
  private static final int MANY_TIMES = 4;

  /** So many transfers are no load, whatever the mean is: an idle cluster has no busy server. */
  private static final int FLOOR = 16;

  /** The share of a disk that may be used before the disk counts as full. */
  private static final double FULL = 0.95;

  private final int[] transfers;
  private final double limit;

  /**
   * @param transfers of each server that are under way
   */
  public BusyServers(int[] transfers) {
    this.transfers = transfers.clone();
    double mean = Arrays.stream(transfers).average().orElse(0);
    this.limit = Math.max(FLOOR, MANY_TIMES * mean);
  }

  /** Whether a server has at least four times the mean of all, and more than a few transfers. */
  public boolean isBusy(int server) {
    return transfers[server] > FLOOR && transfers[server] >= limit;
  }

  /** Whether at least 95% of a disk are used. A disk of unknown capacity is not full. */
  public static boolean isFull(long capacityBytes, long remainingBytes) {
    return capacityBytes > 0 && remainingBytes <= capacityBytes * (1 - FULL);
  }
}
