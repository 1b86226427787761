package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.policies.InheritedPolicy;
import io.ebbfs.namenode.replicas.ReplicaRows.Replica;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.Transaction;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.protocol.BlockStoragePolicy;

/**
 * The types of the disks that hold a block of a file, beside those that the storage policy of the
 * file wants. In a cluster whose disks are all of type DISK no policy is looked up. Thread-safe.
 */
final class BlockTypes {
  private final MetadataStore store;
  private final DatanodeRegistry cluster;

  BlockTypes(MetadataStore store, DatanodeRegistry cluster) {
    this.store = store;
    this.cluster = cluster;
  }

  /**
   * On which disks a lost replica is rebuilt: of a type of the policy, or else of a fallback of the
   * policy for copies. If no server that could take it has such a disk, any disk is better than no
   * replica.
   *
   * @param occupied servers that cannot take a replica of the block
   */
  TypeWish forCopy(BlockAssessment block, Set<String> occupied) throws IOException {
    if (!cluster.hasTypedDisks() || block.striped()) {
      return TypeWish.ANY;
    }
    BlockStoragePolicy policy =
        store.transact(
            block.stored().ownerId(),
            Durability.RELAXED,
            transaction -> InheritedPolicy.of(transaction, block.stored().ownerId()));
    List<StorageType> wanted =
        policy.chooseStorageTypes(
            (short) block.wanted(),
            typesOf(block.counted()),
            EnumSet.of(StorageType.RAM_DISK),
            false);
    for (List<StorageType> types :
        List.of(wanted, Arrays.asList(policy.getReplicationFallbacks()))) {
      if (hasRoom(types, occupied, block.block().getLengthBytes())) {
        return TypeWish.exactly(types);
      }
    }
    return TypeWish.ANY;
  }

  private boolean hasRoom(List<StorageType> types, Set<String> occupied, long lengthBytes) {
    for (Server server : cluster.serversForBlocks()) {
      boolean fits =
          !occupied.contains(server.uuid())
              && server.disks().stream()
                  .anyMatch(
                      disk ->
                          !disk.failed()
                              && types.contains(disk.type())
                              && disk.remainingBytes() >= lengthBytes);
      if (fits) {
        return true;
      }
    }
    return false;
  }

  /**
   * The types of which a block of a file has more replicas than its policy wants, each as often as
   * there are too many.
   */
  List<StorageType> excess(Transaction transaction, BlockAssessment block, List<Replica> replicas)
      throws IOException {
    if (!cluster.hasTypedDisks() || block.striped()) {
      return List.of();
    }
    List<StorageType> types = typesOf(replicas);
    return types.stream().distinct().count() < 2
        ? List.of()
        : InheritedPolicy.of(transaction, block.stored().ownerId())
            .chooseExcess((short) block.wanted(), types);
  }

  List<StorageType> typesOf(List<Replica> replicas) {
    List<StorageType> types = new ArrayList<>();
    replicas.forEach(replica -> types.add(cluster.typeOf(replica.storageUuid())));
    return types;
  }
}
