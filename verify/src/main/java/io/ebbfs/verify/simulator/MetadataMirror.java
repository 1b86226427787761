package io.ebbfs.verify.simulator;

import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Table;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.tasks.lifecycle.TransitionIndex;
import io.ebbfs.protocol.proto.StoreProtos.BlockOwnerRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.verify.simulator.CrashingStore.Write;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;

/** A copy of the rows of the namenode, updated with every commit, and the changes since a check. */
final class MetadataMirror {
  final Map<Long, BlockOwnerRow> owners = new TreeMap<>();
  final Map<Key, BlockRow> blocks = new TreeMap<>();
  // The keys of a block's rows, by block id. A second key is a violation.
  final Map<Long, Set<Key>> blockKeys = new HashMap<>();
  final Map<Long, StripeRow> stripes = new TreeMap<>();
  final Map<Long, TransitionRow> transitions = new TreeMap<>();
  final Map<Key, ReplicaRow> replicas = new TreeMap<>();
  // The number of rows of finalized replicas, by block and by storage.
  private final Map<Long, Map<String, Integer>> finalized = new HashMap<>();
  private final Map<Key, Long> inodes = new HashMap<>();
  final Set<Long> files = new HashSet<>();

  // The open files, with the last row of each.
  final Map<Long, InodeRow> openFiles = new TreeMap<>();

  // The names of files, which are all in the root directory.
  final Map<Long, String> names = new HashMap<>();

  final Set<Long> changedBlocks = new TreeSet<>();
  final Set<Long> changedStripes = new TreeSet<>();
  final Set<Long> changedFiles = new TreeSet<>();
  final Set<Long> changedTransitions = new TreeSet<>();

  void apply(List<Write> writes) {
    Map<Table<?>, Map<Key, MessageLite>> last = new HashMap<>();
    for (Write write : writes) {
      last.computeIfAbsent(write.table(), table -> new LinkedHashMap<>())
          .put(write.key(), write.value());
    }
    rows(last, Tables.BLOCK_OWNER)
        .forEach((key, row) -> owner(key.partition(), (BlockOwnerRow) row));
    rows(last, Tables.BLOCK).forEach((key, row) -> block(key, (BlockRow) row));
    rows(last, Tables.STRIPE).forEach((key, row) -> stripe(key.partition(), (StripeRow) row));
    rows(last, Tables.TRANSITION)
        .forEach((key, row) -> transition(key.partition(), (TransitionRow) row));
    rows(last, Tables.REPLICA).forEach((key, row) -> replica(key, (ReplicaRow) row));
    rows(last, Tables.INODE).forEach((key, row) -> inode(key, (InodeRow) row));
    rows(last, Tables.INODE_NAME)
        .forEach(
            (key, row) ->
                set(
                    names,
                    key.partition(),
                    row == null ? null : ((InodeNameRow) row).getName().toStringUtf8()));
  }

  private static Map<Key, MessageLite> rows(
      Map<Table<?>, Map<Key, MessageLite>> writes, Table<?> table) {
    return writes.getOrDefault(table, Map.of());
  }

  private static <K, V> V set(Map<K, V> map, K key, V value) {
    return value == null ? map.remove(key) : map.put(key, value);
  }

  private void owner(long blockId, BlockOwnerRow row) {
    set(owners, blockId, row);
    changedBlocks.add(blockId);
  }

  private void block(Key key, BlockRow row) {
    BlockRow old = set(blocks, key, row);
    if (old != null) {
      changed(old);
      blockKeys.getOrDefault(old.getBlockId(), new HashSet<>()).remove(key);
    }
    if (row != null) {
      changed(row);
      blockKeys.computeIfAbsent(row.getBlockId(), id -> new HashSet<>(2)).add(key);
    }
  }

  private void changed(BlockRow row) {
    changedBlocks.add(row.getBlockId());
    if (row.hasStripeId()) {
      changedStripes.add(row.getStripeId());
    }
  }

