package io.ebbfs.namespace.transition;

import io.ebbfs.coding.ErasureCode;
import io.ebbfs.namespace.block.ClusterView;
import io.ebbfs.namespace.block.ClusterView.Server;
import io.ebbfs.namespace.placement.Disk;
import io.ebbfs.namespace.placement.Placement;
import io.ebbfs.namespace.placement.PlacementResult;
import io.ebbfs.namespace.placement.Refusal;
import io.ebbfs.namespace.placement.StripeGroup;
import io.ebbfs.namespace.placement.StripePlacement;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;

/** Asks the pure placement with the cluster as it is now. */
final class DiskChoice {
  /** As many transfers make a server as busy as it should get. */
  private static final double BUSY_TRANSFERS = 16;

  private final ClusterView cluster;
  private final RandomGenerator random;

  DiskChoice(ClusterView cluster, RandomGenerator random) {
    this.cluster = cluster;
    this.random = random;
  }

  Placement placeNew(StripeGroup group) throws NotPlannableException {
    return placed(StripePlacement.place(group, inService(Set.of()), seed()));
  }

  /** Servers left out take no new block. */
  Placement placeMissing(
      ErasureCode code,
      List<? extends Map<Integer, Disk>> members,
      List<? extends Collection<Integer>> missing,
      long lengthBytes,
      Set<String> excludedServerUuids)
      throws NotPlannableException {
    return placed(
        StripePlacement.placeMissing(
            code, members, missing, lengthBytes, inService(excludedServerUuids), seed()));
  }

  /** The disk as placement sees it. */
  Disk disk(String storageUuid) throws NotPlannableException {
    ClusterView.Disk disk =
        cluster
            .disk(storageUuid)
            .orElseThrow(() -> NotPlannableException.now("disk " + storageUuid + " is not known"));
    Server server =
        cluster
            .server(disk.serverUuid())
            .orElseThrow(
                () -> NotPlannableException.now("server " + disk.serverUuid() + " is not known"));
    return disk(server, disk);
  }

  private static Disk disk(Server server, ClusterView.Disk disk) {
    return new Disk(
        disk.storageUuid(),
        server.uuid(),
        server.rack() == null ? "" : server.rack(),
        disk.remainingBytes(),
        server.activeTransfers() / BUSY_TRANSFERS);
  }

  private List<Disk> inService(Set<String> excludedServerUuids) {
    List<Disk> disks = new ArrayList<>();
    for (Server server : cluster.liveServers()) {
      if (!excludedServerUuids.contains(server.uuid())) {
        server.disks().stream().filter(d -> !d.failed()).forEach(d -> disks.add(disk(server, d)));
      }
    }
    return disks;
  }

  private static Placement placed(PlacementResult result) throws NotPlannableException {
    if (result instanceof Refusal refusal) {
      throw NotPlannableException.now(refusal.reason());
    }
    return (Placement) result;
  }

  private long seed() {
    synchronized (random) {
      return random.nextLong();
    }
  }
}
