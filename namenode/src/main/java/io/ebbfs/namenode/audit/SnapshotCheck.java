package io.ebbfs.namenode.audit;

import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.SnapshotTables;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.SnapshotRow;
import io.ebbfs.protocol.proto.StoreProtos.VersionRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Checks the old rows that are kept for snapshots: each is kept for a snapshot that exists, or that
 * is being removed; the index names it; and the rows of inodes count them. The memory grows with
 * the number of old rows. Nobody may write meanwhile.
 */
final class SnapshotCheck {
  private final MetadataStore store;
  private final List<String> findings = new ArrayList<>();
  private final Set<Long> snapshots = new HashSet<>();
  private final Map<Long, Integer> versions = new HashMap<>();
  private long unindexed;

  private SnapshotCheck(MetadataStore store) {
    this.store = store;
  }

  static List<String> run(MetadataStore store) throws IOException {
    SnapshotCheck check = new SnapshotCheck(store);
    store.eachRow(Tables.SNAPSHOT, check::snapshot);
    store.eachRow(Tables.VERSION, check::version);
    if (check.unindexed != 0) {
      check.findings.add(
          "there are %d old rows more than places in the index".formatted(check.unindexed));
    }
    store.eachRow(Tables.INODE, check::inode);
    for (Map.Entry<Long, Integer> left : check.versions.entrySet()) {
      check.unnamed(left.getKey(), left.getValue());
    }
    return check.findings;
  }

  private void snapshot(Key key, SnapshotRow row) {
    if (key.partition() == SnapshotTables.SNAPSHOTTABLE) {
      return;
    }
    snapshots.add(
        key.partition() == SnapshotTables.DELETED
            ? SnapshotTables.versionSnapshot(key)
            : key.firstLong());
  }

  private void version(Key key, VersionRow row) throws IOException {
    if (SnapshotTables.isIndex(key)) {
      unindexed--;
      return;
    }
    unindexed++;
    long snapshotId = SnapshotTables.versionSnapshot(key);
    if (!snapshots.contains(snapshotId)) {
      findings.add(
          "an old row of inode %d is kept for snapshot %d, which does not exist"
              .formatted(row.getInode().getId(), snapshotId));
    }
    if (row.getAfter() >= snapshotId) {
      findings.add(
          "an old row of inode %d holds behind snapshot %d up to %d"
              .formatted(row.getInode().getId(), row.getAfter(), snapshotId));
    }
    versions.merge(row.getInode().getId(), 1, Integer::sum);
  }

  private void inode(Key key, InodeRow row) {
    Integer counted = versions.remove(row.getId());
    int expected = counted == null ? 0 : counted;
    if (row.getVersions() != expected) {
      findings.add(
          "inode %d says that it has %d old rows, and has %d"
              .formatted(row.getId(), row.getVersions(), expected));
    }
    if (key.partition() == Tables.KEPT_BY_SNAPSHOTS && expected == 0) {
      findings.add(
          "inode %d is deleted, and kept though no snapshot shows it".formatted(row.getId()));
    }
  }

  /** An inode without a row had no blocks, or its old rows show what is gone. */
  private void unnamed(long inodeId, int rows) throws IOException {
    Optional<InodeNameRow> name = read(t -> t.get(Tables.INODE_NAME, Tables.inodeName(inodeId)));
    if (name.isPresent()) {
      findings.add("inode %d has a name, %d old rows and no row".formatted(inodeId, rows));
    }
  }

  private interface Read<R> {
    R run(Transaction transaction) throws IOException;
  }

  private <R> R read(Read<R> read) throws IOException {
    return store.transact(0, Durability.RELAXED, read::run);
  }
}
