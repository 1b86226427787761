package io.ebbfs.manager.economics;

import java.util.Map;

/**
 * What the cluster has seen that tells what a code is worth. Immutable.
 *
 * @param memoryHalfLifeMillis a remembered read counts half after this time
 * @param countedDays for how long reads have been counted, and none were lost
 * @param reads remembered opens, each of which stands for one read of each block of the file
 * @param convertedBytes by policy: logical bytes that were converted within the last 24 hours
 */
public record Experience(
    FailureRates rates,
    long memoryHalfLifeMillis,
    double countedDays,
    ReadCounts reads,
    Map<String, Long> convertedBytes) {
  /** Milliseconds. */
  public static final double DAY = 86_400_000;

  /** A half-life of seven days. */
  public static final long WEEK_MILLIS = 7L * 86_400_000;

  /** Published failure rates; for a year nobody has read anything. */
  public static final Experience NONE = of(Map.of());

  /** Published failure rates; reads were counted for a year, with a half-life of a week. */
  public static Experience of(Map<Long, Double> reads) {
    return new Experience(FailureRates.PRIOR, WEEK_MILLIS, 365, ReadCounts.of(reads), Map.of());
  }

  public double readsOf(long fileId) {
    return reads.of(fileId);
  }

  /** The same, with other counts of reads. */
  public Experience withReads(ReadCounts other) {
    return new Experience(rates, memoryHalfLifeMillis, countedDays, other, convertedBytes);
  }

  /**
   * The days that the memory covers: at a steady rate, the remembered reads are those of so many
   * days.
   */
  public double memoryDays() {
    return memoryHalfLifeMillis / DAY / Math.log(2);
  }
}
