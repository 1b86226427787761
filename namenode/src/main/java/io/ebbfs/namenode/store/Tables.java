package io.ebbfs.namenode.store;

import io.ebbfs.protocol.proto.StoreProtos.BlockOwnerRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.CallRow;
import io.ebbfs.protocol.proto.StoreProtos.ChangeRow;
import io.ebbfs.protocol.proto.StoreProtos.CounterRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.InvalidationRow;
import io.ebbfs.protocol.proto.StoreProtos.LeaderRow;
import io.ebbfs.protocol.proto.StoreProtos.LeaseRow;
import io.ebbfs.protocol.proto.StoreProtos.LostDiskRow;
import io.ebbfs.protocol.proto.StoreProtos.QuotaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.SatisfyRow;
import io.ebbfs.protocol.proto.StoreProtos.ServerRow;
import io.ebbfs.protocol.proto.StoreProtos.SettingRow;
import io.ebbfs.protocol.proto.StoreProtos.SnapshotRow;
import io.ebbfs.protocol.proto.StoreProtos.StorageReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.UsageRow;
import io.ebbfs.protocol.proto.StoreProtos.VersionRow;
import io.ebbfs.protocol.proto.StoreProtos.XAttrRow;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * All tables, in the order in which their rows are locked, and the keys of their rows. The file
 * {@code store.proto} describes the rows.
 *
 * <p>The lock of an inode row (parentId, name) protects the inode, its blocks and their replicas.
 * The lock of a stripe row protects the stripe, its parities and their replicas, and the stripe
 * fields of its members. The lock of a transition row protects the transition. A change of the
 * entries of a directory locks the row of the directory, too.
 */
public final class Tables {
  public static final Table<CallRow> CALL = new Table<>("call", 0, CallRow.parser());
  public static final Table<SettingRow> SETTING = new Table<>("setting", 1, SettingRow.parser());
  public static final Table<LeaseRow> LEASE = new Table<>("lease", 2, LeaseRow.parser());
  public static final Table<InodeRow> INODE = new Table<>("inode", 3, InodeRow.parser());
  public static final Table<InodeNameRow> INODE_NAME =
      new Table<>("inodeName", 4, InodeNameRow.parser());
  public static final Table<StripeRow> STRIPE = new Table<>("stripe", 5, StripeRow.parser());
  public static final Table<TransitionRow> TRANSITION =
      new Table<>("transition", 6, TransitionRow.parser());
  public static final Table<BlockRow> BLOCK = new Table<>("block", 7, BlockRow.parser());
  public static final Table<BlockOwnerRow> BLOCK_OWNER =
      new Table<>("blockOwner", 8, BlockOwnerRow.parser());
  public static final Table<ReplicaRow> REPLICA = new Table<>("replica", 9, ReplicaRow.parser());
  public static final Table<StorageReplicaRow> STORAGE_REPLICA =
      new Table<>("storageReplica", 10, StorageReplicaRow.parser());
  public static final Table<ServerRow> SERVER = new Table<>("server", 11, ServerRow.parser());
  public static final Table<CounterRow> COUNTER = new Table<>("counter", 12, CounterRow.parser());

  public static final Table<InvalidationRow> INVALIDATION =
      new Table<>("invalidation", 13, InvalidationRow.parser());

  public static final Table<LostDiskRow> LOST_DISK =
      new Table<>("lostDisk", 14, LostDiskRow.parser());

  public static final Table<LeaderRow> LEADER = new Table<>("leader", 15, LeaderRow.parser());

  public static final Table<ChangeRow> CHANGE = new Table<>("change", 16, ChangeRow.parser());

  public static final Table<UsageRow> USAGE = new Table<>("usage", 17, UsageRow.parser());

  /** A row has at most 4 MiB, so a page has at most 64 MiB. */
  public static final Table<XAttrRow> XATTR = new Table<>("xattr", 18, XAttrRow.parser(), 16);

  public static final Table<QuotaRow> QUOTA = new Table<>("quota", 19, QuotaRow.parser());

  /**
   * The keys are made by {@link SnapshotTables}. Rows of this table and of the next one may have
   * the extended attributes of an inode.
   */
  public static final Table<SnapshotRow> SNAPSHOT =
      new Table<>("snapshot", 20, SnapshotRow.parser(), 64);

  /** The keys are made by {@link SnapshotTables}. */
  public static final Table<VersionRow> VERSION =
      new Table<>("version", 21, VersionRow.parser(), 64);

  public static final Table<SatisfyRow> SATISFY = new Table<>("satisfy", 22, SatisfyRow.parser());

  /** The parent of deleted inodes. */
  public static final long PENDING_DELETIONS = 1;

  /** The parent of inodes that are deleted, and that snapshots still show. */
  public static final long KEPT_BY_SNAPSHOTS = 2;

  /** All tables in the order of locks. */
  public static final List<Table<?>> ALL =
      List.of(
          CALL,
          SETTING,
          LEASE,
          INODE,
          INODE_NAME,
          STRIPE,
          TRANSITION,
          BLOCK,
          BLOCK_OWNER,
          REPLICA,
          STORAGE_REPLICA,
          SERVER,
          COUNTER,
          INVALIDATION,
          LOST_DISK,
          LEADER,
          CHANGE,
          USAGE,
          XATTR,
          QUOTA,
          SNAPSHOT,
          VERSION,
          SATISFY);

  public static Key inode(long parentId, byte[] name) {
    return Key.of(parentId, name);
  }

  public static Key inodeName(long inodeId) {
    return Key.of(inodeId);
  }

  public static Key xattr(long inodeId) {
    return Key.of(inodeId);
  }

  /** A part of the sums of a counted directory. */
  public static Key quota(long directoryId, int shard) {
    return Key.of(directoryId, shard);
  }

  public static Key satisfy(long inodeId) {
    return Key.of(inodeId);
  }

  public static Key block(long ownerId, long index) {
    return Key.of(ownerId, index);
  }

  public static Key blockOwner(long blockId) {
    return Key.of(blockId);
  }

  public static Key replica(long ownerId, long blockId, String storageUuid) {
    byte[] uuid = storageUuid.getBytes(StandardCharsets.UTF_8);
    return Key.of(
        ownerId, ByteBuffer.allocate(Long.BYTES + uuid.length).putLong(blockId).put(uuid).array());
  }

  /** The storage uuid in a key that {@link #replica} made. */
  public static String replicaStorage(Key key) {
    return new String(
        key.rest(), Long.BYTES, key.rest().length - Long.BYTES, StandardCharsets.UTF_8);
  }

  public static Key storageReplica(long storageNumber, long blockId) {
    return Key.of(storageNumber, blockId);
  }

  public static Key invalidation(long storageNumber, long blockId) {
    return Key.of(storageNumber, blockId);
  }

  public static Key lostDisk(long storageNumber) {
    return Key.of(storageNumber);
  }

  public static Key stripe(long stripeId) {
    return Key.of(stripeId);
  }

  public static Key transition(long transitionId) {
    return Key.of(transitionId);
  }

  /** The key of a named row, in the tables server, counter, setting, leader and usage. */
  public static Key named(String name) {
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    long hash = 0xcbf29ce484222325L; // FNV-1a, 64 bits: spreads names over partitions
    for (byte b : bytes) {
      hash = (hash ^ (b & 0xff)) * 0x100000001b3L;
    }
    return Key.of(hash, bytes);
  }

  private Tables() {}
}
