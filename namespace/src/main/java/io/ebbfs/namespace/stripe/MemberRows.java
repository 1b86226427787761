package io.ebbfs.namespace.stripe;

import io.ebbfs.namespace.block.ClusterView;
import io.ebbfs.namespace.block.Replicas;
import io.ebbfs.namespace.store.Key;
import io.ebbfs.namespace.store.Row;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.namespace.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockOwnerRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Reads and writes the rows of single blocks: block, blockOwner, replica. The caller holds the
 * locks of the owners (see {@link Tables}). Stateless.
 */
public final class MemberRows {
  private static final int PAGE = 32;

  private MemberRows() {}

  /** All replica rows of a block, live or not. */
  public static List<Row<ReplicaRow>> replicas(Transaction transaction, long ownerId, long blockId)
      throws IOException {
    return replicas(transaction, ownerId, new TreeSet<>(Set.of(blockId)))
        .getOrDefault(blockId, List.of());
  }

  /** The same for several blocks of an owner, by block; nothing for those without a row. */
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
      // The page may have ended within a block; blocks of others are skipped.
      after = left.first() == last.firstLong() ? last : Key.of(ownerId, left.first());
    }
  }

  /** For each member of a stripe, by position, the disks in service that hold it whole. */
  static SortedMap<Integer, List<String>> liveStorages(
      Transaction transaction, ClusterView cluster, List<StripeMemberProto> members)
      throws IOException {
    Map<Long, SortedSet<Long>> byOwner = new HashMap<>();
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

  /** The disks in service that hold the block whole, with this generation stamp and length. */
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
    List<String> live = new ArrayList<>();
    for (Row<ReplicaRow> row : replicas) {
      ReplicaRow replica = row.value();
      String storage = Tables.replicaStorage(row.key());
      if (replica.getState() == ReplicaStateProto.FINALIZED
          && replica.getGenerationStamp() == generationStamp
          && replica.getLengthBytes() == lengthBytes
          && cluster.isLive(storage)) {
        live.add(storage);
      }
    }
    return live;
  }

  /** As above, for a block row. */
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
   * All disks that a row says hold some replica of the block, in whatever state; not those of which
   * it is only known that something was to be written there.
   */
  public static List<String> allStorages(Transaction transaction, long ownerId, long blockId)
      throws IOException {
    return replicas(transaction, ownerId, blockId).stream()
        .filter(row -> row.value().getLengthBytes() != Replicas.NOT_REPORTED)
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
        io.ebbfs.protocol.proto.StoreProtos.StorageReplicaRow.getDefaultInstance());
  }

  /** Writes a block's row under its owner, and where to find it. */
  public static void putBlock(Transaction transaction, long ownerId, long index, BlockRow block) {
    transaction.put(Tables.BLOCK, Tables.block(ownerId, index), block);
    transaction.put(
        Tables.BLOCK_OWNER,
        Tables.blockOwner(block.getBlockId()),
        BlockOwnerRow.newBuilder().setOwnerId(ownerId).setIndex((int) index).build());
  }

  /** Hands a block with all its rows from one owner to another. */
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
    // Another block of the same owner may have taken the old place already.
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
