package io.ebbfs.manager.config;

import java.util.Locale;

/**
 * When data counts as read-hot: decayed reads per MiB, or decayed reads per file, at or above the
 * threshold. A stripe's reads per file are those of its files, weighted by their bytes in it.
 */
public record ReadHot(Unit unit, double threshold) {
  /** Of a policy to which heat makes no difference. */
  public static final ReadHot NEVER = new ReadHot(Unit.PER_MIB, Double.POSITIVE_INFINITY);

  /** What the reads are counted by. */
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
