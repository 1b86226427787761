package io.ebbfs.namenode.placement;

/**
 * Whether a disk should get new blocks. A disk that is not {@link #GOOD} gets none as long as
 * another disk can take the block. If no other can, the disks of the next grade in this order are
 * tried, too.
 */
public enum TargetGrade {
  /** Nothing speaks against the disk. */
  GOOD,

  /** The disk or its server has much more to do than others ({@link BusyDisks}). This passes. */
  BUSY,

  /** At least 95% of the disk are used. */
  FULL,

  /** Calls of the disk have failed lately: blocks on it may be lost soon. */
  ERRING;

  /** Whether this grade is the other one or a better one. */
  public boolean isNoWorseThan(TargetGrade other) {
    return compareTo(other) <= 0;
  }
}
