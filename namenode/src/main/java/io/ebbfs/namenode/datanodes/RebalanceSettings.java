package io.ebbfs.namenode.datanodes;

/**
 * How the fullness of the disks is levelled in the background.
 *
 * @param on whether it is
 * @param threshold a disk is too full, or too empty, if its used share differs by more than this
 *     from the mean
 * @param bytesPerSecond of all moves together
 * @param moves so many moves are under way at most
 */
public record RebalanceSettings(boolean on, double threshold, long bytesPerSecond, int moves) {
  /** Off, within ten percent of the capacity. */
  public static final RebalanceSettings DEFAULTS = new RebalanceSettings(false, 0.1, 20L << 20, 16);

  public RebalanceSettings {
    if (!(threshold > 0 && threshold < 1)) {
      throw new IllegalArgumentException(
          "the threshold %s of the rebalance is no share: choose one between 0 and 1, such as 0.1"
              .formatted(threshold));
    }
    if (bytesPerSecond < 1) {
      throw new IllegalArgumentException(
          "the rebalance may move %d bytes in a second: choose 1 or more, such as 20MiB"
              .formatted(bytesPerSecond));
    }
    if (moves < 1) {
      throw new IllegalArgumentException(
          "the rebalance may have %d moves under way: choose 1 or more".formatted(moves));
    }
  }

  public RebalanceSettings with(boolean newOn, double newThreshold, long newBytesPerSecond) {
    return new RebalanceSettings(newOn, newThreshold, newBytesPerSecond, moves);
  }
}
