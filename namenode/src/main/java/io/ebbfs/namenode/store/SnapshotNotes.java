package io.ebbfs.namenode.store;

import io.ebbfs.protocol.proto.StoreProtos.SnapshotSpanProto;
import io.ebbfs.protocol.proto.StoreProtos.VersionRow;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What one transaction knows of snapshots from the rows that it has read anyway: which snapshots
 * may see the entries of the directories on its paths. A directory of which nothing is noted is
 * seen by none. Used by one thread.
 */
public final class SnapshotNotes {
  // Made with the first note: most transactions read no directory with snapshots.
  private Map<Long, List<SnapshotSpanProto>> spans = Map.of();
  private Map<Long, Long> tops = Map.of();
  private Set<Key> absent = Set.of();
  private Map<Key, Optional<VersionRow>> versions = Map.of();

  /** Notes that snapshots may see the entries of a directory. */
  public void note(long directoryId, List<SnapshotSpanProto> seenBy) {
    if (seenBy.isEmpty()) {
      return;
    }
    if (spans.isEmpty()) {
      spans = new HashMap<>();
    }
    spans.merge(directoryId, seenBy, SnapshotTables::merged);
  }

  /** The snapshots that may see the entries of a directory. */
  public List<SnapshotSpanProto> of(long directoryId) {
    return spans.getOrDefault(directoryId, List.of());
  }

  /**
   * Notes a directory that may have snapshots, on a path of the transaction. The ledger checks
   * before the commit that the directory has no newer snapshot. If the transaction notes a
   * directory twice, both notes must hold.
   *
   * @param newest the id of its newest snapshot, as the transaction has seen it; 0 for none
   */
  public void noteTop(long directoryId, long newest) {
    if (tops.isEmpty()) {
      tops = new TreeMap<>();
    }
    tops.merge(directoryId, newest, Math::min);
  }

  /** The directories that may have snapshots, with the newest snapshot that was seen. */
  Map<Long, Long> tops() {
    return tops;
  }

  /**
   * Notes that no row was found of a snapshot of which another row tells. The snapshot was deleted,
   * or one sees a part of the commit that creates it: the ledger looks again under a lock.
   */
  void noteAbsent(Key snapshot) {
    if (absent.isEmpty()) {
      absent = new TreeSet<>();
    }
    absent.add(snapshot);
  }

  Set<Key> absent() {
    return absent;
  }

  /**
   * Notes an old row as the transaction has seen it, to remove it. The ledger looks again under a
   * lock, behind the locks of all inodes and quotas.
   */
  public void noteVersion(Key version, Optional<VersionRow> seen) {
    if (versions.isEmpty()) {
      versions = new TreeMap<>();
    }
    versions.put(version, seen);
  }

  Map<Key, Optional<VersionRow>> versions() {
    return versions;
  }

  /** Forgets everything, before the transaction resolves its only path again. */
  public void forget() {
    spans = Map.of();
    tops = Map.of();
    absent = Set.of();
    versions = Map.of();
  }

  public boolean isEmpty() {
    return spans.isEmpty() && tops.isEmpty() && absent.isEmpty() && versions.isEmpty();
  }
}
