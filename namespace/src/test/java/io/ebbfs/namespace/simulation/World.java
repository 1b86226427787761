package io.ebbfs.namespace.simulation;

import java.util.Random;

/**
 * What a schedule takes place in.
 *
 * @param diskBytes capacity of every disk until faults end
 * @param racks that the servers are in, in turn; 1 if the namenode has no topology
 * @param anyCode whether stripes are in codes outside of the built-in pairs, too, some of them
 *     defined by a user, and converted between any two that fit
 * @param policies whether the manager's policies propose transitions, besides chance
 */
record World(
    int servers, int disksPerServer, long diskBytes, int racks, boolean anyCode, boolean policies) {
  /** Enough for everything. */
  static final long ROOMY = 1L << 40;

  static World of(Random random) {
    int servers = 6 + Math.min(random.nextInt(5), random.nextInt(5));
    int disks = 3 + random.nextInt(4);
    // Of blocks of at most 1000 bytes. Files come to some ten thousand bytes, three times.
    long bytes = random.nextInt(16) == 0 ? 20_000L / (servers * disks) + random.nextInt(1_500) : 0;
    return new World(
        servers,
        disks,
        bytes == 0 ? ROOMY : 1_000 + bytes,
        random.nextInt(8) == 0 ? 2 + random.nextInt(2) : 1,
        random.nextInt(8) == 0,
        random.nextInt(16) == 0);
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
