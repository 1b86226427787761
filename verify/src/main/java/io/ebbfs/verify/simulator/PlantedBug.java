package io.ebbfs.verify.simulator;

/** Bugs that are planted in the programs, to see that the simulation finds them. */
enum PlantedBug {
  NONE,
  /** A worker commits outputs that no server has written. */
  COMMITS_WITHOUT_WRITING,
  /** Chunk servers swap the coefficients of the first two sources of a combine. */
  SWAPS_SOURCES,
  /**
   * A worker says that all checks have passed without running them, so wrong outputs are published.
   */
  SKIPS_CHECKS,
  /** The namenode counts an output of a repair as live before its checks. */
  TRUSTS_UNVERIFIED,
  /** The namenode accepts the commit of an older attempt or of another worker. */
  ACCEPTS_OLD_ATTEMPTS,
  /** The store does not delete rows of block owners. */
  FORGETS_DELETIONS,
  /** A crash leaves half of the writes of a transaction. */
  TEARS_TRANSACTIONS,
  /** Chunk servers delete one more replica than they were told to. */
  DELETES_TOO_MUCH,
  /** The namenode publishes new stripes without asking which servers live. */
  PUBLISHES_UNASKED,
  /**
   * A server that scans its disks says that it has no block, and a worker reports such blocks as
   * wrong for good.
   */
  ANSWERS_BEFORE_SCAN,
  /** The namenode marks a replica as corrupt because a client says so, and asks nobody. */
  BELIEVES_CLIENTS,
  /**
   * A server that scans its disks tells block recoveries that it has no replica, and the namenode
   * takes every result of a recovery.
   */
  RECOVERS_BEFORE_SCAN,
  /** The replicas that an encoding keeps are not synced to their disks before the others go. */
  KEEPS_UNSYNCED
}
