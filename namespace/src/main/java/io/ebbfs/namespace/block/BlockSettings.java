package io.ebbfs.namespace.block;

/**
 * The limits and times of the block manager.
 *
 * @param deadAfterMillis without a heartbeat for this long, a server counts as dead
 * @param staleAfterMillis without a heartbeat for this long, a server is used last; a second server
 *     with the uuid of a server that is not stale is refused
 * @param graceMillis after a start, no loss is concluded for this long, unless every known disk has
 *     reported before
 * @param transferTimeoutMillis a copy that has not arrived by then is ordered elsewhere
 * @param transfersPerServer copies that one server sends at a time
 * @param invalidationsPerHeartbeat replicas that one answer to a heartbeat orders to be deleted
 * @param reportTravelMillis the longest time between the making of a full block report and its
 *     arrival: a replica that became known during this time is not concluded missing
 * @param scanIntervalMillis from the start of one full scan of all blocks to the start of the next
 * @param blocksPerTick blocks looked at by one tick, for each of its jobs
 * @param queueLimit blocks remembered by each queue; what does not fit is found by the full scan
 */
public record BlockSettings(
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

  public BlockSettings {
    positive("deadAfterMillis", deadAfterMillis);
    positive("staleAfterMillis", staleAfterMillis);
    positive("transferTimeoutMillis", transferTimeoutMillis);
    positive("transfersPerServer", transfersPerServer);
    positive("invalidationsPerHeartbeat", invalidationsPerHeartbeat);
    positive("scanIntervalMillis", scanIntervalMillis);
    positive("blocksPerTick", blocksPerTick);
    positive("queueLimit", queueLimit);
    if (graceMillis < 0 || reportTravelMillis < 0) {
      throw new IllegalArgumentException(
          "graceMillis is %d and reportTravelMillis is %d: give 0 or more"
              .formatted(graceMillis, reportTravelMillis));
    }
  }

  /** As in HDFS, for servers that beat every 3 seconds. */
  public static BlockSettings defaults() {
    return new BlockSettings(
        630_000, 30_000, 60_000, 300_000, 4, 1_000, 30_000, 60_000, 2_000, 200_000);
  }

  /** For servers that beat every second and a cluster that has to react within seconds. */
  public static BlockSettings brisk(long deadAfterMillis) {
    return new BlockSettings(
        deadAfterMillis,
        Math.min(deadAfterMillis, 3_000),
        Math.max(15_000, 2 * deadAfterMillis),
        15_000,
        8,
        1_000,
        5_000,
        4_000,
        2_000,
        200_000);
  }

  private static void positive(String name, long value) {
    if (value <= 0) {
      throw new IllegalArgumentException("%s is %d: give a number above 0".formatted(name, value));
    }
  }
}
