package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.replicas.ReplicaRows.Replica;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts, during the safe mode after a start, the blocks that are readable on the disks that have
 * sent a full report: blocks with a good replica there, and members of stripes that decode from
 * there. One pass visits all blocks; the unreadable ones are visited again until enough blocks are
 * readable. Each call takes a bounded time. For one thread.
 */
final class SafeModeProgress {
  private static final Logger LOG = LoggerFactory.getLogger(SafeModeProgress.class);
  private static final int PAGE = 500;

  /** As long as the pause between two ticks, so that the thread works half of the time. */
  private static final long TICK_NANOS = 1_000_000_000;

  /** With more unreadable blocks than this, the pass waits until some of them are readable. */
  private static final int MOST_UNREADABLE = 100_000;

  private final MetadataStore store;
  private final DatanodeRegistry cluster;
  private final StripeService stripes;
  private final ClusterView reported;
  private final double threshold;
  private final LongSupplier nanoTime;
  private final Deque<Key> unreadable = new ArrayDeque<>();
  private Key after;
  private boolean visitedAll;
  private long visited;
  private String told = "";

  /**
   * @param threshold the share of the blocks that must be readable, 0 to 1
   * @param nanoTime as {@link System#nanoTime}
   */
  SafeModeProgress(
      MetadataStore store,
      DatanodeRegistry cluster,
      StripeService stripes,
      double threshold,
      LongSupplier nanoTime) {
    this.store = store;
    this.cluster = cluster;
    this.stripes = stripes;
    this.reported = new ReportedDisks(cluster);
    this.threshold = threshold;
    this.nanoTime = nanoTime;
  }

  /** Visits some blocks; true once enough blocks are readable. */
  boolean tick() throws IOException {
    long began = nanoTime.getAsLong();
    // While the pass lasts, half of the time is for the blocks that it has not reached.
    visitAgain(began, visitedAll ? TICK_NANOS : TICK_NANOS / 2);
    boolean mayGoOn = true;
    while (!visitedAll && unreadable.size() < MOST_UNREADABLE && mayGoOn) {
      visitPage();
      mayGoOn = nanoTime.getAsLong() - began < TICK_NANOS;
    }
    tell();
    return visitedAll && unreadable.size() <= visited - (long) Math.ceil(visited * threshold);
  }

  /** Visits each unreadable block once at most, and those first that have waited longest. */
  private void visitAgain(long began, long nanos) throws IOException {
    int left = unreadable.size();
    boolean mayGoOn = true;
    while (left > 0 && mayGoOn) {
      List<Key> keys = unreadable.stream().limit(Math.min(PAGE, left)).toList();
      List<Key> still = stillUnreadable(keys);
      keys.forEach(key -> unreadable.remove());
      unreadable.addAll(still);
      left -= keys.size();
      mayGoOn = nanoTime.getAsLong() - began < nanos;
    }
  }

  private List<Key> stillUnreadable(List<Key> keys) throws IOException {
    return store.listInBackground(
        keys.get(0).partition(),
        transaction -> {
          List<Key> still = new ArrayList<>();
          List<Optional<BlockRow>> rows = transaction.getAll(Tables.BLOCK, keys);
          for (int i = 0; i < keys.size(); i++) {
            if (rows.get(i).isPresent()
                && !isReadable(transaction, keys.get(i).partition(), rows.get(i).get())) {
              still.add(keys.get(i));
            }
          }
          return still;
        });
  }

  private void visitPage() throws IOException {
    List<Row<BlockRow>> page = store.scanAll(Tables.BLOCK, after, PAGE);
    List<Row<BlockRow>> complete =
        page.stream()
            .filter(row -> row.value().getState() == BlockStateProto.COMPLETE)
            .filter(row -> !GroupRows.isGroup(row.value())) // its blocks have rows of their own
            .toList();
    unreadable.addAll(findUnreadable(complete));
    visited += complete.size();
    visitedAll = page.size() < PAGE;
    after = visitedAll ? null : page.get(page.size() - 1).key();
  }

  private List<Key> findUnreadable(List<Row<BlockRow>> blocks) throws IOException {
    if (blocks.isEmpty()) {
      return List.of();
    }
    return store.listInBackground(
        blocks.get(0).key().partition(),
        transaction -> {
          List<Key> found = new ArrayList<>();
          for (Row<BlockRow> row : blocks) {
            if (!isReadable(transaction, row.key().partition(), row.value())) {
              found.add(row.key());
            }
          }
          return found;
        });
  }

  private boolean isReadable(Transaction transaction, long ownerId, BlockRow block)
      throws IOException {
    for (Replica replica : ReplicaRows.of(transaction, ownerId, block.getBlockId())) {
      if (ReplicaRows.isGood(block, replica.row()) && cluster.hasReported(replica.storageUuid())) {
        return true;
      }
    }
    return block.hasStripeId() && stripes.decodes(transaction, block, reported);
  }

  private void tell() {
    String now =
        "%d of %d blocks have no replica on a disk that has reported, and do not decode"
            .formatted(unreadable.size(), visited);
    if (!now.equals(told)) {
      told = now;
      LOG.info("safe mode: {}", now);
    }
  }
}
