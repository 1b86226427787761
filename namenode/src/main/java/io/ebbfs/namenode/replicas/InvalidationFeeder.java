package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.replicas.BlockService.Invalidation;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.protocol.proto.StoreProtos.InvalidationRow;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Walks the rows of deletions, disk by disk: hands those that are due to the command queue, which
 * has forgotten or never held them, and counts the orphans. For one thread, which calls {@link
 * #tick}; the counts are thread-safe.
 */
final class InvalidationFeeder {
  private static final Logger LOG = LoggerFactory.getLogger(InvalidationFeeder.class);
  private static final int PAGE = 1_000;

  /** From the end of one walk over all disks to the begin of the next. */
  private static final long REST_MILLIS = 3_000;

  /**
   * Orphans of all live disks.
   *
   * @param replicas their number
   * @param lengthBytes the sum of their lengths
   */
  record Orphans(long replicas, long lengthBytes) {
    static final Orphans NONE = new Orphans(0, 0);
  }

  /**
   * Replicas of deleted blocks on all live disks, whose deletion is not confirmed.
   *
   * @param replicas their number
   * @param ofGroups how many of them are of block groups
   */
  record Pending(long replicas, long ofGroups) {
    static final Pending NONE = new Pending(0, 0);
  }

  private final DatanodeRegistry cluster;
  private final InvalidationRows rows;
  private final DatanodeCommandQueue commands;
  private final Clock clock;
  private final int rowsPerTick;
  private final List<Disk> toWalk = new ArrayList<>();
  private Key after;
  private long walkedMillis = Long.MIN_VALUE;
  private long replicas;
  private long lengthBytes;
  private long pendingReplicas;
  private long pendingOfGroups;
  private volatile Pending pending = Pending.NONE;
  private volatile Orphans orphans = Orphans.NONE;

  InvalidationFeeder(
      DatanodeRegistry cluster,
      InvalidationRows rows,
      DatanodeCommandQueue commands,
      Clock clock,
      int rowsPerTick) {
    this.cluster = cluster;
    this.rows = rows;
    this.commands = commands;
    this.clock = clock;
    this.rowsPerTick = rowsPerTick;
  }

  /** Orphans as of the last walk. */
  Orphans orphans() {
    return orphans;
  }

  /** Deletions as of the last walk. */
  Pending pending() {
    return pending;
  }

  /** Walks a bounded number of rows. */
  void tick() throws IOException {
    if (toWalk.isEmpty()) {
      if (walkedMillis != Long.MIN_VALUE && clock.millis() - walkedMillis < REST_MILLIS) {
        return;
      }
      cluster.liveServers().stream().map(Server::disks).forEach(toWalk::addAll);
    }
    for (int seen = 0; !toWalk.isEmpty() && seen < rowsPerTick; seen++) {
      seen += walkPage(toWalk.get(toWalk.size() - 1));
    }
    if (toWalk.isEmpty()) {
      endWalk();
    }
  }

  private int walkPage(Disk disk) throws IOException {
    List<Row<InvalidationRow>> page = rows.page(disk, after, PAGE);
    List<Invalidation> due = new ArrayList<>();
    for (Row<InvalidationRow> row : page) {
      long blockId = row.key().firstLong();
      rows.learn(blockId, row.value());
      boolean isDue = rows.isDue(blockId, row.value());
      if (row.value().hasOrphanSinceMillis() && !isDue) {
        replicas++;
        lengthBytes += row.value().getLengthBytes();
      } else {
        pendingReplicas++;
        pendingOfGroups += row.value().getOfGroup() ? 1 : 0;
      }
      if (isDue && !commands.isOrdered(disk.storageUuid(), blockId)) {
        due.add(
            new Invalidation(
                disk.storageUuid(),
                blockId,
                row.value().getGenerationStamp(),
                row.value().getLengthBytes()));
      }
    }
    commands.invalidate(due);
    if (page.size() < PAGE) {
      toWalk.remove(toWalk.size() - 1);
      after = null;
    } else {
      after = page.get(page.size() - 1).key();
    }
    return page.size();
  }

  private void endWalk() {
    Orphans found = new Orphans(replicas, lengthBytes);
    if (!found.equals(orphans) && found.replicas() > 0) {
      LOG.warn(
          "{} replicas ({} bytes) belong to blocks that the metadata does not know: they are kept"
              + " for the time of 'orphanWait'. If the metadata comes from a backup that is too old,"
              + " stop the namenode and restore a newer one",
          found.replicas(),
          found.lengthBytes());
    }
    orphans = found;
    pending = new Pending(pendingReplicas, pendingOfGroups);
    pendingReplicas = 0;
    pendingOfGroups = 0;
    replicas = 0;
    lengthBytes = 0;
    walkedMillis = clock.millis();
  }
}
