package io.ebbfs.verify.simulator;

import io.ebbfs.namenode.datanodes.ClusterView;
import java.util.List;
import java.util.Optional;

/**
 * The cluster as the namenode sees it. With a planted bug, all servers and disks seem to live while
 * a commit runs. Used by one thread.
 */
final class SimClusterView implements ClusterView {
  private final ClusterView cluster;
  private boolean everythingLives;

  SimClusterView(ClusterView cluster) {
    this.cluster = cluster;
  }

  void setEverythingLives(boolean lives) {
    everythingLives = lives;
  }

  @Override
  public List<Server> liveServers() {
    return everythingLives
        ? cluster.allServers().stream().map(SimClusterView::alive).toList()
        : cluster.liveServers();
  }

  @Override
  public List<Server> allServers() {
    return cluster.allServers();
  }

  @Override
  public Optional<Server> server(String serverUuid) {
    return everythingLives
        ? cluster.server(serverUuid).map(SimClusterView::alive)
        : cluster.server(serverUuid);
  }

  private static Server alive(Server server) {
    return new Server(
        server.uuid(),
        server.hostName(),
        server.ipAddress(),
        server.transferPort(),
        server.infoPort(),
        server.ipcPort(),
        server.rack(),
        true,
        0,
        server.activeTransfers(),
        server.disks());
  }

  @Override
  public Optional<Disk> disk(String storageUuid) {
    return everythingLives
        ? cluster.disk(storageUuid).map(SimClusterView::working)
        : cluster.disk(storageUuid);
  }

  private static Disk working(Disk disk) {
    return new Disk(
        disk.storageUuid(),
        disk.storageNumber(),
        disk.serverUuid(),
        false,
        disk.capacityBytes(),
        disk.usedBytes(),
        disk.remainingBytes());
  }

  @Override
  public long lostSinceMillis(String storageUuid) {
    return cluster.lostSinceMillis(storageUuid);
  }

  @Override
  public boolean inSafeMode() {
    return cluster.inSafeMode();
  }
}
