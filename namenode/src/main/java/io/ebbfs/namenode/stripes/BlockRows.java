package io.ebbfs.namenode.stripes;

import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.replicas.ReplicaRows;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockOwnerRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.protocol.proto.StoreProtos.StorageReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Reads and writes the rows of single blocks: those of the tables block, blockOwner, replica and
 * storageReplica. The caller holds the locks of the owners (see {@link Tables}). Stateless.
 */
public final class BlockRows {
  private static final int PAGE = 32;

  private BlockRows() {}

  /** All replica rows of a block, live or not. */
  public static List<Row<ReplicaRow>> replicas(Transaction transaction, long ownerId, long blockId)
      throws IOException {
    return replicas(transaction, ownerId, new TreeSet<>(Set.of(blockId)))
        .getOrDefault(blockId, List.of());
  }

  /**
   * The replica rows of several blocks of one owner, by block. A block without a row has no entry.
   */
  private static Map<Long, List<Row<ReplicaRow>>> replicas(
      Transaction transaction, long ownerId, SortedSet<Long> blockIds) throws IOException {
    Map<Long, List<Row<ReplicaRow>>> result = new HashMap<>();
    SortedSet<Long> left = blockIds;
    // The key without a storage sorts directly before all keys of the block.
    Key after = Key.of(ownerId, blockIds.first());
    while (true) {
      List<Row<ReplicaRow>> page = transaction.scan(Tables.REPLICA, ownerId, after, PAGE);
      for (Row<ReplicaRow> row : page) {
        long blockId = row.key().firstLong();
        if (blockIds.contains(blockId)) {
          result.computeIfAbsent(blockId, id -> new ArrayList<>()).add(row);
        }
      }
      if (page.size() < PAGE) {
        return result;
      }
      Key last = page.get(page.size() - 1).key();
      left = left.tailSet(last.firstLong());
      if (left.isEmpty()) {
        return result;
      }
      // The page may end within a block. Blocks of the owner that were not asked for are skipped.
      after = left.first() == last.firstLong() ? last : Key.of(ownerId, left.first());
    }
  }

  /**
   * By position of a stripe: the disks in service that hold the member whole, those of drained
   * servers last.
   */
  static SortedMap<Integer, List<String>> liveStorages(
      Transaction transaction, ClusterView cluster, List<StripeMemberProto> members)
      throws IOException {
    SortedMap<Long, SortedSet<Long>> byOwner = new TreeMap<>();
    for (StripeMemberProto member : members) {
      byOwner
          .computeIfAbsent(member.getOwnerId(), owner -> new TreeSet<>())
          .add(member.getBlockId());
    }
    Map<Long, List<Row<ReplicaRow>>> rows = new HashMap<>();
    for (Map.Entry<Long, SortedSet<Long>> blocks : byOwner.entrySet()) {
      rows.putAll(replicas(transaction, blocks.getKey(), blocks.getValue()));
    }
    SortedMap<Integer, List<String>> live = new TreeMap<>();
    for (StripeMemberProto member : members) {
      live.put(
          member.getPosition(),
          live(
              cluster,
              rows.getOrDefault(member.getBlockId(), List.of()),
              member.getGenerationStamp(),
              member.getLengthBytes()));
    }
    return live;
  }

  /** The disks in service with a finalized replica of this generation stamp and this length. */
  public static List<String> liveStorages(
      Transaction transaction,
      ClusterView cluster,
      long ownerId,
      long blockId,
      long generationStamp,
      long lengthBytes)
      throws IOException {
    return live(cluster, replicas(transaction, ownerId, blockId), generationStamp, lengthBytes);
  }

  private static List<String> live(
      ClusterView cluster, List<Row<ReplicaRow>> replicas, long generationStamp, long lengthBytes) {
    return whole(replicas, generationStamp, lengthBytes).stream()
        .filter(cluster::isLive)
        .sorted(Comparator.comparing(cluster::isLeaving))
        .toList();
  }

