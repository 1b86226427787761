package io.ebbfs.namespace.simulation;

/** Faults of the programs themselves, planted to see that the simulation finds them. */
enum Bug {
  NONE,
  /** A worker reports outputs that nobody wrote. */
  COMMITS_WITHOUT_WRITING,
  /** Chunk servers combine their first two sources with each other's coefficients. */
  SWAPS_SOURCES,
  /** Wrong outputs are published, since the worker says that all checks were passed. */
  SKIPS_CHECKS,
  /** The namenode trusts what a repair has written before its checks. */
  TRUSTS_UNVERIFIED,
  /** The namenode takes the commit of an older attempt, or of another worker, for the latest. */
  ACCEPTS_OLD_ATTEMPTS,
  /** The store does not delete rows of owners. */
  FORGETS_DELETIONS,
  /** A crash leaves half of what a transaction wrote. */
  TEARS_TRANSACTIONS,
  /** Chunk servers delete the replica that they were told about and another one. */
  DELETES_TOO_MUCH
}
