package io.ebbfs.namenode.datanodes;

/**
 * Times and limits for the life of datanodes and the redundancy of blocks.
 *
 * @param deadAfterMillis a server without a heartbeat for this long is dead
 * @param staleAfterMillis a server without a heartbeat for this long is stale: it is used last, and
 *     another server may register with its uuid
 * @param graceMillis safe mode lasts this long after the first registration, or until every known
 *     disk has reported
 * @param transferTimeoutMillis a replication that has not arrived after this long is ordered again
 *     between other servers
 * @param transfersPerServer replications that one server sends at a time
 * @param invalidationsPerHeartbeat deletions in one answer to a heartbeat
 * @param reportTravelMillis the longest time between the making of a full block report and its
 *     arrival: a replica that was added during this time is not concluded missing
 * @param scanIntervalMillis from the start of one full scan of all blocks to the start of the next
 * @param blocksPerTick blocks that each job of one tick looks at
 * @param queueLimit blocks in each queue; the full scan finds the blocks that did not fit
 * @param orphanWaitMillis a replica of an unknown block is deleted after this long, counted from
 *     its first report and from the start of this process
 * @param safeModeThreshold the share of the blocks that must be readable before safe mode ends
 *     while known disks have not reported, 0 to 1
 * @param repairDelayMillis after a disk or server was lost, re-replication waits this long for its
 *     return, unless the next failure would lose the block
 * @param copyRate bytes per second of re-replication
 * @param enoughReplicas a server may leave once a block has so many replicas elsewhere, though more
 *     are wanted and no server can take them (HDFS: dfs.replication)
 */
