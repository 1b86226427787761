package io.ebbfs.manager.economics;

import java.util.Map;

/**
 * What the cluster has seen that tells what a code is worth. Immutable.
 *
 * @param memoryHalfLifeMillis a remembered read counts half after this time
 * @param reads by file id: the reads that are remembered; a file that is absent was not read
 * @param convertedBytes by policy: logical bytes that were converted within the last 24 hours
 */
public record Experience(
    FailureRates rates,
    long memoryHalfLifeMillis,
    Map<Long, Remembered> reads,
    Map<String, Long> convertedBytes) {
  private static final double MILLIS_PER_DAY = 86_400_000;

  /** A half-life of seven days. */
  public static final long WEEK_MILLIS = 7L * 86_400_000;

  /** Of a cluster that was just started. */
  public static final Experience NONE =
      new Experience(FailureRates.PRIOR, WEEK_MILLIS, Map.of(), Map.of());

  /**
   * The reads of a file.
   *
   * @param opens remembered opens, each of which stands for one read of each block
   * @param lastMillis the time of the last open
   */
  public record Remembered(double opens, long lastMillis) {
    static final Remembered NEVER = new Remembered(0, 0);
  }

  /** Nothing was converted. */
  public Experience(FailureRates rates, long memoryHalfLifeMillis, Map<Long, Remembered> reads) {
    this(rates, memoryHalfLifeMillis, reads, Map.of());
  }

  public Remembered of(long fileId) {
    return reads.getOrDefault(fileId, Remembered.NEVER);
  }

  /**
   * The days that the memory covers: at a steady rate, the remembered reads are those of so many
   * days.
   */
  public double memoryDays() {
    return memoryHalfLifeMillis / MILLIS_PER_DAY / Math.log(2);
  }
}
