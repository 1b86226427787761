package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.erasure.BlockGroupLayout;
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
public final class GroupHolders {
  /** A disk that may have the block of this index. */
  record Holder(int index, String storageUuid) {}

  private final List<Holder> holders;
  // Of the blocks whose servers have said that the client has finished them, with a whole cell or
  // more.
  private final List<Holder> whole;

  private GroupHolders(List<Holder> holders, List<Holder> whole) {
    this.holders = holders;
    this.whole = whole;
  }

  /** Reads them in a transaction that has locked the group. */
  public static GroupHolders read(Transaction transaction, BlockRow group) throws IOException {
    List<Holder> holders = new ArrayList<>();
    List<Holder> whole = new ArrayList<>();
    int cellBytes = BlockGroupLayout.of(group.getEcPolicyId()).policy().getCellSize();
    for (Row<BlockRow> row : GroupRows.blocks(transaction, group)) {
      Set<String> storages = new LinkedHashSet<>(row.value().getPipelineStorageUuidsList());
      int index = (int) row.key().firstLong();
      for (ReplicaRows.Replica replica :
          ReplicaRows.of(transaction, group.getInternalOwnerId(), row.value().getBlockId())) {
        storages.add(replica.storageUuid());
        if (replica.finalized()
            && replica.row().getGenerationStamp() >= group.getGenerationStamp()
            && replica.row().getLengthBytes() >= cellBytes) {
          whole.add(new Holder(index, replica.storageUuid()));
        }
      }
      storages.forEach(storage -> holders.add(new Holder(index, storage)));
    }
    return new GroupHolders(holders, whole);
  }

  /** The disks that may have blocks. */
  public List<String> storages() {
    return holders.stream().map(Holder::storageUuid).toList();
  }

  /**
   * Why the group cannot be unreadable, as far as its servers have reported: a chunk server of a
   * version that knows no groups says so of its block 0. Empty if it may be. What was on failed
   * disks does not count.
   */
  Optional<String> whyReadable(ClusterView cluster, BlockRow group) {
    int needed = BlockGroupLayout.of(group.getEcPolicyId()).dataUnits();
    long readable =
        whole.stream()
            .filter(holder -> workingDisk(cluster, holder).isPresent())
            .map(Holder::index)
            .distinct()
            .count();
    return readable < needed
        ? Optional.empty()
        : Optional.of(
            "its servers have reported %d blocks with whole cells, and %d are needed"
                .formatted(readable, needed));
  }

  private static Optional<Disk> workingDisk(ClusterView cluster, Holder holder) {
    return cluster.disk(holder.storageUuid()).filter(disk -> !disk.failed());
  }

  /**
   * The recovery of the group. It also asks servers that are out of service: they may be back when
   * it runs. It does not ask for blocks on failed disks, which are lost.
   */
  DatanodeCommandQueue.Recovery recovery(ClusterView cluster, BlockRow group, long newStamp) {
    List<Server> servers = new ArrayList<>();
    List<Integer> indices = new ArrayList<>();
    for (Holder holder : holders) {
      Optional<Server> server =
          workingDisk(cluster, holder).map(Disk::serverUuid).flatMap(cluster::server);
      if (server.isPresent()) {
        servers.add(server.get());
        indices.add(holder.index());
      }
    }
    return new DatanodeCommandQueue.Recovery(group, servers, indices, newStamp);
  }
}
