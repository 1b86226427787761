package io.ebbfs.workloads.report;

import io.ebbfs.workloads.report.DegradedReads.Point;
import io.ebbfs.workloads.report.Reconstruction.Loss;
import io.ebbfs.workloads.results.Results;
import io.ebbfs.workloads.results.Results.SystemInfo;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The effect of one setting: it compares systems that differ in this setting alone. A variant is
 * named {@code NAME@KEY=VALUE}. The name of the system that all variants differ from has all
 * settings: {@code NAME@KEY=VALUE@KEY=VALUE...}. Systems of one pair of codes with a threshold and
 * several bounds are variants of the bound.
 */
final class Sensitivity {
  private static final Pattern NUMBER = Pattern.compile("(\\d+(?:\\.\\d+)?)([a-zA-Z%]*)");
  private static final Map<String, Double> UNITS =
      Map.of("ms", .001, "s", 1.0, "m", 60.0, "min", 60.0, "h", 3600.0, "d", 86_400.0, "%", .01);

  /** All variants of a setting. */
  record Setting(String key, List<Line> lines) {}

  /** The variants of one base system, by rising value. */
  record Line(String base, List<Variant> variants) {}

  /**
   * A variant. A figure that was not measured is null.
   *
   * @param degradedMillis mean of the workloads
   * @param overhead mean of the workloads
   * @param conversions to compact and to fast
   * @param moved blocks per lost data block of a disk, or of a server if no disk was lost
   */
  record Variant(
      String system,
      String value,
      Double degradedMillis,
      Double overhead,
      long conversions,
      Double moved) {}

  private Sensitivity() {}

  static List<Setting> of(Systems systems) {
    Map<String, Map<String, List<Variant>>> settings = new LinkedHashMap<>();
    bounds(systems, settings);
    for (Results r : systems.all()) {
      String[] parts = r.system().name().split("@");
      for (int p = 1; p < parts.length; p++) {
        String[] setting = parts[p].split("=", 2);
        if (setting.length == 2 && Trace.perDay(r) == null) {
          add(settings, setting[0], parts[0], variant(r, setting[1]));
        }
      }
    }
    List<Setting> sorted = new ArrayList<>();
    settings.forEach((key, lines) -> sorted.add(new Setting(key, lines(lines))));
    return sorted;
  }

  private static void bounds(Systems systems, Map<String, Map<String, List<Variant>>> settings) {
    Map<String, List<Results>> pairs = new LinkedHashMap<>();
    for (Results r : systems.compared()) {
      if (r.system().adapts() && !r.system().weighsCosts()) {
        String pair = r.system().fast() + " and " + r.system().compact();
        pairs.computeIfAbsent(pair, p -> new ArrayList<>()).add(r);
      }
    }
    pairs.forEach(
        (pair, several) -> {
          if (several.size() > 1) {
            several.forEach(r -> add(settings, "bound", pair, variant(r, bound(r.system()))));
          }
        });
  }

  static String bound(SystemInfo system) {
    return system.bound() == null ? "none" : String.valueOf(system.bound());
  }

  private static void add(
      Map<String, Map<String, List<Variant>>> settings, String key, String base, Variant variant) {
    settings
        .computeIfAbsent(key, k -> new LinkedHashMap<>())
        .computeIfAbsent(base, b -> new ArrayList<>())
        .add(variant);
  }

  private static List<Line> lines(Map<String, List<Variant>> byBase) {
    List<Line> lines = new ArrayList<>();
    byBase.forEach(
        (base, variants) ->
            lines.add(
                new Line(
                    base,
                    variants.stream()
                        .sorted(
                            Comparator.comparingDouble((Variant v) -> number(v.value))
                                .thenComparing(Variant::value))
                        .toList())));
    return lines;
  }

  private static Variant variant(Results r, String value) {
    List<Point> points = DegradedReads.points(r);
    Loss loss = Reconstruction.losses(r).stream().findFirst().orElse(null);
    return new Variant(
        r.system().name(),
        value,
        mean(points.stream().map(p -> p.millis().median()).toList()),
        mean(r.workloads().stream().map(w -> w.encodedOverhead()).toList()),
        Encoding.count(r, "UPCODE") + Encoding.count(r, "DOWNCODE"),
        loss == null || loss.movedPerDataBlock() == null
            ? null
            : loss.movedPerDataBlock().median());
  }

  private static Double mean(List<Double> values) {
    return values.isEmpty()
        ? null
        : values.stream().filter(Objects::nonNull).mapToDouble(v -> v).average().orElseThrow();
  }

  /** A value to sort by: "30m" is 1800, "10%" is 0.1, and a text without a number comes last. */
  static double number(String value) {
    Matcher matcher = NUMBER.matcher(value);
    return matcher.matches()
        ? Double.parseDouble(matcher.group(1)) * UNITS.getOrDefault(matcher.group(2), 1.0)
        : Double.MAX_VALUE;
  }
}
