package io.ebbfs.manager.config;

import java.util.Locale;

/**
 * When data counts as read-hot: decayed reads per MiB, or decayed reads per file, at or above the
 * threshold. A stripe's reads per file are those of its files, weighted by their bytes in it.
 */
public record ReadHot(Unit unit, double threshold) {
  /** What the reads are counted by. */
  public enum Unit {
    PER_MIB,
    PER_FILE
  }

  /** "0.5 reads/MiB". */
  public String show() {
    return String.format(Locale.ROOT, "%.3g %s", threshold, unitName());
  }

  public String unitName() {
    return unit == Unit.PER_MIB ? "reads/MiB" : "reads/file";
  }
}
