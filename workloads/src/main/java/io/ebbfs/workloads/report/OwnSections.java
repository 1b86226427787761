package io.ebbfs.workloads.report;

import io.ebbfs.workloads.report.Bars.Bar;
import io.ebbfs.workloads.report.Bars.Group;
import io.ebbfs.workloads.report.Effects.Foreground;
import io.ebbfs.workloads.report.Effects.Jobs;
import io.ebbfs.workloads.report.Effects.Safety;
import io.ebbfs.workloads.report.Sensitivity.Line;
import io.ebbfs.workloads.report.Sensitivity.Setting;
import io.ebbfs.workloads.report.Sensitivity.Variant;
import io.ebbfs.workloads.results.Results.Environment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The sections that the paper lacks, and the environment of the runs. */
final class OwnSections {
  private final Figures figures;
  private final Map<String, Style> styles = new LinkedHashMap<>();

  OwnSections(Figures figures) {
    this.figures = figures;
    figures.runs().forEach(r -> styles.put(r.system().name(), Style.of(r.system())));
  }

  String safety() {
    String title = "Time to safety";
    List<Safety> all = figures.safety();
    if (all.isEmpty()) {
      return Html.section(title, "", Html.missing("Not measured in this experiment."));
    }
    HtmlTable table =
        new HtmlTable("system", "lost", "#stripes", "#median, s", "#95%, s", "#last, s");
    all.forEach(
        s ->
            table.row(
                s.title(),
                s.what(),
                s.seconds().count(),
                Format.number(s.seconds().median()),
                Format.number(s.seconds().p95()),
                Format.number(s.seconds().max())));
    String plots =
        Reconstruction.WHAT.stream()
            .map(what -> all.stream().filter(s -> s.what().equals(what)).toList())
            .filter(some -> !some.isEmpty())
            .map(this::curves)
            .collect(Collectors.joining());
    return Html.section(
        title,
        "The time that stripes have less than full redundancy after a loss. It begins at the fault, so it contains the time until the loss is noticed. Under load: while clients read.",
        Html.legend(all.stream().map(s -> styles.get(s.system())).distinct().toList()),
        "<div class=\"panels\">" + plots + "</div>",
        Html.details("Table", table.html()));
  }

  private String curves(List<Safety> all) {
    List<Lines.Line> lines = new ArrayList<>();
    for (Safety s : all) {
      List<double[]> points = new ArrayList<>();
      points.add(new double[] {0, 0});
      points.add(new double[] {s.curve().get(0).second(), 0});
      s.curve().forEach(w -> points.add(new double[] {w.second(), 100 * w.share()}));
      lines.add(Lines.Line.of(styles.get(s.system()), points));
    }
    return Lines.html(
        "Lost: a " + all.get(0).what(),
        260,
        new Lines.Plot(
            false,
            "seconds after the fault",
            new Lines.Axis("stripes whole again, %", 0, 100.0),
            List.of(),
            lines,
            List.of(),
            List.of()));
  }

  String foreground() {
    String title = "Reads by clients during a repair";
    if (figures.foreground().isEmpty()) {
      return Html.section(title, "", Html.missing("Not measured in this experiment."));
    }
    HtmlTable table =
        new HtmlTable(
            "system",
            "lost",
            "#repetitions",
            "#reads",
            "#median of each, ms",
            "#median of all, ms",
            "#95%, ms",
            "#99%, ms",
            "#max, ms");
    for (Foreground f : figures.foreground()) {
      table.row(
          f.title(),
          lost(f.what()),
          f.medianMillis().count(),
          f.millis().count(),
          Format.spread(f.medianMillis()),
          Format.number(f.millis().median()),
          Format.number(f.millis().p95()),
          Format.number(f.millis().p99()),
          Format.number(f.millis().max()));
    }
    List<Group> groups =
        Reconstruction.WHAT.stream()
            .map(what -> new Group("While " + lost(what) + " is repaired", during(what)))
            .filter(group -> !group.bars().isEmpty())
            .toList();
    return Html.section(
        title,
        "Whole files, read by clients from the fault to the end of the last repair, of all repetitions. Bars are medians, whiskers reach to the 95th percentile; the mark and the number in brackets are the median while nothing is lost.",
        groups.isEmpty()
            ? ""
            : Bars.html(
                title,
                new Bars.Axis("milliseconds per read of a file", ""),
                new Bars.Names("median", null, "to the 95th percentile", "median before the loss"),
                groups),
        Html.details("Table", table.html()));
  }

