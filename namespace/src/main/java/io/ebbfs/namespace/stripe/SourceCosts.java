package io.ebbfs.namespace.stripe;

import io.ebbfs.namespace.block.ClusterView;
import io.ebbfs.namespace.block.ClusterView.Disk;
import io.ebbfs.namespace.block.ClusterView.Server;
import java.util.List;

/**
 * What it costs a plan to read a block, by how the servers that hold it are doing now: a snapshot
 * of the cluster.
 */
public final class SourceCosts {
  /** Of an idle server; more than all ties of a plan together. */
  static final int COST = 1024;

  /** On the server that asks. */
  static final int LOCAL_COST = COST * 3 / 4;

  /** Serving much more than others: another two reads are better. */
  static final int BUSY_COST = COST * 9 / 4;

  /** The same for repairs: decides only between plans that read equally many. */
  static final int BUSY_TIE_COST = COST + 1;

  /** Not heard of for a while: it may be about to count as dead. */
  static final int SILENT_COST = COST * 10;

  private static final long SILENT_MILLIS = 5_000;
  private static final int FEW_TRANSFERS = 8;

  private final ClusterView cluster;
  private final String reader;
  private final int busyCost;
  private final long newestHeartbeatMillis;
  private final double manyTransfers;

  /**
   * @param reader the uuid of the server that reads; empty if that is not known
   */
  public SourceCosts(ClusterView cluster, String reader) {
    this(cluster, reader, BUSY_COST);
  }

  private SourceCosts(ClusterView cluster, String reader, int busyCost) {
    this.cluster = cluster;
    this.reader = reader;
    this.busyCost = busyCost;
    List<Server> servers = cluster.liveServers();
    this.newestHeartbeatMillis =
        servers.stream().mapToLong(Server::lastHeartbeatMillis).max().orElse(0);
    double mean = servers.stream().mapToInt(Server::activeTransfers).average().orElse(0);
    this.manyTransfers = Math.max(FEW_TRANSFERS, 2 * mean);
  }

  /**
   * Of repairs, which nobody waits for: no read more than the code needs. What makes a server busy
   * then is mostly other repairs, as of its last heartbeat.
   */
  public static SourceCosts ofRepairs(ClusterView cluster) {
    return new SourceCosts(cluster, "", BUSY_TIE_COST);
  }

  /** Of a block with replicas on these disks: the best of them counts. */
  public int of(List<String> storageUuids) {
    return storageUuids.stream().mapToInt(this::of).min().orElse(COST);
  }

  /** Whether its server is far behind the others with its heartbeats: perhaps it is dead. */
  public boolean isSilent(String storageUuid) {
    return cluster
        .server(serverOf(storageUuid))
        .map(server -> newestHeartbeatMillis - server.lastHeartbeatMillis() > SILENT_MILLIS)
        .orElse(true);
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
