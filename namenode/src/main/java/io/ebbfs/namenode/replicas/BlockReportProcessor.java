package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.RedundancySettings;
import io.ebbfs.namenode.replicas.ReplicaComparison.Found;
import io.ebbfs.namenode.replicas.ReplicaComparison.Known;
import io.ebbfs.namenode.replicas.ReportedReplica.Kind;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.InvalidationRow;
import io.ebbfs.protocol.proto.StoreProtos.StorageReplicaRow;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Processes block reports: brings the rows of replicas in line with the disks.
 *
 * <p><b>Why this is correct.</b> Reports of one disk are processed one at a time (under {@link
 * #lockOf}), so each replica row has one reporting writer. Other writers are the delete of a file,
 * a stripe that takes over a block, and the marking of excess replicas. They hold the row lock of
 * the owner exclusively; a report holds that lock <em>shared</em> and looks up the owner again
 * under it. So reports of different disks do not wait for each other. A report never writes under
 * an owner that the block has just left, and never brings back the rows of a deleted block.
 *
 * <p>A full report is compared with the rows of its disk, in their order, without any lock first.
 * Other rows are read only for replicas that are not known to agree ({@link ReplicaComparison}).
 * Only differences are written, by {@link ReportedReplicaApplier}. A full report may be older than
 * incremental reports that arrived before it. So a full report is not believed about replicas that
 * came or went a short while ago ({@link RecentReplicas}): else a replica that exists would be
 * lost, or a deleted one would be counted. All commits are relaxed: rows that a machine crash takes
 * are reported again.
 */
public final class BlockReportProcessor {
  private static final int PAGE = 1_000;
  private static final int LOCKS = 256;

  /**
   * The last full report of a disk.
   *
   * @param replicas that it names
   */
  record FullReport(long millis, long replicas) {}

  private final MetadataStore store;
  private final ReportedReplicaApplier applier;
  private final InvalidationRows invalidationRows;
  private final ReplicaComparison comparison;
  private final RecentReplicas arrivals;
  private final RecentReplicas deletions;
  private final Clock clock;
  private final Object[] locks = new Object[LOCKS];
  private final Map<String, FullReport> lastFull = new ConcurrentHashMap<>();
  private volatile ReportedIds ids;

  BlockReportProcessor(
      MetadataStore store,
      ReportedReplicaApplier applier,
      InvalidationRows invalidationRows,
      Clock clock,
      RedundancySettings settings) {
    this.store = store;
    this.applier = applier;
    this.invalidationRows = invalidationRows;
    this.comparison = new ReplicaComparison(store);
    this.arrivals = new RecentReplicas(settings.queueLimit(), settings.reportTravelMillis());
    this.deletions = new RecentReplicas(settings.queueLimit(), settings.reportTravelMillis());
    this.clock = clock;
    for (int i = 0; i < LOCKS; i++) {
      locks[i] = new Object();
    }
  }

  /** Sets the sequences that skip reported ids; called once, before the first report. */
  void bind(ReportedIds reportedIds) {
    ids = reportedIds;
  }

  private void seeIds(List<ReportedReplica> reports) throws IOException {
    ReportedIds sequences = ids;
    if (sequences != null) {
      sequences.see(reports);
    }
  }

  private Object lockOf(Disk disk) {
    return locks[Math.floorMod(disk.storageUuid().hashCode(), LOCKS)];
  }

  /** Processes an incremental report: news of single replicas, in the order of events. */
  public void incremental(Disk disk, List<ReportedReplica> reports) throws IOException {
    seeIds(reports);
    long now = clock.millis();
    synchronized (lockOf(disk)) {
      for (ReportedReplica report : reports) {
        if (report.kind() == Kind.FINALIZED) {
          arrivals.note(disk.storageUuid(), report.blockId(), now);
        } else if (report.kind() == Kind.DELETED) {
          deletions.note(disk.storageUuid(), report.blockId(), now);
        }
      }
      applier.applyAll(disk, reports, true);
    }
  }

  /**
   * Processes a full report: all replicas that are on a disk.
   *
   * @param progress is called often while the report is processed
   * @return replicas for {@link #note}
   */
  public List<ReportedReplica> full(Disk disk, List<ReportedReplica> reports, Runnable progress)
      throws IOException {
    seeIds(reports);
    progress.run();
    long now = clock.millis();
    int part = comparison.nextPart(disk);
    List<ReportedReplica> toNote = new ArrayList<>();
    synchronized (lockOf(disk)) {
      List<ReportedReplica> sorted =
          reports.stream()
              .filter(report -> !deletions.has(disk.storageUuid(), report.blockId(), now))
              .sorted(Comparator.comparingLong(ReportedReplica::blockId))
              .toList();
      List<ReportedReplica> differences = new ArrayList<>();
      int next = 0;
      Key after = null;
      List<Row<StorageReplicaRow>> page;
      do {
        page = rowsOf(disk, after);
        boolean last = page.size() < PAGE;
        long end = last ? Long.MAX_VALUE : page.get(page.size() - 1).key().firstLong();
        int from = next;
        while (next < sorted.size() && sorted.get(next).blockId() <= end) {
          next++;
        }
        List<Known> known = compare(disk, page, sorted.subList(from, next), now, part, differences);
        for (int i = 0; i < known.size(); i += PAGE) {
          Found found =
              comparison.compare(disk, known.subList(i, Math.min(i + PAGE, known.size())));
          differences.addAll(found.unlike());
          toNote.addAll(found.toNote());
        }
        for (int i = 0; i < differences.size(); i += PAGE) {
          List<ReportedReplica> some =
              differences.subList(i, Math.min(i + PAGE, differences.size()));
          applier.applyAll(disk, some, false);
          progress.run();
        }
        progress.run();
        differences.clear();
        after = last ? null : page.get(page.size() - 1).key();
      } while (after != null);
      forgetDeleted(disk, sorted, now);
    }
    lastFull.put(disk.storageUuid(), new FullReport(now, reports.size()));
    return toNote;
  }

  /** The last full report of a disk to this process. */
  Optional<FullReport> lastFull(String storageUuid) {
    return Optional.ofNullable(lastFull.get(storageUuid));
  }

  /**
   * Notes which replicas of a full report agree with all rows, so that the next report costs less.
   *
   * @param progress is called often
   */
  public void note(Disk disk, List<ReportedReplica> replicas, Runnable progress) {
    synchronized (lockOf(disk)) {
      comparison.note(disk, replicas, progress);
    }
  }

  /** Deletes the rows of ordered deletions of replicas that the disk does not have any more. */
  private void forgetDeleted(Disk disk, List<ReportedReplica> sorted, long nowMillis)
      throws IOException {
    Key after = null;
    List<Row<InvalidationRow>> page;
    int next = 0;
    do {
      page = invalidationRows.page(disk, after, PAGE);
      List<Long> gone = new ArrayList<>();
      for (Row<InvalidationRow> row : page) {
        long id = row.key().firstLong();
        while (next < sorted.size() && sorted.get(next).blockId() < id) {
          next++;
        }
        boolean there = next < sorted.size() && sorted.get(next).blockId() == id;
        if (!there && !arrivals.has(disk.storageUuid(), id, nowMillis)) {
          gone.add(id);
        }
        after = row.key();
      }
      invalidationRows.delete(disk, gone);
    } while (page.size() == PAGE);
  }

  /**
   * Deletes the replica rows of a failed disk, a bounded number at a time.
   *
   * @return whether rows are left
   */
  boolean forget(Disk disk) throws IOException {
    synchronized (lockOf(disk)) {
      List<Row<StorageReplicaRow>> page = rowsOf(disk, null);
      applier.applyAll(
          disk,
          page.stream().map(row -> ReportedReplica.missing(row.key().firstLong())).toList(),
          false);
      List<Long> ordered =
          invalidationRows.page(disk, null, PAGE).stream()
              .map(row -> row.key().firstLong())
              .toList();
      invalidationRows.delete(disk, ordered);
      return page.size() == PAGE || ordered.size() == PAGE;
    }
  }

  private List<Row<StorageReplicaRow>> rowsOf(Disk disk, Key after) throws IOException {
    return store.transact(
        disk.storageNumber(),
        Durability.RELAXED,
        transaction -> transaction.scan(Tables.STORAGE_REPLICA, disk.storageNumber(), after, PAGE));
  }

  /**
   * Finds the differences of a range of rows and the same range of a report, both by block id.
   *
   * @return replicas that are in both and have to be compared with further rows
   */
  private List<Known> compare(
      Disk disk,
      List<Row<StorageReplicaRow>> rows,
      List<ReportedReplica> reports,
      long nowMillis,
      int part,
      List<ReportedReplica> differences) {
    int r = 0;
    List<Known> inBoth = new ArrayList<>();
    for (Row<StorageReplicaRow> row : rows) {
      long id = row.key().firstLong();
      while (r < reports.size() && reports.get(r).blockId() < id) {
        differences.add(reports.get(r++));
      }
      if (r < reports.size() && reports.get(r).blockId() == id) {
        ReportedReplica report = reports.get(r++);
        if (!ReplicaComparison.isVerified(row.value(), report, part)) {
          inBoth.add(new Known(report, row.value()));
        }
      } else if (!arrivals.has(disk.storageUuid(), id, nowMillis)) {
        differences.add(ReportedReplica.missing(id));
      }
    }
    differences.addAll(reports.subList(r, reports.size()));
    return inBoth;
  }
}
