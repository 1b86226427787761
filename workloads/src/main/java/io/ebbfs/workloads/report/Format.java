package io.ebbfs.workloads.report;

import java.util.Locale;

/** Formats numbers for people. Null means not measured and becomes a dash. */
final class Format {
  static final String NONE = "–";

  private Format() {}

  static String of(String format, Object... arguments) {
    return String.format(Locale.ROOT, format, arguments);
  }

  /** "25.3%" of 0.253. */
  static String percent(Double share) {
    if (share == null) {
      return NONE;
    }
    String text = of("%.1f%%", 100 * share);
    return text.equals("-0.0%") ? "0.0%" : text;
  }

  /** Three significant digits or so: "1,240", "52.1", "3.07", "0.012". */
  static String number(Double value) {
    if (value == null) {
      return NONE;
    }
    double size = Math.abs(value);
    if (size == 0) {
      return "0";
    }
    return of(
        size >= 1000
            ? "%,.0f"
            : size >= 100
                ? "%.0f"
                : size >= 10 ? "%.1f" : size >= 1 ? "%.2f" : size >= .1 ? "%.3f" : "%.4f",
        value);
  }

  /** Without needless zeros: "1.5", "1.45". */
  static String plain(double value) {
    String text = of("%.3f", value);
    return text.replaceAll("0+$", "").replaceAll("\\.$", "");
  }

  static String factor(Double value) {
    return value == null ? NONE : of("%.3f×", value);
  }

  /** "median (low–high)"; the median alone if there was one repetition. */
  static String spread(Spread spread) {
    if (spread == null) {
      return NONE;
    }
    return spread.count() == 1
        ? number(spread.median())
        : "%s (%s–%s)"
            .formatted(number(spread.median()), number(spread.low()), number(spread.high()));
  }

  static String bytes(double bytes) {
    String[] units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    int unit = 0;
    double value = bytes;
    while (Math.abs(value) >= 1024 && unit < units.length - 1) {
      value /= 1024;
      unit++;
    }
    return of(unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  }
}
