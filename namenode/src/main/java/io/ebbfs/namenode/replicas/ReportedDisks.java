package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import java.util.List;
import java.util.Optional;

/** A view of the cluster in which only disks that have sent a full report are in service. */
record ReportedDisks(DatanodeRegistry cluster) implements ClusterView {
  @Override
  public List<Server> liveServers() {
    return cluster.liveServers();
  }

  @Override
  public List<Server> allServers() {
    return cluster.allServers();
  }

  @Override
  public Optional<Server> server(String serverUuid) {
    return cluster.server(serverUuid);
  }

  @Override
  public Optional<Disk> disk(String storageUuid) {
    return cluster.disk(storageUuid);
  }

  @Override
  public boolean isLive(String storageUuid) {
    return cluster.hasReported(storageUuid);
  }

  @Override
  public boolean inSafeMode() {
    return cluster.inSafeMode();
  }
}
