package io.ebbfs.workloads.report;

import java.util.ArrayList;
import java.util.List;

/** Prints the systems in a table, and the verdicts on goals and claims. */
final class ConsoleSummary {
  private ConsoleSummary() {}

  static List<String> lines(Figures figures) {
    List<String> lines = new ArrayList<>();
    if (figures.compared() > 0) {
      systems(figures, lines);
    }
    for (Sensitivity.Setting setting : figures.sensitivity()) {
      setting
          .lines()
          .forEach(line -> line.variants().forEach(v -> lines.add(line(setting.key(), line, v))));
    }
    for (Trace.PerDay t : figures.trace()) {
      lines.add(
          "%s, %s: %s conversions to compact and %s to fast a day"
              .formatted(
                  t.title(),
                  t.workload(),
                  Format.number(t.upcodesPerDay()),
                  Format.number(t.downcodesPerDay())));
    }
    lines.add("");
    for (Claim.By by : Claim.By.values()) {
      lines.add(
          Format.of(
              "%-16s%d confirmed, %d refuted, %d not measured here",
              by == Claim.By.GOAL ? "goals" : "paper's claims",
              count(figures, by, Claim.Verdict.CONFIRMED),
              count(figures, by, Claim.Verdict.REFUTED),
              count(figures, by, Claim.Verdict.NOT_MEASURED)));
    }
    figures.claims().stream()
        .filter(c -> c.by() == Claim.By.GOAL)
        .filter(c -> c.verdict() == Claim.Verdict.REFUTED || c.atTheEdge())
        .forEach(c -> lines.add("  " + c.verdictText() + ": " + c.text() + ": " + c.measured()));
    return lines;
  }

  private static void systems(Figures figures, List<String> lines) {
    lines.add(
        Format.of(
            "%-28s%10s%16s%18s%14s",
            "system", "overhead", "degraded read", "disk, s per", "blocks moved"));
    lines.add(
        Format.of("%-28s%10s%16s%18s%14s", "", "mean", "mean ms", "lost data block", "per same"));
    for (Figures.Run run : figures.runs()) {
      if (!run.variant()) {
        lines.add(line(figures, run.system().name(), run.system().title()));
      }
    }
  }

  private static String line(String key, Sensitivity.Line line, Sensitivity.Variant v) {
    return "%s, %s %s: degraded read %s ms, overhead %s, %d conversions"
        .formatted(
            line.base(),
            key,
            v.value(),
            Format.number(v.degradedMillis()),
            Format.factor(v.overhead()),
            v.conversions());
  }

  static long count(Figures figures, Claim.By by, Claim.Verdict verdict) {
    return figures.claims().stream().filter(c -> c.by() == by && c.verdict() == verdict).count();
  }

  private static String line(Figures figures, String system, String title) {
    List<DegradedReads.Point> points =
        figures.degradedReads().stream().filter(p -> p.system().equals(system)).toList();
    Reconstruction.Loss disk =
        figures.losses().stream()
            .filter(l -> l.system().equals(system) && l.what().equals("disk"))
            .findFirst()
            .orElse(null);
    return Format.of(
        "%-28s%10s%16s%18s%14s",
        title,
        points.isEmpty()
            ? Format.NONE
            : Format.of("%.3f", points.stream().mapToDouble(p -> p.overhead()).average().orElse(0)),
        points.isEmpty()
            ? Format.NONE
            : Format.number(
                points.stream().mapToDouble(p -> p.millis().median()).average().orElse(0)),
        disk == null || disk.secondsPerDataBlock() == null
            ? Format.NONE
            : Format.number(disk.secondsPerDataBlock().median()),
        disk == null || disk.movedPerDataBlock() == null
            ? Format.NONE
            : Format.number(disk.movedPerDataBlock().median()));
  }
}
