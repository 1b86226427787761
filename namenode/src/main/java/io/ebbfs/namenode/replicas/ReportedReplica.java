package io.ebbfs.namenode.replicas;

/** The news of one replica on one disk, from a block report. */
public record ReportedReplica(long blockId, long generationStamp, long lengthBytes, Kind kind) {

  /** The kinds of news. */
  public enum Kind {
    /** The replica is finalized. */
    FINALIZED,
    /** The replica is half-written and has no writer any more. */
    ABANDONED,
    /** A client is writing the replica. */
    WRITING,
    /** The server has deleted the replica. */
    DELETED,
    /** The store has a row for the replica, and a full report does not name it. */
    MISSING
  }

  static ReportedReplica missing(long blockId) {
    return new ReportedReplica(blockId, 0, 0, Kind.MISSING);
  }

  boolean isGone() {
    return kind == Kind.DELETED || kind == Kind.MISSING;
  }
}
