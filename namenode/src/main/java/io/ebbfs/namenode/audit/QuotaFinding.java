package io.ebbfs.namenode.audit;

import io.ebbfs.namenode.store.QuotaCorrection.Difference;

/** Something that does not fit among the rows of quotas, in a sentence and as what mends it. */
sealed interface QuotaFinding {
  /** A sentence for the operator. */
  String text();

  /** The sums of a counted directory are not those of its inodes, or its credits are too high. */
  record WrongSums(Difference difference, String text) implements QuotaFinding {}

  /**
   * No number of pending deletions is kept yet, because the rows are of an older version. Nothing
   * is wrong: a call that is refused waits longer than it has to.
   */
  record UnknownDeletions(Difference difference, String text) implements QuotaFinding {}

  /**
   * A directory has limits of types of storage, or its row says that bytes in it count by type, and
   * not all are known to do so. An older version has set the limits, or has counted the directory,
   * or a walk goes on or was broken off. Where limits are, all bytes count as bytes on DISK.
   */
  record UncountedTypes(long directoryId, String text) implements QuotaFinding {}

  /** A file counts with other bytes than it has. */
  record WrongBytes(long inodeId, String text) implements QuotaFinding {}

  /**
   * An inode counts elsewhere than its directory says, or not by type of storage as its directory
   * says.
   *
   * @param home the counted directory where the inode should count; 0 if it should count nowhere
   */
  record WrongMark(long home, String text) implements QuotaFinding {}

  /**
   * The shards of a directory know another storage policy than its row, because an older version
   * has counted the directory. A policy that is set anew puts that right.
   */
  record WrongPolicy(long directoryId, String text) implements QuotaFinding {}

  /** Rows contradict each other in a way that nothing here mends. */
  record Damage(String text) implements QuotaFinding {}
}
