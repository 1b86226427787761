package io.ebbfs.verify.cluster;

import io.ebbfs.protocol.proto.CodingProtos.FileStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ServerStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.client.ClusterProbe;
import io.ebbfs.testbed.cluster.LocalCluster;
import java.io.IOException;
import java.util.Map;

/** Tells whether a cluster is at rest: no transition runs, and no block is lost or superfluous. */
final class RestCondition {
  private static final int REPLICATION = 3;

  private final LocalCluster local;
  private final ClusterProbe probe;

  RestCondition(LocalCluster local, ClusterProbe probe) {
    this.local = local;
    this.probe = probe;
  }

  /**
   * What the namenode says against rest; null if nothing.
   *
   * @param serversAway how many servers are meant to be down
   */
  String objection(int serversAway) throws IOException {
    String underProtection = underProtection(serversAway);
    return underProtection != null ? underProtection : probe.activity();
  }

  /** What the namenode says about servers, blocks and stripes that are missing; null if nothing. */
  String underProtection(int serversAway) throws IOException {
    GetClusterResponseProto cluster = probe.cluster();
    long live = cluster.getServersList().stream().filter(ServerStatusProto::getLive).count();
    if (cluster.getSafeMode() || live < local.layout().servers() - serversAway) {
      return "%d servers are live%s".formatted(live, cluster.getSafeMode() ? ", safe mode" : "");
    }
    if (cluster.getStripesByLossCount() > 0) {
      return "stripes by lost blocks: " + cluster.getStripesByLossList();
    }
    if (cluster.getUnderReplicatedBlocks() > 0 || cluster.getMissingBlocks() > 0) {
      return "%d blocks are under-replicated, %d missing"
          .formatted(cluster.getUnderReplicatedBlocks(), cluster.getMissingBlocks());
    }
    return null;
  }

  /** How the number of blocks on disks differs from the metadata; null if it does not. */
  String blockCountMismatch() throws IOException {
    DiskInventory disks;
    try {
      disks = DiskInventory.read(local);
    } catch (ClusterException e) {
      throw new IOException(e);
    }
    if (!disks.strayFiles().isEmpty()) {
      return "stray files: " + disks.strayFiles();
    }
    long onDisks = disks.byStorage().values().stream().mapToLong(Map::size).sum();
    long wanted = 0;
    for (StripeStatusProto stripe : probe.stripes()) {
      wanted += stripe.getStripe().getMembersCount();
    }
    for (FileStatusProto file : probe.files("/")) {
      wanted += (long) REPLICATION * (file.getBlocks() - file.getStripedBlocks());
    }
    return onDisks == wanted ? null : "%d blocks on disks, %d wanted".formatted(onDisks, wanted);
  }
}
