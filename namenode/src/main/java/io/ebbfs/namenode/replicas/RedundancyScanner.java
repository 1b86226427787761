package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.datanodes.RedundancySettings;
import io.ebbfs.namenode.replicas.ReplicaRows.Replica;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.ScanCursor;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Scans all blocks slowly: finds blocks with too few or too many replicas that no event has
 * reported, and counts the replicas on each disk. Each tick scans a bounded number of blocks. The
 * cursor and the counts outlive the process ({@link ScanCursor}). For the one thread that calls
 * {@link #open} and {@link #tick}; {@link #counted} and {@link #progress} are thread-safe.
 */
final class RedundancyScanner {
  private static final Logger LOG = LoggerFactory.getLogger(RedundancyScanner.class);
  private static final int PAGE = 200;

  private record Examined(BlockRow block, List<Replica> replicas) {}

  private final MetadataStore store;
  private final DatanodeRegistry cluster;
  private final RedundancyMonitor redundancy;
  private final Clock clock;
  private final RedundancySettings settings;
  // Counts good replicas by the uuid of their storage.
  private final ScanCursor cursor;
  private long startedMillis = Long.MIN_VALUE;

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
    this.cursor = new ScanCursor(store, "blockScan", clock);
  }

  /** Good replicas on a disk, as of the last whole pass; empty if that pass has found none. */
  OptionalLong counted(String storageUuid) {
    return cursor.counted(storageUuid);
  }

  /** How far the scan is. */
  ScanCursor.Progress progress() {
    return cursor.progress();
  }

  /** Reads, once, what the passes of earlier processes have counted. A later call tries again. */
  void open() {
    try {
      cursor.open();
    } catch (IOException e) {
      LOG.warn("the scan of all blocks does not know yet where it stands: {}", e.toString());
    }
  }

  /** Scans at most {@link RedundancySettings#blocksPerTick} blocks. */
  void tick() throws IOException {
    cursor.open();
    long now = clock.millis();
    if (!cursor.isUnderWay() && isDue(now)) {
      startedMillis = now;
      cursor.begin();
    }
    for (int done = 0; cursor.isUnderWay() && done < settings.blocksPerTick(); done += PAGE) {
      List<Row<BlockRow>> page = store.scanAll(Tables.BLOCK, cursor.after(), PAGE);
      for (Examined block : read(page)) {
        examine(block.block(), block.replicas());
      }
      cursor.visited(page, PAGE);
    }
    cursor.save();
  }

  private boolean isDue(long now) {
    return startedMillis == Long.MIN_VALUE || now - startedMillis >= settings.scanIntervalMillis();
  }

  private List<Examined> read(List<Row<BlockRow>> page) throws IOException {
    if (page.isEmpty()) {
      return List.of();
    }
    return store.transact(
        page.get(0).key().partition(),
        Durability.RELAXED,
        transaction -> {
          List<Examined> read = new ArrayList<>();
          for (Row<BlockRow> row : page) {
            if (GroupRows.isGroup(row.value())) {
              continue; // its blocks have rows of their own
            }
            long owner = row.key().partition();
            long id = row.value().getBlockId();
            read.add(new Examined(row.value(), ReplicaRows.of(transaction, owner, id)));
          }
          return read;
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
        cursor.count(replica.storageUuid());
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
