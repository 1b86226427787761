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
    private boolean deletedBefore;
    private boolean deletedAfter;

    InodeRow before() {
      return before;
    }

    InodeRow after() {
      return after;
    }

    /**
     * Whether the inode counts at the same place as before, and with as many bytes of each type.
     */
    boolean countsAsBefore() {
      return before != null
          && after != null
          && before.getCounted() == after.getCounted()
          && before.getCountedIn() == after.getCountedIn()
          && before.getCountedBytes() == after.getCountedBytes()
          && deletedBefore == deletedAfter
          && hasTypesAsBefore();
    }

    private boolean hasTypesAsBefore() {
      return before.getCountedTypes() == after.getCountedTypes()
          && before.getStoragePolicy() == after.getStoragePolicy()
          && before.getReplication() == after.getReplication()
          && before.hasEcPolicyId() == after.hasEcPolicyId();
    }

    /** 1 if the inode was a pending deletion before the transaction, else 0. */
    int deletedBefore() {
      return deletedBefore ? 1 : 0;
    }

    /** 1 if the inode is a pending deletion after the transaction, else 0. */
    int deletedAfter() {
      return deletedAfter ? 1 : 0;
    }
  }

  // Made with the first such inode: most stores have no quotas.
  private Map<Long, Sides> inodes = Map.of();

  /**
   * Notes one row of the table inode. A rename writes two: the inode leaves one and enters another.
   */
  void note(Key key, InodeRow before, InodeRow after) {
    if (counts(before)) {
      Sides sides = sides(before.getId());
      sides.before = before;
      sides.deletedBefore = isDeleted(key, before);
    }
    if (counts(after)) {
      Sides sides = sides(after.getId());
      sides.after = after;
      sides.deletedAfter = isDeleted(key, after);
    }
  }

  /** A directory that is counted by itself has freed its room when it was deleted. */
  private static boolean isDeleted(Key key, InodeRow row) {
    return key.partition() == Tables.PENDING_DELETIONS && !row.getCounted();
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
