package io.ebbfs.verify.policy;

/** Counts the block moves of one system. Not thread-safe. */
final class Ledger {
  /** A reader fetches the sources of a block one after the other at 200 Mbit/s: 64 MiB each. */
  static final double MILLIS_PER_BLOCK = 64.0 * (1 << 20) * 8 / 200e6 * 1000;

  private final long blocks;
  private final int hours;
  double ingest;
  double encode;
  double convert;
  double repair;
  double degraded;

  /** The parts of the repairs and degraded reads that copy replicas. */
  double repairOfReplicas;

  double degradedOfReplicas;
  double absentReads;

  /** The parts of degraded and absentReads in the files that are read most in their day. */
  double hotDegraded;

  double hotAbsentReads;
  double storedBlockHours;
  double conversions;

  Ledger(long blocks, int hours) {
    this.blocks = blocks;
    this.hours = hours;
  }

  /**
   * The figures of a system. The sums are bytes per stored logical byte and day.
   *
   * @param degradedMillis mean time of a read of an absent block
   * @param stored bytes per logical byte, replicas of the first hours included
   * @param conversions per file and day
   * @param hotDegradedMillis mean time of a read of an absent block of the files that are read most
   *     in their day; null if there was none, and in files that were written before this figure
   *     existed
   */
  record Figures(
      double ingest,
      double encode,
      double convert,
      double repair,
      double degraded,
      double degradedMillis,
      double stored,
      double conversions,
      Double hotDegradedMillis) {
    double net() {
      return ingest + encode + convert + repair + degraded;
    }

    /** Net bytes, and the bytes that readers wait for once more, at the price 1. */
    double objective() {
      return objective(1);
    }

    /** Net bytes, and the bytes that readers wait for once more, at a price. */
    double objective(double reader) {
      return net() + reader * degraded;
    }
  }

  /**
   * Adds reads of blocks that are absent.
   *
   * @param absent such blocks
   * @param read blocks that are read in their place
   * @param hot whether their file is one of those that are read most in the day
   */
  void addReads(double absent, double read, boolean hot) {
    absentReads += absent;
    degraded += read;
    if (hot) {
      hotAbsentReads += absent;
      hotDegraded += read;
    }
  }

  /** Adds a part of another ledger. */
  void add(Ledger other, double part) {
    ingest += part * other.ingest;
    encode += part * other.encode;
    convert += part * other.convert;
    repair += part * other.repair;
    repairOfReplicas += part * other.repairOfReplicas;
    degraded += part * other.degraded;
    degradedOfReplicas += part * other.degradedOfReplicas;
    absentReads += part * other.absentReads;
    hotDegraded += part * other.hotDegraded;
    hotAbsentReads += part * other.hotAbsentReads;
    storedBlockHours += part * other.storedBlockHours;
    conversions += part * other.conversions;
  }

  /** Blocks stored per data block, as a mean over all steps. */
  double storedPerBlock() {
    return storedBlockHours / blocks / hours;
  }

  Figures figures(int files) {
    double blockDays = blocks * hours / 24.0;
    return new Figures(
        ingest / blockDays,
        encode / blockDays,
        convert / blockDays,
        repair / blockDays,
        degraded / blockDays,
        absentReads == 0 ? 0 : degraded / absentReads * MILLIS_PER_BLOCK,
        storedPerBlock(),
        conversions / files / (hours / 24.0),
        hotAbsentReads == 0 ? null : hotDegraded / hotAbsentReads * MILLIS_PER_BLOCK);
  }
}
