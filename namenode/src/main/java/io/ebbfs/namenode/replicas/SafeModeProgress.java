package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.replicas.ReplicaRows.Replica;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts, during the safe mode after a start, the blocks that are readable on the disks that have
 * sent a full report: blocks with a good replica there, and members of stripes that decode from
 * there. One pass visits all blocks; the unreadable ones are visited again until enough blocks are
 * readable. A bounded number is visited at each call. For one thread.
 */
final class SafeModeProgress {
  private static final Logger LOG = LoggerFactory.getLogger(SafeModeProgress.class);
  private static final int PAGE = 500;
  private static final int BLOCKS_PER_TICK = 50_000;

  /** With more unreadable blocks than this, the pass waits until some of them are readable. */
  private static final int MOST_UNREADABLE = 100_000;

  private final MetadataStore store;
  private final DatanodeRegistry cluster;
  private final StripeService stripes;
  private final ClusterView reported;
  private final double threshold;
  private final Deque<Key> unreadable = new ArrayDeque<>();
  private Key after;
  private boolean visitedAll;
  private long visited;
  private String told = "";

  /**
   * @param threshold the share of the blocks that must be readable, 0 to 1
   */
  SafeModeProgress(
      MetadataStore store, DatanodeRegistry cluster, StripeService stripes, double threshold) {
    this.store = store;
    this.cluster = cluster;
    this.stripes = stripes;
    this.reported = new ReportedDisks(cluster);
    this.threshold = threshold;
  }

  /** Visits some blocks; true once enough blocks are readable. */
  boolean tick() throws IOException {
    int left = BLOCKS_PER_TICK - visitAgain();
    while (!visitedAll && left > 0 && unreadable.size() < MOST_UNREADABLE) {
      left -= PAGE;
      visitPage();
    }
    tell();
    return visitedAll && unreadable.size() <= visited - (long) Math.ceil(visited * threshold);
  }

  private int visitAgain() throws IOException {
    int count = Math.min(unreadable.size(), BLOCKS_PER_TICK);
    for (int done = 0; done < count; ) {
      List<Key> keys = new ArrayList<>();
      while (keys.size() < PAGE && done < count) {
        keys.add(unreadable.poll());
        done++;
      }
      unreadable.addAll(stillUnreadable(keys));
    }
    return count;
  }

  private List<Key> stillUnreadable(List<Key> keys) throws IOException {
    return store.transact(
        keys.get(0).partition(),
        Durability.RELAXED,
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
    if (page.size() < PAGE) {
      visitedAll = true;
    }
    if (page.isEmpty()) {
      return;
    }
    after = page.get(page.size() - 1).key();
    List<Row<BlockRow>> complete =
        page.stream()
            .filter(row -> row.value().getState() == BlockStateProto.COMPLETE)
            .filter(row -> !GroupRows.isGroup(row.value())) // its blocks have rows of their own
            .toList();
    visited += complete.size();
    store
        .transact(
            page.get(0).key().partition(),
            Durability.RELAXED,
            transaction -> {
              List<Key> found = new ArrayList<>();
              for (Row<BlockRow> row : complete) {
                if (!isReadable(transaction, row.key().partition(), row.value())) {
                  found.add(row.key());
                }
              }
              return found;
            })
        .forEach(unreadable::add);
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