  private List<Bar> during(String what) {
    List<Bar> bars = new ArrayList<>();
    for (Foreground f : figures.foreground()) {
      if (f.what().equals(what)) {
        Double before = healthyMedian(f.system());
        String text = Format.number(f.millis().median()) + " ms";
        Style style = styles.get(f.system());
        bars.add(
            new Bar(
                style.title(),
                style.colour(),
                style.hollow(),
                f.millis().median(),
                0,
                f.millis().median(),
                f.millis().p95(),
                before,
                before == null ? text : "%s (%s)".formatted(text, Format.number(before))));
      }
    }
    return bars;
  }

  private Double healthyMedian(String system) {
    return figures.foreground().stream()
        .filter(f -> f.what().equals("none") && f.system().equals(system))
        .map(f -> f.millis().median())
        .findFirst()
        .orElse(null);
  }

  private static String lost(String what) {
    return switch (what) {
      case "none" -> "no loss";
      case "disk" -> "the loss of a disk";
      case "server under load" -> "the loss of a server";
      default -> "the loss of a " + what;
    };
  }

  String jobs() {
    String title = "MapReduce jobs with all servers and with one dead";
    if (figures.jobs().isEmpty()) {
      return Html.section(title, "", Html.missing("Not measured in this experiment."));
    }
    HtmlTable table =
        new HtmlTable("system", "workload", "#healthy, s", "#degraded, s", "#times as long");
    Map<String, List<Jobs>> bySystem = new LinkedHashMap<>();
    for (Jobs j : figures.jobs()) {
      table.row(
          j.title(),
          j.workload(),
          Format.spread(j.healthySeconds()),
          Format.spread(j.degradedSeconds()),
          Format.factor(j.slowdown()));
      if (j.slowdown() != null) {
        bySystem.computeIfAbsent(j.system(), s -> new ArrayList<>()).add(j);
      }
    }
    List<Bar> bars = new ArrayList<>();
    bySystem.forEach(
        (system, jobs) ->
            bars.add(
                Bar.of(
                    styles.get(system),
                    Spread.of(jobs.stream().map(Jobs::slowdown).toList()),
                    1.0,
                    slowdown(jobs))));
    return Html.section(
        title,
        "A grep over a workload's files. A bar is its time with a dead server per time with all servers: the median of the workloads, with whiskers to the least and the most. The mark is 1.",
        bars.isEmpty()
            ? ""
            : Bars.html(
                title,
                new Bars.Axis("times as long as with all servers", "×"),
                new Bars.Names("median", null, "least to most", "as long as before"),
                List.of(new Group("", bars))),
        Html.details("Table, median (lowest–highest)", table.html()));
  }

  private static String slowdown(List<Jobs> jobs) {
    return Format.of("%.2f×", Spread.of(jobs.stream().map(Jobs::slowdown).toList()).median());
  }

