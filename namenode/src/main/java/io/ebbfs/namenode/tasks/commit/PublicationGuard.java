package io.ebbfs.namenode.tasks.commit;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.stripes.SilentServers;
import io.ebbfs.protocol.proto.StoreProtos.TransitionOutputProto;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Refuses to publish stripes that protect their data less than what they replace. Servers may have
 * died since the attempt was planned, and the old parities or replicas, which are deleted after the
 * publication, may be what their data needs. A disk counts if it is in service and if heartbeats of
 * its server have arrived lately. For one transaction; used by one thread.
 */
final class PublicationGuard {
  private final ClusterView cluster;
  private final SilentServers silent;

  PublicationGuard(ClusterView cluster) {
    this.cluster = cluster;
    silent = new SilentServers(cluster);
  }

  /** Refuses outputs on disks that do not count. */
  void requireOutputs(List<TransitionOutputProto> outputs) throws CommitRefusedException {
    for (TransitionOutputProto output : outputs) {
      CommitWriter.requireInService(cluster, output);
      requireAnyHeard(output.getBlockId(), List.of(output.getStorageUuid()));
    }
  }

  /** Refuses a member of a new stripe of whose disks none counts. */
  void requireAnyHeard(long blockId, Collection<String> storages) throws CommitRefusedException {
    if (heard(storages).isEmpty()) {
      throw new CommitRefusedException(
          "block %d, a member of the new stripe, is on no disk whose server was heard lately, of %s"
              .formatted(blockId, storages));
    }
  }

  /**
   * Refuses a block outside of stripes that would be on fewer servers than that. A server that is
   * drained does not count, since it is to leave the cluster.
   */
  void requireServers(long blockId, Collection<String> storages, int fewest)
      throws CommitRefusedException {
    List<String> staying = heard(storages).stream().filter(cluster::isStaying).toList();
    Set<String> servers = cluster.serversOf(staying);
    if (servers.size() < fewest) {
      throw new CommitRefusedException(
          "block %d would leave its stripe with replicas on %d servers that were heard lately and are not drained, and %d are needed: its disks are %s"
              .formatted(blockId, servers.size(), fewest, storages));
    }
  }

  private List<String> heard(Collection<String> storages) {
    return storages.stream().filter(cluster::isLive).filter(s -> !silent.hasDisk(s)).toList();
  }

  /**
   * Refuses a new stripe that would not survive the loss of one server.
   *
   * @param storages by position: the disks with the block
   */
  void requireSurvivesAnyServer(ErasureCode code, Map<Integer, List<String>> storages)
      throws CommitRefusedException {
    Map<String, Set<Integer>> onlyOn = new TreeMap<>();
    storages.forEach(
        (position, disks) -> {
          Set<String> servers = cluster.serversOf(heard(disks));
          if (servers.size() == 1) {
            onlyOn
                .computeIfAbsent(servers.iterator().next(), server -> new TreeSet<>())
                .add(position);
          }
        });
    for (Map.Entry<String, Set<Integer>> server : onlyOn.entrySet()) {
      if (!code.decodes(server.getValue())) {
        throw new CommitRefusedException(
            "the stripe in %s would not survive the loss of server %s, which alone has its positions %s"
                .formatted(code, server.getKey(), server.getValue()));
      }
    }
  }
}
