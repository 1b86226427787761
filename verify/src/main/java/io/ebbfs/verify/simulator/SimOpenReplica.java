package io.ebbfs.verify.simulator;

/**
 * A replica that a client is writing, or that was left when its client or its server died. Used by
 * one thread.
 */
final class SimOpenReplica {
  final SimDisk disk;
  final long blockId;
  private long generationStamp;
  private long lengthBytes;
  private boolean abandoned;
  private long syncedBytes;
  private boolean damaged;

  SimOpenReplica(SimDisk disk, long blockId, long generationStamp, long lengthBytes) {
    this.disk = disk;
    this.blockId = blockId;
    this.generationStamp = generationStamp;
    this.lengthBytes = lengthBytes;
  }

  long generationStamp() {
    return generationStamp;
  }

  long lengthBytes() {
    return lengthBytes;
  }

  /** Whether its server has started since the last write (HDFS: RWR, else RBW). */
  boolean isAbandoned() {
    return abandoned;
  }

  /** The server stops: nobody can write the replica on. */
  void abandon() {
    abandoned = true;
  }

  /** The bytes behind the length stay in the file, although no checksum covers them. */
  void damage() {
    damaged = true;
  }

  /** Whether the server drops the replica once it is finalized. */
  boolean isDamaged() {
    return damaged;
  }

  /** The bytes up to this length are on the disk. */
  void noteSynced(long syncedLengthBytes) {
    syncedBytes = syncedLengthBytes;
  }

  long syncedBytes() {
    return Math.min(syncedBytes, lengthBytes);
  }

  /** Only the disk calls this: it counts the bytes. */
  void resize(long newLengthBytes) {
    lengthBytes = newLengthBytes;
  }

  void stamp(long newStamp) {
    generationStamp = newStamp;
  }

  /** The finalized replica. */
  SimBlock finalized() {
    return new SimBlock(blockId, generationStamp, lengthBytes, BlockContent.of(blockId));
  }

  @Override
  public String toString() {
    return "%d_%d of %d bytes%s@%s"
        .formatted(
            blockId, generationStamp, lengthBytes, abandoned ? ", abandoned" : "", disk.uuid);
  }
}
