package io.ebbfs.verify.policy;

/**
 * The steps of a run.
 *
 * @param millis length of each
 * @param countedDays for how long reads had been counted when the first step began
 * @param wholeBlocks failures of a cluster with fewer blocks in stripes count less, in proportion
 */
record Steps(long millis, double countedDays, double wholeBlocks) {
  /** The data is new; the cluster is large, and not new. */
  static final Steps HOURS = new Steps(3_600_000, 365, 0);

  private static final double HOUR_MILLIS = 3_600_000;

  double hours() {
    return millis / HOUR_MILLIS;
  }

  /** How much the failures of a cluster with so many blocks in stripes count. */
  double weight(long stripeBlocks) {
    return stripeBlocks < wholeBlocks ? stripeBlocks / wholeBlocks : 1;
  }
}
