package io.ebbfs.manager.config;

import java.util.Locale;

/**
 * Data is read-hot if its decayed reads per MiB, or per file, reach the threshold. The reads per
 * file of a stripe are the mean of its files' reads, weighted by their bytes in the stripe.
 */
public record ReadHot(Unit unit, double threshold) {
  /** For a policy that ignores heat. */
  public static final ReadHot NEVER = new ReadHot(Unit.PER_MIB, Double.POSITIVE_INFINITY);

  /** The unit of the threshold. */
  public enum Unit {
    PER_MIB,
    PER_FILE
  }

  /** "0.5 reads/MiB", or "never". */
  public String show() {
    return Double.isInfinite(threshold)
        ? "never"
        : String.format(Locale.ROOT, "%.3g %s", threshold, unitName());
  }

  public String unitName() {
    return unit == Unit.PER_MIB ? "reads/MiB" : "reads/file";
  }
}