  private void stripe(long id, StripeRow row) {
    changedStripes.add(id);
    StripeRow old = set(stripes, id, row);
    for (StripeRow stripe :
        old == null ? List.of(row) : row == null ? List.of(old) : List.of(old, row)) {
      stripe.getMembersList().forEach(member -> changedBlocks.add(member.getBlockId()));
    }
  }

  private void transition(long id, TransitionRow row) {
    set(transitions, id, row);
    changedTransitions.add(id);
  }

  private void replica(Key key, ReplicaRow row) {
    ReplicaRow old = set(replicas, key, row);
    int change = (isFinalized(row) ? 1 : 0) - (isFinalized(old) ? 1 : 0);
    if (change != 0) {
      changedBlocks.add(key.firstLong());
      finalized
          .computeIfAbsent(key.firstLong(), id -> new HashMap<>(4))
          .merge(
              Tables.replicaStorage(key),
              change,
              (a, b) -> a + b == 0 ? null : Integer.valueOf(a + b));
    }
  }

  private static boolean isFinalized(ReplicaRow row) {
    return row != null && row.getState() == ReplicaStateProto.FINALIZED;
  }

  private void inode(Key key, InodeRow row) {
    Long old = set(inodes, key, row == null ? null : Long.valueOf(row.getId()));
    if (row != null) {
      files.add(row.getId());
      boolean open = row.hasUnderConstruction() && key.partition() == Inode.ROOT_ID;
      set(openFiles, row.getId(), open ? row : null);
    }
    if (old != null && !inodes.containsValue(old)) {
      files.remove(old);
      openFiles.remove(old);
      changedFiles.add(old);
    }
  }

  /** The storages that have the block, as far as the namenode knows. */
  Set<String> storagesOf(long blockId) {
    return finalized.getOrDefault(blockId, Map.of()).keySet();
  }

  /** The number of rows that say that a storage has the block. */
  int replicaRows(long blockId, String storage) {
    return finalized.getOrDefault(blockId, Map.of()).getOrDefault(storage, 0);
  }

  /** The key of the block's row, or null. */
  Key keyOf(long blockId) {
    Set<Key> keys = blockKeys.getOrDefault(blockId, Set.of());
    if (keys.size() > 1) {
      throw new Violation("block " + blockId + " has two rows: " + keys);
    }
    return keys.isEmpty() ? null : keys.iterator().next();
  }

  /** The block's row, or null. */
  BlockRow block(long blockId) {
    Key key = keyOf(blockId);
    return key == null ? null : blocks.get(key);
  }

  /** The blocks of a file, in order. */
  List<BlockRow> blocksOf(long fileId) {
    List<BlockRow> found = new ArrayList<>();
    for (long index = 0; blocks.containsKey(Tables.block(fileId, index)); index++) {
      found.add(blocks.get(Tables.block(fileId, index)));
    }
    return found;
  }

  /** The lengths of the blocks of a file, by block id. */
  Map<Long, Long> lengthsOf(long fileId) {
    Map<Long, Long> lengths = new TreeMap<>();
    blocksOf(fileId).forEach(row -> lengths.put(row.getBlockId(), row.getLengthBytes()));
    return lengths;
  }

  boolean isActive(long transitionId) {
    TransitionRow row = transitions.get(transitionId);
    return row != null && TransitionIndex.isActive(row.getState());
  }

  /** Whether the stripe has this block as a member. */
  boolean hasMember(long stripeId, long blockId) {
    StripeRow stripe = stripes.get(stripeId);
    if (stripe != null) {
      for (StripeMemberProto member : stripe.getMembersList()) {
        if (member.getBlockId() == blockId) {
          return true;
        }
      }
    }
    return false;
  }

  void forgetChanges() {
    changedBlocks.clear();
    changedStripes.clear();
    changedFiles.clear();
    changedTransitions.clear();
  }

  /** Marks everything as changed. */
  void touchAll() {
    changedBlocks.addAll(owners.keySet());
    blocks.values().forEach(row -> changedBlocks.add(row.getBlockId()));
    changedStripes.addAll(stripes.keySet());
    changedTransitions.addAll(transitions.keySet());
  }
}
