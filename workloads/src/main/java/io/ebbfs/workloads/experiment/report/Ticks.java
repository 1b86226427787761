package io.ebbfs.workloads.experiment.report;

import java.util.ArrayList;
import java.util.List;

/** Round numbers along an axis. */
final class Ticks {
  private Ticks() {}

  /** About so many steps of 1, 2 or 5 times a power of ten, within the two ends. */
  static List<Double> between(double from, double to, int about) {
    double rough = (to - from) / about;
    double power = Math.pow(10, Math.floor(Math.log10(rough)));
    double step =
        power * (rough / power > 5 ? 10 : rough / power > 2 ? 5 : rough / power > 1 ? 2 : 1);
    List<Double> ticks = new ArrayList<>();
    for (long i = (long) Math.ceil(from / step - 1e-9); i * step <= to + step * 1e-9; i++) {
      ticks.add(i * step);
    }
    return ticks;
  }

  /** Without needless zeros. */
  static String text(double value) {
    if (Math.abs(value) >= 1000) {
      return Format.of("%,.0f", value);
    }
    String text = Format.of("%.3f", value);
    return text.contains(".") ? text.replaceAll("0+$", "").replaceAll("\\.$", "") : text;
  }
}
