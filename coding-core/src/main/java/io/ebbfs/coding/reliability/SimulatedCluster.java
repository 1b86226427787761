package io.ebbfs.coding.reliability;

/**
 * The cluster of a {@link ClusterSimulation}, and how often its parts fail. Immutable.
 *
 * @param disksPerServer disks of each server
 * @param racks servers are dealt to the racks in turn
 * @param stripes how many stripes the cluster holds; each block of a stripe is on another disk
 * @param blockBytes length of a block
 * @param diskFailuresPerYear of one disk, which loses its blocks
 * @param serverFailuresPerYear of one server, which loses the blocks of all its disks
 * @param rackFailuresPerYear of one rack, which loses the blocks of all its servers
 * @param detectionHours from a failure until its repairs may begin
 * @param repairBytesPerSecond read and written by one server; all servers repair
 * @param burstsPerYear of the whole cluster; in a burst several servers fail at the same moment,
 *     for example by a power cut
 * @param serversPerBurst how many servers fail in a burst, drawn from all racks alike
 */
public record SimulatedCluster(
    int servers,
    int disksPerServer,
    int racks,
    int stripes,
    double blockBytes,
    double diskFailuresPerYear,
    double serverFailuresPerYear,
    double rackFailuresPerYear,
    double detectionHours,
    double repairBytesPerSecond,
    double burstsPerYear,
    int serversPerBurst) {
  /** A cluster without bursts. */
  public SimulatedCluster(
      int servers,
      int disksPerServer,
      int racks,
      int stripes,
      double blockBytes,
      double diskFailuresPerYear,
      double serverFailuresPerYear,
      double rackFailuresPerYear,
      double detectionHours,
      double repairBytesPerSecond) {
    this(
        servers,
        disksPerServer,
        racks,
        stripes,
        blockBytes,
        diskFailuresPerYear,
        serverFailuresPerYear,
        rackFailuresPerYear,
        detectionHours,
        repairBytesPerSecond,
        0,
        0);
  }

  /** The same with bursts. */
  public SimulatedCluster withBursts(double perYear, int servers) {
    return new SimulatedCluster(
        this.servers,
        disksPerServer,
        racks,
        stripes,
        blockBytes,
        diskFailuresPerYear,
        serverFailuresPerYear,
        rackFailuresPerYear,
        detectionHours,
        repairBytesPerSecond,
        perYear,
        servers);
  }

  int disks() {
    return servers * disksPerServer;
  }

  int server(int disk) {
    return disk / disksPerServer;
  }

  int rack(int disk) {
    return server(disk) % racks;
  }
}
