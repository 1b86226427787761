package io.ebbfs.namenode.stripes;

import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.ClusterView.Server;

/**
 * Tells which servers may have died although they do not count as dead yet: those whose last
 * heartbeat is much older than the newest heartbeat of any server. So no server is silent only
 * because the namenode itself was away. A snapshot of the newest heartbeat; thread-safe.
 */
public final class SilentServers {
  /** A server is silent if its last heartbeat is this much older than the newest of any server. */
  private static final long SILENT_MILLIS = 5_000;

  private final ClusterView cluster;
  private final long newestHeartbeatMillis;

  public SilentServers(ClusterView cluster) {
    this.cluster = cluster;
    newestHeartbeatMillis =
        cluster.liveServers().stream().mapToLong(Server::lastHeartbeatMillis).max().orElse(0);
  }

  /** Whether the server of a disk may be dead: its heartbeats have stopped. */
  public boolean hasDisk(String storageUuid) {
    return cluster
        .disk(storageUuid)
        .map(Disk::serverUuid)
        .flatMap(cluster::server)
        .map(server -> newestHeartbeatMillis - server.lastHeartbeatMillis() > SILENT_MILLIS)
        .orElse(true);
  }
}
