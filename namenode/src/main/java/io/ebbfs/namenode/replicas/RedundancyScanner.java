package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.datanodes.RedundancySettings;
import io.ebbfs.namenode.replicas.ReplicaRows.Replica;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import java.io.IOException;
import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Scans all blocks slowly: finds blocks with too few or too many replicas that no event has
 * reported, and counts the replicas on each disk. Each tick scans a bounded number of blocks. For
 * the one thread that calls {@link #tick}; {@link #blocksOn} is thread-safe.
 */
final class RedundancyScanner {
  private static final int PAGE = 200;

  private final MetadataStore store;
  private final DatanodeRegistry cluster;
  private final RedundancyMonitor redundancy;
  private final Clock clock;
  private final RedundancySettings settings;
  private volatile Map<String, Long> lastBlocksByDisk = Map.of();
  private long startedMillis = Long.MIN_VALUE;
  private boolean running;
  private Key after;
  private Map<String, Long> blocksByDisk;

  RedundancyScanner(
      MetadataStore store,
      DatanodeRegistry cluster,
      RedundancyMonitor redundancy,
      Clock clock,
      RedundancySettings settings) {
    this.store = store;
    this.cluster = cluster;
    this.redundancy = redundancy;
    this.clock = clock;
    this.settings = settings;
  }

  /** Good replicas on a disk, as of the last complete scan. */
  long blocksOn(String storageUuid) {
    return lastBlocksByDisk.getOrDefault(storageUuid, 0L);
  }

  /** Scans at most {@link RedundancySettings#blocksPerTick} blocks. */
  void tick() throws IOException {
    long now = clock.millis();
    if (!running) {
      if (startedMillis != Long.MIN_VALUE && now - startedMillis < settings.scanIntervalMillis()) {
        return;
      }
      begin(now);
    }
    for (int done = 0; running && done < settings.blocksPerTick(); done += PAGE) {
      List<Row<BlockRow>> page = store.scanAll(Tables.BLOCK, after, PAGE);
      examine(page);
      if (page.size() < PAGE) {
        running = false;
        lastBlocksByDisk = Map.copyOf(blocksByDisk);
      } else {
        after = page.get(page.size() - 1).key();
      }
    }
  }

  private void begin(long now) {
    running = true;
    startedMillis = now;
    after = null;
    blocksByDisk = new HashMap<>();
  }

  private void examine(List<Row<BlockRow>> page) throws IOException {
    if (page.isEmpty()) {
      return;
    }
    store.transact(
        page.get(0).key().partition(),
        Durability.RELAXED,
        transaction -> {
          for (Row<BlockRow> row : page) {
            if (GroupRows.isGroup(row.value())) {
              continue; // its blocks have rows of their own
            }
            examine(
                row.value(),
                ReplicaRows.of(transaction, row.key().partition(), row.value().getBlockId()));
          }
          return null;
        });
  }

  private void examine(BlockRow block, List<Replica> replicas) {
    int live = 0;
    int staying = 0;
    boolean hasBadReplica = false;
    for (Replica replica : replicas) {
      boolean onLiveDisk = cluster.isLive(replica.storageUuid());
      if (onLiveDisk && ReplicaRows.isGood(block, replica.row())) {
        live++;
        staying += cluster.isLeaving(replica.storageUuid()) ? 0 : 1;
        blocksByDisk.merge(replica.storageUuid(), 1L, Long::sum);
      } else {
        hasBadReplica |= onLiveDisk;
      }
    }
    if (block.getState() == BlockStateProto.COMMITTED && live > 0) {
      redundancy.check(block.getBlockId());
    }
    if (block.getState() != BlockStateProto.COMPLETE) {
      return;
    }
    boolean hasWantedNumber = block.hasStripeId() ? live == 1 : staying == block.getReplication();
    if (hasBadReplica || !hasWantedNumber) {
      redundancy.check(block.getBlockId());
    }
    if (block.hasStripeId() && live == 0) {
      redundancy.checkStripe(block.getStripeId());
    }
  }
}
