package io.ebbfs.namenode.store;

import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;

/**
 * What a transaction is about to change, as its writes and the rows before it tell.
 *
 * @param usage the difference of the sums
 * @param quotas the inodes that count in a counted directory
 */
record TransactionChange(Usage usage, ChangedIds ids, QuotaChanges quotas) {
  static TransactionChange of(BufferedTransaction transaction) throws IOException {
    return new Reader(transaction).read();
  }

  boolean isNothing() {
    return ids.isEmpty() && usage.equals(Usage.NONE);
  }

  private static final class Reader {
    private final BufferedTransaction transaction;
    private final ChangedIds.Builder ids = new ChangedIds.Builder();
    private final QuotaChanges quotas = new QuotaChanges();
    private Usage usage = Usage.NONE;

    Reader(BufferedTransaction transaction) {
      this.transaction = transaction;
    }

    TransactionChange read() throws IOException {
      for (Table<?> table : Usage.TABLES) {
        compare(table);
      }
      addOwners();
      return new TransactionChange(usage, ids.build(), quotas);
    }

    private <V extends MessageLite> void compare(Table<V> table) throws IOException {
      List<Key> keys = List.of();
      List<MessageLite> after = List.of();
      for (Map.Entry<RowKey, MessageLite> write : transaction.writes().entrySet()) {
        if (write.getKey().table() == table) {
          if (keys.isEmpty()) {
            keys = new ArrayList<>();
            after = new ArrayList<>();
          }
          keys.add(write.getKey().key());
          after.add(write.getValue());
        }
      }
      List<V> before = keys.isEmpty() ? List.of() : transaction.committed(table, keys);
      for (int i = 0; i < keys.size(); i++) {
        compare(table, keys.get(i), before.get(i), after.get(i));
      }
    }

    private void compare(Table<?> table, Key key, MessageLite before, MessageLite after) {
      usage = usage.plus(Usage.of(table, key, after)).minus(Usage.of(table, key, before));
      if (table == Tables.INODE) {
        quotas.note(key, (InodeRow) before, (InodeRow) after);
      }
      if (table == Tables.INODE && key.rest().length > 0) { // the root has no name
        compareInodes((InodeRow) before, (InodeRow) after);
      } else if (table == Tables.STRIPE) {
        ids.stripes.add(key.partition());
      }
    }

    private void compareInodes(InodeRow before, InodeRow after) {
      boolean stays = before != null && after != null && before.getId() == after.getId();
      if (before != null) {
        add(before, stays);
      }
      if (after != null && !stays) {
        add(after, false);
      }
      if (stays && after.getKind() == InodeKindProto.DIRECTORY && !samePin(before, after)) {
        ids.pinned.add(after.getId());
      }
    }

    private static boolean samePin(InodeRow before, InodeRow after) {
      return before.hasPin() == after.hasPin() && before.getPin() == after.getPin();
    }

    /** The row of a directory that stays is written for the sake of its times or its entries. */
    private void add(InodeRow row, boolean stays) {
      if (row.getKind() == InodeKindProto.FILE) {
        ids.files.add(row.getId());
      } else if (!stays) {
        ids.directories.add(row.getId());
      }
    }

    // ---- owners of blocks ---------------------------------------------------------------------

    /**
     * Adds the owners of blocks and replicas that are written. An owner is a file or a stripe, and
     * the ids of both come from one sequence.
     */
    private void addOwners() throws IOException {
      ChangedIds.Ids unknown = new ChangedIds.Ids();
      for (Map.Entry<RowKey, MessageLite> write : transaction.writes().entrySet()) {
        Table<?> table = write.getKey().table();
        if (table == Tables.BLOCK || table == Tables.REPLICA) {
          addOwner(write.getKey().key().partition(), write.getValue(), unknown);
        }
      }
      long[] owners = unknown.distinct();
      if (owners.length > 0) {
        addUnknown(owners);
      }
    }

    private void addOwner(long owner, MessageLite row, ChangedIds.Ids unknown) {
      if (row instanceof BlockRow block) {
        // A stripe owns its parities and tombstones; all other members are of files.
        (block.getStripeId() == owner ? ids.stripes : ids.files).add(owner);
      } else {
        unknown.add(owner);
      }
    }

    /**
     * Who changes replicas has locked the stripe or the inode that owns them, or makes its row. So
     * nothing is read here, except in transactions without locks.
     */
    private void addUnknown(long[] owners) throws IOException {
      Set<Long> stripes = transaction.lockedPartitions(Tables.STRIPE);
      boolean locksFiles = transaction.locksAny(Tables.INODE);
      List<Key> unlocked = new ArrayList<>();
      for (long owner : owners) {
        if (stripes.contains(owner) || ids.stripes.contains(owner)) {
          ids.stripes.add(owner);
        } else if (locksFiles || ids.files.contains(owner)) {
          ids.files.add(owner);
        } else {
          unlocked.add(Tables.inodeName(owner));
        }
      }
      if (!unlocked.isEmpty()) {
        addByName(unlocked);
      }
    }

    /** An owner is a file if its id has a name, and a stripe if not. */
    private void addByName(List<Key> owners) throws IOException {
      List<InodeNameRow> names = transaction.committed(Tables.INODE_NAME, owners);
      for (int i = 0; i < owners.size(); i++) {
        (names.get(i) == null ? ids.stripes : ids.files).add(owners.get(i).partition());
      }
    }
  }
}
