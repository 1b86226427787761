package io.ebbfs.client;

/**
 * How records are appended.
 *
 * @param lanes how many blocks of a file take records at the same time. All writers of a file use
 *     the same number
 * @param replication replicas of a new file; 0 for the default of the file system
 * @param blockSizeBytes the block size of a new file; 0 for the default of the file system
 * @param batchBytes so many bytes of records are sent at a time, if they are there
 * @param unacknowledgedBytes beyond so many bytes without an acknowledgement, {@code append} waits
 * @param idleMillis a lane that gets no record for so long is sealed
 * @param ageMillis a lane is sealed so long after its first record, so that readers see a record
 *     soon after that time at the latest. Chunk servers of an earlier version know no age
 * @param patienceMillis after so long without a lane that takes records, an append fails
 */
public record AppendOptions(
    int lanes,
    int replication,
    long blockSizeBytes,
    int batchBytes,
    int unacknowledgedBytes,
    int idleMillis,
    int ageMillis,
    long patienceMillis) {
  /** The longest record. A chunk server takes no longer batch. */
  public static final int MOST_RECORD_BYTES = 1 << 20;

  public static final int MOST_LANES = 64;
  private static final int MOST_IDLE_MILLIS = 30_000;

  /** A year. A time in nanoseconds has room for it. */
  private static final long MOST_PATIENCE_MILLIS = 365L * 24 * 3_600_000;

  /** Four lanes, and the replication and the block size that the file system has by default. */
  public static final AppendOptions DEFAULT =
      new AppendOptions(4, 0, 0, 256 << 10, 4 << 20, 5_000, 60_000, 120_000);

  public AppendOptions {
    check("lanes", lanes, 1, MOST_LANES);
    check("replication", replication, 0, Short.MAX_VALUE);
    check("batchBytes", batchBytes, 1, MOST_RECORD_BYTES);
    check("unacknowledgedBytes", unacknowledgedBytes, batchBytes, 1 << 30);
    check("idleMillis", idleMillis, 1, MOST_IDLE_MILLIS);
    check("ageMillis", ageMillis, 1, Integer.MAX_VALUE);
    check("patienceMillis", patienceMillis, 1, MOST_PATIENCE_MILLIS);
    if (blockSizeBytes != 0) {
      check("blockSizeBytes", blockSizeBytes, MOST_RECORD_BYTES, Long.MAX_VALUE);
    }
  }

  private static void check(String name, long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          "%s is %d; choose a value from %d to %d".formatted(name, value, least, most));
    }
  }

  public AppendOptions withLanes(int number) {
    return new AppendOptions(
        number,
        replication,
        blockSizeBytes,
        batchBytes,
        unacknowledgedBytes,
        idleMillis,
        ageMillis,
        patienceMillis);
  }

  public AppendOptions withFile(int replicas, long blockSize) {
    return new AppendOptions(
        lanes,
        replicas,
        blockSize,
        batchBytes,
        unacknowledgedBytes,
        idleMillis,
        ageMillis,
        patienceMillis);
  }

  public AppendOptions withAge(int millis) {
    return new AppendOptions(
        lanes,
        replication,
        blockSizeBytes,
        batchBytes,
        unacknowledgedBytes,
        idleMillis,
        millis,
        patienceMillis);
  }
}
