package io.ebbfs.namenode.stripes;

import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import java.util.List;

/**
 * Estimates the cost of reading a block from the state of the servers that hold it. The planner of
 * degraded reads and of repairs takes the plan with the lowest sum. Only ratios count: a block on
 * an idle server costs 1024. Example: with {@link #BUSY_COST} two reads from idle servers (2048)
 * are cheaper than one from a busy server (2304). Immutable; it sees the cluster as of its
 * creation.
 */
public final class ReadCostEstimator {
  /**
   * A block on an idle server. The value is larger than the number of blocks of any plan, so that
   * the differences of {@link #BUSY_TIE_COST} never add up to one more read.
   */
  static final int COST = 1024;

  /** A block on the server that reads: nothing crosses the network. */
  static final int LOCAL_COST = COST * 3 / 4;

  /** A block on a busy server: two reads from idle servers are cheaper. */
  static final int BUSY_COST = COST * 9 / 4;

  /**
   * A block on a busy server, for a repair. It decides only between plans that read equally many
   * blocks.
   */
  static final int BUSY_TIE_COST = COST + 1;

  /** A block on a server whose heartbeats have stopped: the server may be dead. */
  static final int SILENT_COST = COST * 10;

  /** A server with no more transfers than this is never busy. */
  private static final int FEW_TRANSFERS = 8;

  private final ClusterView cluster;
  private final String reader;
  private final int busyCost;
  private final SilentServers silent;
  private final double manyTransfers;

  /**
   * Costs for a degraded read, which a client waits for.
   *
   * @param reader the uuid of the server that reads; empty if it is not known
   */
  public ReadCostEstimator(ClusterView cluster, String reader) {
    this(cluster, reader, BUSY_COST);
  }

  private ReadCostEstimator(ClusterView cluster, String reader, int busyCost) {
    this.cluster = cluster;
    this.reader = reader;
    this.busyCost = busyCost;
    List<Server> servers = cluster.liveServers();
    this.silent = new SilentServers(cluster);
    double mean = servers.stream().mapToInt(Server::activeTransfers).average().orElse(0);
    this.manyTransfers = Math.max(FEW_TRANSFERS, 2 * mean);
  }

  /**
   * Costs for a repair. No client waits for a repair, so a busy server is no reason to read more
   * blocks than the code needs.
   */
  public static ReadCostEstimator ofRepairs(ClusterView cluster) {
    return new ReadCostEstimator(cluster, "", BUSY_TIE_COST);
  }

  /** The cost of a block with replicas on these disks: that of the cheapest disk. */
  public int of(List<String> storageUuids) {
    return storageUuids.stream().mapToInt(this::of).min().orElse(COST);
  }

  /** Whether the server of a disk may be dead: its heartbeats have stopped. */
  boolean isSilent(String storageUuid) {
    return silent.hasDisk(storageUuid);
  }

  private int of(String storageUuid) {
    if (isSilent(storageUuid)) {
      return SILENT_COST;
    }
    String server = serverOf(storageUuid);
    if (server.equals(reader)) {
      return LOCAL_COST;
    }
    int transfers = cluster.server(server).map(Server::activeTransfers).orElse(0);
    return transfers > manyTransfers ? busyCost : COST;
  }

  private String serverOf(String storageUuid) {
    return cluster.disk(storageUuid).map(Disk::serverUuid).orElse("");
  }
}