  String timetable() {
    if (figures.timetable().isEmpty()) {
      return "";
    }
    HtmlTable incidents =
        new HtmlTable("system", "#second", "#number", "what", "could not be done");
    HtmlTable reads =
        new HtmlTable(
            "system", "when", "#reads", "#median, ms", "#95%, ms", "#99%, ms", "#max, ms");
    StringBuilder plots = new StringBuilder();
    for (TimetableEffects.Faults f : figures.timetable()) {
      for (int i = 0; i < f.incidents().size(); i++) {
        var incident = f.incidents().get(i);
        incidents.row(
            f.title(),
            Format.of("%.1f", incident.second()),
            i + 1,
            incident.what(),
            incident.error() == null ? "" : incident.error());
      }
      percentiles(reads, f.title(), "before the first", f.before());
      percentiles(reads, f.title(), "from then on", f.after());
      plots.append(course(f));
    }
    return Html.section(
        "Reads by clients under a timetable of faults",
        "Clients read whole files while the timetable injects faults. The line is the median of each span of time, the dashed line the 95th percentile. The numbered marks are the faults of the first table.",
        "<div class=\"panels\">" + plots + "</div>",
        Html.details("Table of the faults", incidents.html()),
        Html.details("Table of the reads", reads.html()));
  }

  private static void percentiles(HtmlTable table, String title, String when, Percentiles p) {
    if (p != null) {
      table.row(
          title,
          when,
          p.count(),
          Format.number(p.median()),
          Format.number(p.p95()),
          Format.number(p.p99()),
          Format.number(p.max()));
    }
  }

  private String course(TimetableEffects.Faults f) {
    String colour = styles.get(f.system()).colour();
    List<double[]> median = new ArrayList<>();
    List<double[]> p95 = new ArrayList<>();
    for (TimetableEffects.Span span : f.course()) {
      median.add(new double[] {span.second(), span.millis().median()});
      p95.add(new double[] {span.second(), span.millis().p95()});
    }
    List<Lines.Mark> marks = new ArrayList<>();
    for (int i = 0; i < f.incidents().size(); i++) {
      marks.add(new Lines.Mark(f.incidents().get(i).second(), String.valueOf(i + 1)));
    }
    return Lines.html(
        f.title(),
        270,
        new Lines.Plot(
            true,
            "seconds",
            new Lines.Axis("milliseconds per read", 0, null),
            List.of(),
            List.of(
                new Lines.Line("median", colour, false, false, median),
                new Lines.Line("95th percentile", colour, true, false, p95)),
            List.of(),
            marks));
  }

  String trace() {
    if (figures.trace().isEmpty()) {
      return "";
    }
    HtmlTable table =
        new HtmlTable(
            "system",
            "trace",
            "#days",
            "#to compact / day",
            "#to fast / day",
            "#bytes / day",
            "#of the encoded bytes");
    figures
        .trace()
        .forEach(
            t ->
                table.row(
                    t.title(),
                    t.workload(),
                    Format.number(t.days()),
                    Format.number(t.upcodesPerDay()),
                    Format.number(t.downcodesPerDay()),
                    Format.bytes(t.bytesPerDay()),
                    Format.percent(t.sharePerDay())));
    return Html.section(
        "Conversions per day under a recorded trace",
        "Days are those of the trace before its time was compressed. Bytes are those of the experiment.",
        table.html());
  }

  String sensitivity() {
    return figures.sensitivity().stream().map(this::setting).collect(Collectors.joining("\n"));
  }

  private String setting(Setting setting) {
    HtmlTable table =
        new HtmlTable(
            "system",
            "#" + setting.key(),
            "#degraded read, ms",
            "#overhead",
            "#conversions",
            "#moved / lost data block");
    for (Line line : setting.lines()) {
      for (Variant v : line.variants()) {
        table.row(
            title(line.base()),
            v.value(),
            Format.number(v.degradedMillis()),
            Format.factor(v.overhead()),
            v.conversions(),
            Format.number(v.moved()));
      }
    }
    return Html.section(
        "Sensitivity: " + setting.key(),
        "Systems that differ in this setting only; means over their workloads.",
        Html.legend(setting.lines().stream().map(this::style).toList()),
        "<div class=\"panels three\">"
            + panel(setting, "Degraded read", "milliseconds", Variant::degradedMillis)
            + panel(setting, "Overhead", "stored bytes per byte", Variant::overhead)
            + panel(setting, "Conversions", "conversions", v -> (double) v.conversions())
            + "</div>",
        Html.details("Table", table.html()));
  }

