package io.ebbfs.namenode.store;

import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

/** The inodes of a transaction that count in a counted directory, before it or after it. */
final class QuotaChanges {
  /** Both sides of one inode; null where it does not count, or does not exist. */
  static final class Sides {
    private InodeRow before;
    private InodeRow after;

    InodeRow before() {
      return before;
    }

    InodeRow after() {
      return after;
    }
  }

  // Made with the first such inode: most stores have no quotas.
  private Map<Long, Sides> inodes = Map.of();

  /**
   * Notes one row of the table inode. A rename writes two: the inode leaves one and enters another.
   */
  void note(InodeRow before, InodeRow after) {
    if (counts(before)) {
      sides(before.getId()).before = before;
    }
    if (counts(after)) {
      sides(after.getId()).after = after;
    }
  }

  private static boolean counts(InodeRow row) {
    return row != null && (row.hasCountedIn() || row.getCounted());
  }

  private Sides sides(long inodeId) {
    if (inodes.isEmpty()) {
      inodes = new LinkedHashMap<>();
    }
    return inodes.computeIfAbsent(inodeId, id -> new Sides());
  }

  boolean isEmpty() {
    return inodes.isEmpty();
  }

  Collection<Sides> inodes() {
    return inodes.values();
  }
}
