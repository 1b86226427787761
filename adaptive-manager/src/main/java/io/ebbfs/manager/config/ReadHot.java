package io.ebbfs.manager.config;

import java.util.Locale;

/**
 * Data is read-hot if its decayed reads per MiB, or per file, reach the threshold; or, with {@link
 * #AUTO}, if a conversion earns more than it costs. The reads per file of a stripe are the mean of
 * its files' reads, weighted by their bytes in the stripe.
 */
public record ReadHot(Unit unit, double threshold) {
  /** For a policy that ignores heat. */
  public static final ReadHot NEVER = new ReadHot(Unit.PER_MIB, Double.POSITIVE_INFINITY);

  /** What a conversion earns and costs decides. */
  public static final ReadHot AUTO = new ReadHot(Unit.AUTO, Double.NaN);

  /** The unit of the threshold. */
  public enum Unit {
    PER_MIB,
    PER_FILE,
    /** There is no threshold. */
    AUTO
  }

  /** "0.5 reads/MiB", "never" or "auto". */
  public String show() {
    if (unit == Unit.AUTO) {
      return "auto";
    }
    return Double.isInfinite(threshold)
        ? "never"
        : String.format(Locale.ROOT, "%.3g %s", threshold, unitName());
  }

  public String unitName() {
    return unit == Unit.PER_MIB ? "reads/MiB" : "reads/file";
  }
}