  private static List<String> whole(
      List<Row<ReplicaRow>> replicas, long generationStamp, long lengthBytes) {
    return replicas.stream()
        .filter(
            row ->
                row.value().getState() == ReplicaStateProto.FINALIZED
                    && row.value().getGenerationStamp() == generationStamp
                    && row.value().getLengthBytes() == lengthBytes)
        .map(row -> Tables.replicaStorage(row.key()))
        .toList();
  }

  /** The disks that hold a member whole, as they last said, in service or not. */
  static List<String> storages(Transaction transaction, StripeMemberProto member)
      throws IOException {
    return whole(
        replicas(transaction, member.getOwnerId(), member.getBlockId()),
        member.getGenerationStamp(),
        member.getLengthBytes());
  }

  /** The disks in service that hold the block of this row whole. */
  public static List<String> liveStorages(
      Transaction transaction, ClusterView cluster, long ownerId, BlockRow block)
      throws IOException {
    return liveStorages(
        transaction,
        cluster,
        ownerId,
        block.getBlockId(),
        block.getGenerationStamp(),
        block.getLengthBytes());
  }

  /**
   * The disks that have reported a replica of the block, in any state and in service or not. A disk
   * to which the replica was to be written, and which has not reported it yet, is left out.
   */
  public static List<String> allStorages(Transaction transaction, long ownerId, long blockId)
      throws IOException {
    return replicas(transaction, ownerId, blockId).stream()
        .filter(row -> row.value().getLengthBytes() != ReplicaRows.NOT_REPORTED)
        .map(row -> Tables.replicaStorage(row.key()))
        .toList();
  }

  /** Records a finalized replica that a combine has written. */
  public static void addReplica(
      Transaction transaction,
      ClusterView cluster,
      long ownerId,
      long blockId,
      long generationStamp,
      long lengthBytes,
      String storageUuid)
      throws IOException {
    long storageNumber =
        cluster
            .disk(storageUuid)
            .orElseThrow(
                () ->
                    new IOException(
                        "disk %s, which holds block %d, is not known: its server has never registered"
                            .formatted(storageUuid, blockId)))
            .storageNumber();
    transaction.put(
        Tables.REPLICA,
        Tables.replica(ownerId, blockId, storageUuid),
        ReplicaRow.newBuilder()
            .setState(ReplicaStateProto.FINALIZED)
            .setGenerationStamp(generationStamp)
            .setLengthBytes(lengthBytes)
            .build());
    transaction.put(
        Tables.STORAGE_REPLICA,
        Tables.storageReplica(storageNumber, blockId),
        StorageReplicaRow.getDefaultInstance());
  }

  /** Writes the row of a block under its owner, and the blockOwner row that names this owner. */
  public static void putBlock(Transaction transaction, long ownerId, long index, BlockRow block) {
    transaction.put(Tables.BLOCK, Tables.block(ownerId, index), block);
    transaction.put(
        Tables.BLOCK_OWNER,
        Tables.blockOwner(block.getBlockId()),
        BlockOwnerRow.newBuilder().setOwnerId(ownerId).setIndex((int) index).build());
  }

  /**
   * Hands a block with all its rows from one owner to another. Example: a block of a deleted file
   * becomes a tombstone, which the stripe owns.
   */
  public static void changeOwner(
      Transaction transaction,
      long oldOwnerId,
      long oldIndex,
      long newOwnerId,
      long newIndex,
      BlockRow block)
      throws IOException {
    if (oldOwnerId != newOwnerId) {
      for (Row<ReplicaRow> row : replicas(transaction, oldOwnerId, block.getBlockId())) {
        String storage = Tables.replicaStorage(row.key());
        transaction.delete(Tables.REPLICA, row.key());
        transaction.put(
            Tables.REPLICA, Tables.replica(newOwnerId, block.getBlockId(), storage), row.value());
      }
    }
    // Another block of the same owner may have taken the old index already.
    boolean stillThere =
        transaction
            .get(Tables.BLOCK, Tables.block(oldOwnerId, oldIndex))
            .map(row -> row.getBlockId() == block.getBlockId())
            .orElse(false);
    if (stillThere) {
      transaction.delete(Tables.BLOCK, Tables.block(oldOwnerId, oldIndex));
    }
    putBlock(transaction, newOwnerId, newIndex, block);
  }
}