public record RedundancySettings(
    long deadAfterMillis,
    long staleAfterMillis,
    long graceMillis,
    long transferTimeoutMillis,
    int transfersPerServer,
    int invalidationsPerHeartbeat,
    long reportTravelMillis,
    long scanIntervalMillis,
    int blocksPerTick,
    int queueLimit,
    long orphanWaitMillis,
    double safeModeThreshold,
    long repairDelayMillis,
    ByteRate copyRate,
    int enoughReplicas) {

  // Three missing heartbeats of a chunk server that sends one every second.
  private static final long LEAST_STALE_MILLIS = 3_000;
  private static final long MOST_STALE_MILLIS = 30_000;
  private static final long TRANSFER_TIMEOUT_MILLIS = 15_000;
  private static final int TRANSFERS_PER_SERVER = 8;
  private static final int INVALIDATIONS_PER_HEARTBEAT = 1_000;
  private static final long REPORT_TRAVEL_MILLIS = 5_000;
  private static final long SCAN_INTERVAL_MILLIS = 4_000;
  private static final int BLOCKS_PER_TICK = 2_000;
  private static final int QUEUE_LIMIT = 200_000;
  private static final double SAFE_MODE_THRESHOLD = 0.999;
  private static final int ENOUGH_REPLICAS = 3;

  public RedundancySettings {
    positive("deadAfterMillis", deadAfterMillis);
    positive("staleAfterMillis", staleAfterMillis);
    positive("transferTimeoutMillis", transferTimeoutMillis);
    positive("transfersPerServer", transfersPerServer);
    positive("invalidationsPerHeartbeat", invalidationsPerHeartbeat);
    positive("scanIntervalMillis", scanIntervalMillis);
    positive("blocksPerTick", blocksPerTick);
    positive("queueLimit", queueLimit);
    positive("enoughReplicas", enoughReplicas);
    if (graceMillis < 0
        || reportTravelMillis < 0
        || orphanWaitMillis < 0
        || repairDelayMillis < 0) {
      throw new IllegalArgumentException(
          "graceMillis is %d, reportTravelMillis is %d, orphanWaitMillis is %d, repairDelayMillis is %d: give 0 or more"
              .formatted(graceMillis, reportTravelMillis, orphanWaitMillis, repairDelayMillis));
    }
  }

  /** Settings with which neither replicas of unknown blocks nor re-replication wait. */
  public RedundancySettings(
      long deadAfterMillis,
      long staleAfterMillis,
      long graceMillis,
      long transferTimeoutMillis,
      int transfersPerServer,
      int invalidationsPerHeartbeat,
      long reportTravelMillis,
      long scanIntervalMillis,
      int blocksPerTick,
      int queueLimit) {
    this(
        deadAfterMillis,
        staleAfterMillis,
        graceMillis,
        transferTimeoutMillis,
        transfersPerServer,
        invalidationsPerHeartbeat,
        reportTravelMillis,
        scanIntervalMillis,
        blocksPerTick,
        queueLimit,
        0,
        SAFE_MODE_THRESHOLD,
        0,
        ByteRate.UNLIMITED,
        ENOUGH_REPLICAS);
  }

  /** The same with another wait for replicas of unknown blocks. */
  public RedundancySettings withOrphanWait(long millis) {
    return copy(millis, safeModeThreshold, repairDelayMillis, copyRate, enoughReplicas);
  }

  /** The same with another share of blocks that must be readable before safe mode ends. */
  public RedundancySettings withSafeModeThreshold(double share) {
    return copy(orphanWaitMillis, share, repairDelayMillis, copyRate, enoughReplicas);
  }

  /** The same with another wait before re-replication begins. */
  public RedundancySettings withRepairDelay(long millis) {
    return copy(orphanWaitMillis, safeModeThreshold, millis, copyRate, enoughReplicas);
  }

  /** The same with another limit of the bytes per second of re-replication. */
  public RedundancySettings withCopyRate(ByteRate rate) {
    return copy(orphanWaitMillis, safeModeThreshold, repairDelayMillis, rate, enoughReplicas);
  }

  /** The same with another number of replicas that suffice elsewhere when a server leaves. */
  public RedundancySettings withEnoughReplicas(int replicas) {
    return copy(orphanWaitMillis, safeModeThreshold, repairDelayMillis, copyRate, replicas);
  }

  private RedundancySettings copy(
      long newOrphanWaitMillis,
      double newSafeModeThreshold,
      long newRepairDelayMillis,
      ByteRate newCopyRate,
      int newEnoughReplicas) {
    return new RedundancySettings(
        deadAfterMillis,
        staleAfterMillis,
        graceMillis,
        transferTimeoutMillis,
        transfersPerServer,
        invalidationsPerHeartbeat,
        reportTravelMillis,
        scanIntervalMillis,
        blocksPerTick,
        queueLimit,
        newOrphanWaitMillis,
        newSafeModeThreshold,
        newRepairDelayMillis,
        newCopyRate,
        newEnoughReplicas);
  }

  /** A server is stale after a third of the time after which it is dead, within limits. */
  private static long staleAfter(long deadAfterMillis) {
    long third = Math.max(LEAST_STALE_MILLIS, Math.min(deadAfterMillis / 3, MOST_STALE_MILLIS));
    return Math.min(deadAfterMillis, third);
  }

  /**
   * The times that an operator sets, with this class's own values for everything else. Replicas of
   * unknown blocks and re-replication do not wait; see {@link #withOrphanWait} and {@link
   * #withRepairDelay}.
   */
  public static RedundancySettings of(long deadAfterMillis, long graceMillis) {
    return new RedundancySettings(
        deadAfterMillis,
        staleAfter(deadAfterMillis),
        graceMillis,
        TRANSFER_TIMEOUT_MILLIS,
        TRANSFERS_PER_SERVER,
        INVALIDATIONS_PER_HEARTBEAT,
        REPORT_TRAVEL_MILLIS,
        SCAN_INTERVAL_MILLIS,
        BLOCKS_PER_TICK,
        QUEUE_LIMIT);
  }

  private static void positive(String name, long value) {
    if (value <= 0) {
      throw new IllegalArgumentException("%s is %d: give a number above 0".formatted(name, value));
    }
  }
}
