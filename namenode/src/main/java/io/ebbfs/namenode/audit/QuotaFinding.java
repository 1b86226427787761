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
   * A directory has limits of types of storage, and not all bytes in it are counted by type,
   * because an older version has set the limits. Until they are, all bytes count as bytes on DISK.
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

  /** Rows contradict each other in a way that nothing here mends. */
  record Damage(String text) implements QuotaFinding {}
}
