package io.ebbfs.namenode.files.trash;

/**
 * How long the trash keeps what users have removed.
 *
 * @param intervalMillis a checkpoint that is older is deleted; 0: there is no trash
 * @param checkpointMillis the time between two checkpoints; 0: as long as the interval
 */
public record TrashSettings(long intervalMillis, long checkpointMillis) {
  /** Clients delete at once, and the namenode leaves what is in the trash. */
  public static final TrashSettings OFF = new TrashSettings(0, 0);

  private static final long MINUTE_MILLIS = 60_000;

  public boolean isOn() {
    return intervalMillis > 0;
  }

  /** The time between two checkpoints. */
  public long everyMillis() {
    return checkpointMillis == 0 ? intervalMillis : checkpointMillis;
  }

  /** The interval as clients are told it. */
  public long intervalMinutes() {
    return intervalMillis / MINUTE_MILLIS;
  }

  /** Whether clients can be told the interval. */
  public boolean isWholeMinutes() {
    return intervalMillis % MINUTE_MILLIS == 0;
  }
}
