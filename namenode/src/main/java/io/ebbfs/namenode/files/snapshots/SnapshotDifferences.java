package io.ebbfs.namenode.files.snapshots;

import java.util.List;

/**
 * How two states of a directory differ. Paths are lists of names below the directory.
 *
 * @param root the path of the directory with snapshots
 * @param isFromEarlier whether the first state that was asked for is the earlier one
 */
public record SnapshotDifferences(
    String root,
    boolean isFromEarlier,
    List<Change> modified,
    List<Change> created,
    List<Change> deleted) {
  /**
   * A change.
   *
   * @param directoryId the directory that has changed; of a modified file the file itself
   * @param path in the earlier state; of something created, behind the earlier path of its
   *     directory
   * @param isMoved whether something deleted is in the later state, or something created was in the
   *     earlier one; of something modified, whether it is a directory
   * @param target where something deleted is in the later state; null if it is not there
   */
  public record Change(
      long directoryId, long inodeId, List<byte[]> path, boolean isMoved, List<byte[]> target) {}
}
