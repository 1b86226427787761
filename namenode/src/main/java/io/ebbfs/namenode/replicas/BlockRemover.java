package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.erasure.BlockGroupLayout;
import io.ebbfs.namenode.replicas.BlockService.Invalidation;
import io.ebbfs.namenode.replicas.StripeService.Member;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.RowSet;
import io.ebbfs.namenode.store.StaleReadException;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Removes blocks of files, in stripes or not, in a transaction that has locked the files. A block
 * of a stripe becomes a tombstone. Thread-safe.
 */
public final class BlockRemover {
  /** Blocks that one transaction removes at most: each takes about ten rows. */
  public static final int BLOCKS_PER_TRANSACTION = 500;

  private final BlockService blocks;
  private final StripeService stripes;

  public BlockRemover(BlockService blocks, StripeService stripes) {
    this.blocks = blocks;
    this.stripes = stripes;
  }

  /** How many more blocks a transaction may remove. A group counts as all of its blocks. */
  public static int room(List<Row<BlockRow>> removed) {
    int blocks = 0;
    for (Row<BlockRow> row : removed) {
      blocks += GroupRows.isGroup(row.value()) ? BlockGroupLayout.IDS_OF_GROUP : 1;
    }
    return Math.max(0, BLOCKS_PER_TRANSACTION - blocks);
  }

  /**
   * Removes the rows of blocks. The caller has called {@link #lockStripes} or {@link #lock}.
   *
   * @return the replicas that the caller invalidates after the commit
   */
  public List<Invalidation> remove(Transaction transaction, List<Row<BlockRow>> rows)
      throws IOException {
    Map<Long, List<Long>> others = new TreeMap<>(); // indices by file
    List<Invalidation> gone = new ArrayList<>();
    for (Row<BlockRow> row : rows) {
      if (GroupRows.isGroup(row.value())) {
        gone.addAll(GroupRows.release(transaction, blocks, row.value()));
        transaction.delete(Tables.BLOCK, row.key());
      } else if (!row.value().hasStripeId()) {
        others
            .computeIfAbsent(row.key().partition(), ignored -> new ArrayList<>())
            .add(row.key().firstLong());
      }
    }
    List<Member> members = members(rows);
    if (!members.isEmpty()) {
      gone.addAll(stripes.removeMembers(transaction, members));
    }
    for (Map.Entry<Long, List<Long>> file : others.entrySet()) {
      gone.addAll(blocks.release(transaction, file.getKey(), file.getValue()));
    }
    return gone;
  }

  private static List<Member> members(List<Row<BlockRow>> rows) {
    return rows.stream().filter(row -> row.value().hasStripeId()).map(Member::of).toList();
  }

  private List<RowLock> locks(List<Row<BlockRow>> leaving) {
    List<RowLock> locks = new ArrayList<>(stripes.locksToRemove(members(leaving)));
    leaving.stream()
        .map(Row::value)
        .filter(GroupRows::isGroup)
        .forEach(group -> locks.add(GroupRows.lockOf(group)));
    return locks;
  }

  /**
   * Locks the stripes of the blocks that leave, then rows of blocks, in a transaction that has
   * locked the files. In a store that several processes share, the row of a file may be seen after
   * a commit, and that of a block before it: the locks of the blocks refuse a commit on such rows.
   *
   * @param leaving those rows whose blocks are removed or get another owner
   * @throws StaleReadException if a row is not what the caller has seen
   */
  public void lock(Transaction transaction, List<Row<BlockRow>> leaving, List<Row<BlockRow>> rows)
      throws IOException {
    transaction.lock(locks(leaving));
    RowSet now =
        transaction.lockAndRead(
            rows.stream().map(row -> RowLock.shared(Tables.BLOCK, row.key())).toList());
    for (Row<BlockRow> row : rows) {
      if (!now.get(Tables.BLOCK, row.key()).equals(Optional.of(row.value()))) {
        throw new StaleReadException("block " + row.value().getBlockId() + " has changed");
      }
    }
  }

  /**
   * Locks the stripes of the blocks that leave, in a transaction that has locked their files. That
   * is enough for deleted files, whose rows no client changes any more.
   *
   * @throws StaleReadException if a conversion has put a block into another stripe before
   */
  public void lockStripes(Transaction transaction, List<Row<BlockRow>> leaving) throws IOException {
    List<RowLock> locks = locks(leaving);
    if (locks.isEmpty()) {
      return;
    }
    transaction.lock(locks);
    for (Member member : members(leaving)) {
      BlockRow now =
          transaction
              .get(Tables.BLOCK, Tables.block(member.ownerId(), member.index()))
              .orElseThrow(() -> new StaleReadException("a block went away"));
      if (!now.equals(member.block())) {
        throw new StaleReadException("block " + now.getBlockId() + " changed its stripe");
      }
    }
  }
}
