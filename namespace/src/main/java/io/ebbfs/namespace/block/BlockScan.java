package io.ebbfs.namespace.block;

import io.ebbfs.namespace.block.Replicas.Replica;
import io.ebbfs.namespace.store.Key;
import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.namespace.store.MetadataStore.Durability;
import io.ebbfs.namespace.store.Row;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import java.io.IOException;
import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The slow full scan: finds blocks that events missed, and counts what is stored. Runs a stretch at
 * a time. Owned by the thread that ticks; {@link #usage} is for everybody.
 */
final class BlockScan {
  private static final int PAGE = 200;

  /** Blocks and bytes on one disk, by the rows of replicas. */
  public record DiskUsage(long blocks, long bytes) {
    DiskUsage plus(long moreBytes) {
      return new DiskUsage(blocks + 1, bytes + moreBytes);
    }
  }

  /**
   * What the last complete scan counted.
   *
   * @param storedBytes in all good replicas on live disks
   * @param lackingBlocks plain blocks with fewer live replicas than wanted
   * @param missingBlocks plain blocks without any
   */
  public record Usage(
      long scannedMillis,
      long blocks,
      long storedBytes,
      long lackingBlocks,
      long missingBlocks,
      Map<String, DiskUsage> disks) {}

  private final MetadataStore store;
  private final ClusterMap cluster;
  private final Redundancy redundancy;
  private final Clock clock;
  private final BlockSettings settings;
  private volatile Usage last = new Usage(0, 0, 0, 0, 0, Map.of());
  private long startedMillis = Long.MIN_VALUE;
  private boolean running;
  private Key after;
  private long blocks;
  private long storedBytes;
  private long lacking;
  private long missing;
  private Map<String, DiskUsage> disks;

  BlockScan(
      MetadataStore store,
      ClusterMap cluster,
      Redundancy redundancy,
      Clock clock,
      BlockSettings settings) {
    this.store = store;
    this.cluster = cluster;
    this.redundancy = redundancy;
    this.clock = clock;
    this.settings = settings;
  }

  Usage usage() {
    return last;
  }

  /** Scans at most as many blocks as a tick may look at. */
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
      look(page);
      if (page.size() < PAGE) {
        running = false;
        last = new Usage(now, blocks, storedBytes, lacking, missing, Map.copyOf(disks));
      } else {
        after = page.get(page.size() - 1).key();
      }
    }
  }

  private void begin(long now) {
    running = true;
    startedMillis = now;
    after = null;
    blocks = 0;
    storedBytes = 0;
    lacking = 0;
    missing = 0;
    disks = new HashMap<>();
  }

  private void look(List<Row<BlockRow>> page) throws IOException {
    if (page.isEmpty()) {
      return;
    }
    store.transact(
        page.get(0).key().partition(),
        Durability.RELAXED,
        transaction -> {
          for (Row<BlockRow> row : page) {
            look(
                row.value(),
                Replicas.of(transaction, row.key().partition(), row.value().getBlockId()));
          }
          return null;
        });
  }

  private void look(BlockRow block, List<Replica> replicas) {
    int live = 0;
    boolean odd = false;
    for (Replica replica : replicas) {
      boolean onLiveDisk = cluster.isLive(replica.storageUuid());
      if (onLiveDisk && Replicas.isGood(block, replica.row())) {
        live++;
        long bytes = replica.row().getLengthBytes();
        storedBytes += bytes;
        disks.merge(replica.storageUuid(), new DiskUsage(1, bytes), (sum, one) -> sum.plus(bytes));
      } else {
        odd |= onLiveDisk;
      }
    }
    blocks++;
    if (block.getState() != BlockStateProto.COMPLETE) {
      return;
    }
    int wanted = block.hasStripeId() ? 1 : block.getReplication();
    if (!block.hasStripeId() && live < wanted) {
      lacking++;
      missing += live == 0 ? 1 : 0;
    }
    if (odd || live != wanted) {
      redundancy.check(block.getBlockId());
    }
    if (block.hasStripeId() && live == 0) {
      redundancy.checkStripe(block.getStripeId());
    }
  }
}
