package io.ebbfs.namenode.files.policies;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.policies.InheritedPolicy;
import io.ebbfs.namenode.replicas.TypeMover;
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
import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
 * restart or another leader goes on there. The paths are served in turn. Each tick looks at a
 * bounded number of files and blocks, and stops where the servers have no free transfers. When a
 * walk ends and has ordered moves, another one follows, because a move may have failed. One thread
 * calls {@link #tick}; {@link #order} is thread-safe.
 */
public final class PolicySatisfier {
  private static final Logger LOG = LoggerFactory.getLogger(PolicySatisfier.class);

  private static final int FILES_PER_TICK = 100;
  private static final int BLOCKS_PER_TICK = 500;
  private static final int PATHS_PER_TICK = 10;
  private static final int BLOCKS_PER_PAGE = 100;

  /** A move that fails again and again ends the work on a path in the end. */
  private static final int MOST_PASSES = 100;

  /** So do blocks whose replicas change all the time. */
  private static final int MOST_FRUITLESS = 10;

  /**
   * The next pass begins when all ordered moves have arrived, and at the latest after this time.
   */
  private static final long PAUSE_MILLIS = 30_000;

  /** What a tick may still look at. */
  private static final class Budget {
    private int files = FILES_PER_TICK;
    private int blocks = BLOCKS_PER_TICK;

    private boolean isUsedUp() {
      return files <= 0 || blocks <= 0;
    }
  }

  private final MetadataStore store;
  private final TypeMover mover;
  private final Clock clock;
  // By inode, until when a walk waits at its end.
  private final Map<Long, Long> pauses = new HashMap<>();
  // The path that was served last.
  private Key served;

  public PolicySatisfier(MetadataStore store, TypeMover mover, Clock clock) {
    this.store = store;
    this.mover = mover;
    this.clock = clock;
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
          long before =
              transaction
                  .get(Tables.SATISFY, Tables.satisfy(id))
                  .map(SatisfyRow::getSequence)
                  .orElse(0L);
          transaction.put(
              Tables.SATISFY,
              Tables.satisfy(id),
              SatisfyRow.newBuilder().setSequence(Math.max(before + 1, clock.millis())).build());
          return null;
        });
  }

  /** Walks on over some of the paths. A failure is logged, and the next call goes on. */
  public void tick() {
    try {
      Budget left = new Budget();
      Optional<Row<SatisfyRow>> next = nextPath();
      for (int i = 0; i < PATHS_PER_TICK && next.isPresent() && !left.isUsedUp(); i++) {
        served = next.get().key();
        walk(next.get().key(), next.get().value(), left);
        next = nextPath();
      }
      if (next.isEmpty()) {
        served = null; // the next call begins with the first one
      }
    } catch (IOException | RuntimeException e) {
      LOG.error("moving replicas to the types of their policies failed; it is tried again", e);
    }
  }

  private Optional<Row<SatisfyRow>> nextPath() throws IOException {
    List<Row<SatisfyRow>> rows = store.scanAll(Tables.SATISFY, served, 1);
    if (rows.isEmpty() && served == null) {
      pauses.clear();
    }
    return rows.stream().findFirst();
  }

  private void walk(Key key, SatisfyRow begun, Budget left) throws IOException {
    Optional<Inode> top =
        store.transact(key.partition(), Durability.RELAXED, t -> attached(t, key.partition()));
    if (top.isEmpty()) {
      replace(key, begun, Optional.empty());
      return;
    }
    SatisfyRow at = begun;
    boolean goesOn = true;
    while (goesOn && !left.isUsedUp()) {
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
      left.files--;
      SatisfyRow.Builder row = at.toBuilder();
      goesOn = met.get().file().isEmpty() || satisfy(met.get().file().get(), row, left);
      at = goesOn ? row.clearDone().addAllDone(met.get().at()).build() : row.build();
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
        : Optional.of(new FileWalk.Met(Optional.of(top), List.of(ByteString.copyFrom(top.name()))));
  }

  /** The walk over a path has come to its end. */
  private void endPass(Key key, SatisfyRow begun, SatisfyRow at) throws IOException {
    boolean isFruitless = at.getOrdered() == 0;
    int fruitless = isFruitless ? at.getFruitless() + 1 : 0;
    boolean givesUp = at.getPasses() + 1 >= MOST_PASSES || fruitless >= MOST_FRUITLESS;
    if (isFruitless && at.getLater() == 0) {
      replace(key, begun, Optional.empty());
    } else if (givesUp) {
      LOG.warn(
          "after {} walks over inode {}, {} moves were still ordered, and {} blocks were still changing; order the walk again with 'hdfs storagepolicies -satisfyStoragePolicy'",
          at.getPasses() + 1,
          key.partition(),
          at.getOrdered(),
          at.getLater());
      replace(key, begun, Optional.empty());
    } else if (mayBeginAgain(key, isFruitless)) {
      SatisfyRow next =
          SatisfyRow.newBuilder()
              .setSequence(at.getSequence())
              .setPasses(at.getPasses() + 1)
              .setFruitless(fruitless)
              .build();
      replace(key, begun, Optional.of(next));
    } else {
      replace(key, begun, Optional.of(at));
    }
  }

  /** Whether all ordered moves have arrived, or have had the time to arrive. */
  private boolean mayBeginAgain(Key key, boolean isFruitless) {
    long until = pauses.computeIfAbsent(key.partition(), id -> clock.millis() + PAUSE_MILLIS);
    boolean begins = clock.millis() >= until || (!isFruitless && !mover.isReplicating());
    if (begins) {
      pauses.remove(key.partition());
    }
    return begins;
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

  /**
   * Orders the moves of the blocks of a file, from where the walk stands.
   *
   * @return false if the walk stops before the end of the file
   */
  private boolean satisfy(Inode file, SatisfyRow.Builder row, Budget left) throws IOException {
    long at = row.getFileId() == file.id() ? row.getNextBlock() : 0;
    Page page;
    do {
      long from = at;
      page =
          store.transact(
              file.id(), Durability.RELAXED, transaction -> page(transaction, file, from));
      for (BlockRow block : page.blocks()) {
        boolean isUsedUp = left.blocks-- <= 0;
        Ordered ordered =
            isUsedUp ? Ordered.BUSY : mover.satisfy(block.getBlockId(), page.policy());
        if (ordered.isBusy()) {
          row.setFileId(file.id()).setNextBlock(at);
          return false;
        }
        row.setOrdered(row.getOrdered() + ordered.moves());
        row.setLater(row.getLater() + (ordered.isLater() ? 1 : 0));
        at++;
      }
    } while (page.blocks().size() == BLOCKS_PER_PAGE);
    row.clearFileId().clearNextBlock();
    return true;
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
