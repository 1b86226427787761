package io.ebbfs.verify.simulator;

import java.util.Random;

/**
 * The shape of the cluster and of the load of one schedule.
 *
 * @param diskBytes capacity of every disk until the faults end
 * @param racks number of racks; 1 if the namenode has no topology
 * @param anyCode whether stripes also use codes outside of the built-in pairs, some of them defined
 *     by a user, and convert between any two that fit
 * @param policies whether the manager's policies propose transitions, besides random proposals
 * @param clientPercent the share of the events that are calls of clients which keep files open
 */
record SimWorld(
    int servers,
    int disksPerServer,
    long diskBytes,
    int racks,
    boolean anyCode,
    boolean policies,
    int clientPercent) {
  /** A capacity that is never used up. */
  static final long ROOMY = 1L << 40;

  static SimWorld of(Random random) {
    int servers = 6 + Math.min(random.nextInt(5), random.nextInt(5));
    int disks = 3 + random.nextInt(4);
    // Blocks have at most 1000 bytes. All files have some ten thousand bytes, with three replicas.
    long bytes = random.nextInt(16) == 0 ? 20_000L / (servers * disks) + random.nextInt(1_500) : 0;
    return new SimWorld(
        servers,
        disks,
        bytes == 0 ? ROOMY : 1_000 + bytes,
        random.nextInt(8) == 0 ? 2 + random.nextInt(2) : 1,
        random.nextInt(8) == 0,
        random.nextInt(16) == 0,
        random.nextInt(3) == 0 ? 40 : 5);
  }

  /** The same with few servers and disks, so that more schedules run in the same time. */
  SimWorld small() {
    return new SimWorld(
        Math.min(servers, 7), 3, diskBytes, racks, anyCode, false, Math.max(20, clientPercent));
  }

  boolean isTight() {
    return diskBytes < ROOMY;
  }

  @Override
  public String toString() {
    return "%d servers of %d disks%s%s%s%s"
        .formatted(
            servers,
            disksPerServer,
            isTight() ? " of " + diskBytes + " bytes" : "",
            racks > 1 ? ", " + racks + " racks" : "",
            anyCode ? ", any code" : "",
            policies ? ", policies" : "");
  }
}
