package io.ebbfs.namenode.files.policies;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.policies.InheritedPolicy;
import io.ebbfs.namenode.replicas.BlockManager;
import io.ebbfs.namenode.replicas.TypeMoves.Ordered;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.SatisfyRow;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.hdfs.protocol.BlockStoragePolicy;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has the replicas of files moved to disks of the types that their storage policies want, when a
 * client asks for it (satisfyStoragePolicy). HDFS has a service of its own for that.
 *
 * <p>A row for each file or directory that was named says how far the walk over it is, so that a
 * restart or another leader goes on there. Each tick looks at a bounded number of files, and stops
 * where the servers have no free transfers. When a walk ends and has ordered moves, another one
 * follows, because a move may have failed. One thread calls {@link #tick}; {@link #order} is
 * thread-safe.
 */
public final class PolicySatisfier {
  private static final Logger LOG = LoggerFactory.getLogger(PolicySatisfier.class);

  private static final int FILES_PER_TICK = 100;
  private static final int BLOCKS_PER_PAGE = 100;

  /** A move that fails again and again ends the work on a path in the end. */
  private static final int MOST_PASSES = 100;

  private final MetadataStore store;
  private final BlockManager blocks;

  public PolicySatisfier(MetadataStore store, BlockManager blocks) {
    this.store = store;
    this.blocks = blocks;
  }

  /**
   * Notes that a path is to be walked. A walk that is under way starts again.
   *
   * @throws java.io.FileNotFoundException if the path does not exist
   */
  public void order(Caller caller, String src) throws IOException {
    OptimisticTransactions.transact(
        store,
        Inode.ROOT_ID,
        transaction -> {
          long id = PolicyService.writable(transaction, caller, src).lastFound().id();
          transaction.lock(List.of(RowLock.exclusive(Tables.SATISFY, Tables.satisfy(id))));
          transaction.put(Tables.SATISFY, Tables.satisfy(id), SatisfyRow.getDefaultInstance());
          return null;
        });
  }

  /** Walks on over one of the paths. A failure is logged, and the next call tries again. */
  public void tick() {
    try {
      List<Row<SatisfyRow>> rows = store.scanAll(Tables.SATISFY, null, 1);
      if (!rows.isEmpty()) {
        walk(rows.get(0).key(), rows.get(0).value());
      }
    } catch (IOException | RuntimeException e) {
      LOG.error("moving replicas to the types of their policies failed; it is tried again", e);
    }
  }

  private void walk(Key key, SatisfyRow begun) throws IOException {
    Optional<Inode> top =
        store.transact(key.partition(), Durability.RELAXED, t -> attached(t, key.partition()));
    if (top.isEmpty()) {
      replace(key, begun, Optional.empty());
      return;
    }
    SatisfyRow at = begun;
    for (int i = 0; i < FILES_PER_TICK; i++) {
      SatisfyRow from = at;
      Optional<FileWalk.Met> met =
          store.transact(
              key.partition(),
              Durability.RELAXED,
              transaction -> next(transaction, top.get(), from));
      if (met.isEmpty()) {
        endPass(key, begun, at);
        return;
      }
      Optional<Integer> ordered = satisfy(met.get().file());
      if (ordered.isEmpty()) {
        break; // no free transfers: this file is looked at again
      }
      at =
          at.toBuilder()
              .clearDone()
              .addAllDone(met.get().at())
              .setOrdered(at.getOrdered() + ordered.get())
              .build();
    }
    replace(key, begun, Optional.of(at));
  }

  private static Optional<FileWalk.Met> next(Transaction transaction, Inode top, SatisfyRow row)
      throws IOException {
    if (!top.isFile()) {
      return FileWalk.next(transaction, top, row.getDoneList());
    }
    return row.getDoneCount() > 0
        ? Optional.empty()
        : Optional.of(new FileWalk.Met(top, List.of(ByteString.copyFrom(top.name()))));
  }

  /** The walk over a path has come to its end. */
  private void endPass(Key key, SatisfyRow begun, SatisfyRow at) throws IOException {
    boolean isDone = at.getOrdered() == 0 || at.getPasses() + 1 >= MOST_PASSES;
    if (isDone) {
      replace(key, begun, Optional.empty());
    } else if (!blocks.isReplicating()) {
      replace(
          key, begun, Optional.of(SatisfyRow.newBuilder().setPasses(at.getPasses() + 1).build()));
    } else {
      replace(key, begun, Optional.of(at));
    }
  }

  /** Stores how far a walk is, unless it was ordered anew meanwhile. */
  private void replace(Key key, SatisfyRow before, Optional<SatisfyRow> after) throws IOException {
    if (after.isPresent() && after.get().equals(before)) {
      return;
    }
    OptimisticTransactions.transact(
        store,
        key.partition(),
        transaction -> {
          transaction.lock(List.of(RowLock.exclusive(Tables.SATISFY, key)));
          if (transaction.get(Tables.SATISFY, key).filter(before::equals).isPresent()) {
            after.ifPresentOrElse(
                row -> transaction.put(Tables.SATISFY, key, row),
                () -> transaction.delete(Tables.SATISFY, key));
          }
          return null;
        });
  }

  /** Orders the moves of a file; returns how many, or nothing if others have to end first. */
  private Optional<Integer> satisfy(Inode file) throws IOException {
    int moves = 0;
    long at = 0;
    Page page;
    do {
      long from = at;
      page =
          store.transact(
              file.id(), Durability.RELAXED, transaction -> page(transaction, file, from));
      for (BlockRow block : page.blocks()) {
        Ordered ordered = blocks.satisfy(block.getBlockId(), page.policy());
        if (ordered.isBusy()) {
          return Optional.empty();
        }
        moves += ordered.moves();
      }
      at += page.blocks().size();
    } while (page.blocks().size() == BLOCKS_PER_PAGE);
    return Optional.of(moves);
  }

  /** Some blocks of a file, and the storage policy of the file. */
  private record Page(List<BlockRow> blocks, BlockStoragePolicy policy) {}

  private static Page page(Transaction transaction, Inode file, long from) throws IOException {
    List<BlockRow> blocks =
        transaction
            .scan(
                Tables.BLOCK,
                file.id(),
                from == 0 ? null : Tables.block(file.id(), from - 1),
                BLOCKS_PER_PAGE)
            .stream()
            .map(Row::value)
            .toList();
    return new Page(blocks, blocks.isEmpty() ? null : InheritedPolicy.of(transaction, file.id()));
  }

  private static Optional<Inode> attached(Transaction transaction, long inodeId)
      throws IOException {
    Optional<Key> key = PathResolver.attachedKey(transaction, inodeId);
    return key.isEmpty()
        ? Optional.empty()
        : PathResolver.inodeAt(transaction, key.get()).filter(inode -> inode.id() == inodeId);
  }
}