  private Style style(Line line) {
    String first = line.variants().get(0).system();
    Style style = styles.get(first);
    return new Style(first, title(line.base()), style.colour(), false, true);
  }

  /** The title of a system; its name if it was not run. */
  private String title(String base) {
    return figures.runs().stream()
        .filter(r -> r.system().name().equals(base))
        .map(r -> r.system().title())
        .findFirst()
        .orElse(base);
  }

  private String panel(Setting setting, String title, String label, Function<Variant, Double> of) {
    List<String> values =
        setting.lines().stream()
            .flatMap(l -> l.variants().stream())
            .map(Variant::value)
            .distinct()
            .sorted(java.util.Comparator.comparingDouble(Sensitivity::number))
            .toList();
    List<Lines.Line> lines = new ArrayList<>();
    for (Line line : setting.lines()) {
      List<double[]> points =
          line.variants().stream()
              .filter(v -> of.apply(v) != null)
              .map(v -> new double[] {values.indexOf(v.value()), of.apply(v)})
              .toList();
      Style style = style(line);
      lines.add(new Lines.Line(style.title(), style.colour(), false, true, points));
    }
    List<Double> all = lines.stream().flatMap(l -> l.points().stream()).map(p -> p[1]).toList();
    if (all.isEmpty()) {
      return "<div><p>" + Html.escape(title) + ": not measured.</p></div>";
    }
    double most = all.stream().mapToDouble(v -> v).max().orElseThrow();
    boolean overhead = title.equals("Overhead");
    double from = overhead ? all.stream().mapToDouble(v -> v).min().orElseThrow() - .03 : 0;
    double to = overhead ? most + .03 : Math.max(most * 1.08, 1e-6);
    return Lines.html(
        title,
        230,
        new Lines.Plot(
            false,
            setting.key(),
            new Lines.Axis(label, from, to),
            values,
            lines,
            List.of(),
            List.of()));
  }

  String environment() {
    Environment e = figures.environment();
    HtmlTable table = new HtmlTable("what", "value");
    table.row("servers, disks each", e.servers() + ", " + e.disks());
    table.row("rate of each link", e.rate() == null ? "none: loopback" : e.rate());
    table.row("block", Format.bytes(e.blockBytes()));
    table.row("cores of the machine", e.cores());
    table.row("kernel", e.kernel());
    table.row("seed", e.seed());
    table.row("started", e.startedAt());
    table.row("commit", figures.mixedCommits() ? "several: see the systems" : e.commit());
    HtmlTable runs =
        new HtmlTable(
            "system",
            "name",
            "codes",
            "#bound",
            "#repetitions",
            "commit",
            "started",
            "phases, s",
            "notes");
    for (Figures.Run r : figures.runs()) {
      runs.row(
          r.system().title(),
          r.system().name(),
          codes(r),
          r.system().fast() == null ? Format.NONE : Sensitivity.bound(r.system()),
          r.repetitions(),
          Commits.shortened(r.commit()),
          r.startedAt(),
          r.seconds().entrySet().stream()
              .map(p -> Format.of("%s %.0f", p.getKey(), p.getValue()))
              .collect(Collectors.joining(", ")),
          String.join(" ", r.notes()));
    }
    return Html.section(
        "Where and how it was measured",
        "The paper used 11 machines with 24 cores, 6 disks and 1 Gbit/s each. Here all servers share one machine, and links and blocks are smaller in about the same proportion. Times of the paper and of this page must not be compared; savings may be.",
        table.html(),
        "<h3>Systems</h3>",
        runs.html());
  }

  private static String codes(Figures.Run run) {
    if (run.system().fast() == null) {
      return "three replicas";
    }
    return run.system().adapts()
        ? run.system().fast() + ", " + run.system().compact()
        : run.system().fast();
  }
}
