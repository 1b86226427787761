package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The servers that may have blocks of a group that is being written: those to which the client
 * writes, and those that have reported a block.
 */
final class GroupHolders {
  /** A disk that may have the block of this index. */
  record Holder(int index, String storageUuid) {}

  private final List<Holder> holders;

  private GroupHolders(List<Holder> holders) {
    this.holders = holders;
  }

  static GroupHolders read(Transaction transaction, BlockRow group) throws IOException {
    List<Holder> holders = new ArrayList<>();
    for (Row<BlockRow> row : GroupRows.blocks(transaction, group)) {
      Set<String> storages = new LinkedHashSet<>(row.value().getPipelineStorageUuidsList());
      ReplicaRows.of(transaction, group.getInternalOwnerId(), row.value().getBlockId())
          .forEach(replica -> storages.add(replica.storageUuid()));
      int index = (int) row.key().firstLong();
      storages.forEach(storage -> holders.add(new Holder(index, storage)));
    }
    return new GroupHolders(holders);
  }

  List<String> storages() {
    return holders.stream().map(Holder::storageUuid).toList();
  }

  /**
   * The recovery of the group. A server that is out of service may be back when the recovery runs,
   * so it is asked, too; what was on a failed disk is lost.
   */
  DatanodeCommandQueue.Recovery recovery(ClusterView cluster, BlockRow group, long newStamp) {
    List<Server> servers = new ArrayList<>();
    List<Integer> indices = new ArrayList<>();
    for (Holder holder : holders) {
      Optional<Server> server =
          cluster
              .disk(holder.storageUuid())
              .filter(disk -> !disk.failed())
              .map(Disk::serverUuid)
              .flatMap(cluster::server);
      if (server.isPresent()) {
        servers.add(server.get());
        indices.add(holder.index());
      }
    }
    return new DatanodeCommandQueue.Recovery(group, servers, indices, newStamp);
  }
}
