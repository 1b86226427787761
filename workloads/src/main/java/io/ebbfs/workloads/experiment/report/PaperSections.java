package io.ebbfs.workloads.experiment.report;

import io.ebbfs.coding.reliability.MarkovModel;
import io.ebbfs.workloads.codes.CodeFigures;
import io.ebbfs.workloads.experiment.report.Bars.Bar;
import io.ebbfs.workloads.experiment.report.Bars.Group;
import io.ebbfs.workloads.experiment.report.DegradedReads.Point;
import io.ebbfs.workloads.experiment.report.Reconstruction.Loss;
import io.ebbfs.workloads.experiment.report.Storage.Course;
import io.ebbfs.workloads.experiment.report.Table.Judged;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The sections that repeat tables and figures of the paper. */
final class PaperSections {
  private static final String RECALLED =
      "the paper's numbers in brackets are recalled, not verified";

  private final Figures figures;
  private final Map<String, Style> styles = new LinkedHashMap<>();

  PaperSections(Figures figures) {
    this.figures = figures;
    figures.runs().forEach(r -> styles.put(r.system().name(), Style.of(r.system())));
  }

  String degradedReads() {
    String title = "Degraded reads against storage (Figure 9)";
    List<Point> points = figures.degradedReads();
    if (points.isEmpty()) {
      return Html.section(title, "", Html.missing("No degraded reads were measured."));
    }
    Table table =
        new Table(
            "system",
            "workload",
            "#overhead",
            "#degraded, ms",
            "#healthy, ms",
            "#blocks read",
            "reads by code");
    points.forEach(
        p ->
            table.row(
                p.title(),
                p.workload(),
                Format.factor(p.overhead()),
                Format.spread(p.millis()),
                Format.spread(p.healthyMillis()),
                Format.number(p.sourceBlocks()),
                shares(p.readsByCode())));
    return Html.section(
        title,
        "A read of one full block whose only holder is dead, on average over a workload's reads: the share of its reads on data in each code times the latency in that code. Points are medians, lines reach from the lowest to the highest repetition, each with another dead server. Hollow: another bound than the paper's."
            + beyond(points),
        Scatter.html(points, styles),
        Html.details("Table, median (lowest–highest)", table.html()),
        traffic());
  }

  private static String shares(Map<String, Double> shares) {
    return shares.entrySet().stream()
        .filter(e -> e.getValue() > 0)
        .map(
            e ->
                "%s %s"
                    .formatted(
                        e.getKey().isEmpty() ? "replicated" : e.getKey(),
                        Format.percent(e.getValue())))
        .collect(Collectors.joining(", "));
  }

  private static String beyond(List<Point> points) {
    String names =
        points.stream()
            .filter(p -> p.overhead() > Scatter.WIDEST)
            .collect(Collectors.groupingBy(Point::title, LinkedHashMap::new, Collectors.toList()))
            .entrySet()
            .stream()
            .map(
                e ->
                    "%s: %s ms at %s"
                        .formatted(
                            e.getKey(),
                            Format.number(e.getValue().get(0).millis().median()),
                            Format.factor(e.getValue().get(0).overhead())))
            .collect(Collectors.joining("; "));
    return names.isEmpty() ? "" : " To the right of the plot: " + names + ".";
  }

  private String traffic() {
    if (figures.degradedReadTraffic().isEmpty()) {
      return "";
    }
    Table table =
        new Table(
            "system", "code", "#reads", "#blocks by theory", "#link bytes / theory", "#off by");
    figures
        .degradedReadTraffic()
        .forEach(
            t ->
                table.row(
                    t.title(),
                    t.code(),
                    t.reads(),
                    Format.number(t.sourceBlocks()),
                    Format.spread(t.linkRatio()),
                    new Judged(Format.percent(t.off()), t.off() <= Links.TOLERANCE)));
    return Html.details("Bytes on links per degraded read", table.html());
  }

  private static Object off(Spread ratio) {
    if (ratio == null) {
      return Format.NONE;
    }
    double off = Math.max(Links.off(ratio.low()), Links.off(ratio.high()));
    return new Judged(Format.percent(off), off <= Links.TOLERANCE);
  }

  String summary() {
    Table table =
        new Table(
            "system",
            "against",
            "#degraded read",
            "#disk, time",
            "#server, time",
            "#disk, traffic",
            "#server, traffic",
            "#storage");
    figures
        .improvements()
        .forEach(
            p ->
                table.row(
                    p.title(),
                    p.against(),
                    beside(p.degradedRead(), p, Paper.Improvement::degradedRead),
                    beside(p.diskTime(), p, Paper.Improvement::reconstructionTime),
                    Format.percent(p.serverTime()),
                    expected(p.diskTraffic(), p.trafficArithmetic()),
                    expected(p.serverTraffic(), p.serverTrafficByPlan()),
                    beside(p.storage(), p, Paper.Improvement::storage)));
    return Html.section(
        "How much is saved against single codes (Table 4)",
        "Means over the workloads; below zero is more, not less. [In brackets]: the paper's Table 4; "
            + RECALLED
            + ". (In parentheses): the arithmetic of traffic, for a disk by the codes of the lost data, for a server by the plans, in which blocks of one stripe share reads.",
        table.isEmpty()
            ? Html.missing("Neither an adapting system nor a single code to compare was run.")
            : table.html(),
        table.isEmpty() ? "" : Html.details("Degraded reads by workload", byWorkload()));
  }

  private static String expected(Double measured, Double arithmetic) {
    return "%s (%s)".formatted(Format.percent(measured), Format.percent(arithmetic));
  }

  private static String beside(
      Double measured, Improvements.Pair pair, Function<Paper.Improvement, Double> paper) {
    String text = Format.percent(measured);
    return pair.paper() == null
        ? text
        : "%s [%s]".formatted(text, Format.percent(paper.apply(pair.paper())));
  }

  private String byWorkload() {
    Table table = new Table("system", "against", "workload", "#measured", "#by blocks read");
    figures
        .improvements()
        .forEach(
            p ->
                p.degradedReadByWorkload()
                    .forEach(
                        (workload, saved) ->
                            table.row(
                                p.title(),
                                p.against(),
                                workload,
                                Format.percent(saved),
                                Format.percent(p.degradedReadByBlocks().get(workload)))));
    return table.html();
  }

  String reconstruction() {
    String title = "Reconstruction of a disk and of a server (Figures 10 and 11)";
    if (figures.losses().isEmpty()) {
      return Html.section(title, "", Html.missing("No disk or server was lost."));
    }
    return Html.section(
        title,
        "Per lost data block, parities repaired along with it: a block's worth of the lost bytes times the share of data in all that is stored. Bars are medians, whiskers reach from the lowest to the highest repetition; the mark on a bar of traffic is what the arithmetic says for the codes of the lost data.",
        "<h3>Seconds from the first repair to the end of the last, per lost data block</h3>",
        bars("Reconstruction time", Loss::secondsPerDataBlock, l -> null, "s"),
        "<h3>Blocks read and written, per lost data block</h3>",
        bars("Reconstruction traffic", Loss::movedPerDataBlock, Loss::arithmeticPerDataBlock, ""),
        Html.details("Table, median (lowest–highest)", losses()),
        Html.details("Repairs by code", repairsByCode()));
  }

  private String bars(
      String label, Function<Loss, Spread> value, Function<Loss, Double> mark, String unit) {
    List<Group> groups = new ArrayList<>();
    for (String what : List.of("disk", "server")) {
      List<Bar> bars =
          figures.losses().stream()
              .filter(l -> l.what().equals(what) && value.apply(l) != null)
              .map(l -> bar(l, value.apply(l), mark.apply(l), unit))
              .toList();
      if (!bars.isEmpty()) {
        groups.add(new Group("Lost: a " + what, bars));
      }
    }
    return Bars.html(label, Svg.WIDE, groups);
  }

  private Bar bar(Loss loss, Spread value, Double mark, String unit) {
    String text = Format.number(value.median()) + (unit.isEmpty() ? "" : " " + unit);
    if (mark != null) {
      text += " (" + Format.number(mark) + ")";
    }
    return Bar.of(styles.get(loss.system()), value, mark, text);
  }

  private String losses() {
    Table table =
        new Table(
            "system",
            "lost",
            "#times",
            "#blocks",
            "#until planned, s",
            "#repair, s",
            "#s / data block",
            "#s / MiB",
            "#moved / data block",
            "#by counted data",
            "#planned / data block",
            "#arithmetic",
            "#paper",
            "#as planned",
            "#link bytes / theory",
            "#off by",
            "#checks / moved");
    for (Loss l : figures.losses()) {
      table.row(
          l.title(),
          l.what(),
          l.repetitions(),
          l.lostBlocks(),
          Format.spread(l.detectSeconds()),
          Format.spread(l.seconds()),
          Format.spread(l.secondsPerDataBlock()),
          Format.spread(l.secondsPerMib()),
          Format.spread(l.movedPerDataBlock()),
          Format.spread(l.countedPerDataBlock()),
          Format.spread(l.plannedPerDataBlock()),
          Format.number(l.arithmeticPerDataBlock()),
          paperMoved(l),
          new Judged(
              l.equalToPlan() + " of " + l.repetitions(), l.equalToPlan() == l.repetitions()),
          Format.spread(l.linkRatio()),
          off(l.linkRatio()),
          Format.spread(l.checked()));
    }
    return table.html();
  }

  private String paperMoved(Loss loss) {
    String paper =
        figures.runs().stream()
            .filter(r -> r.system().name().equals(loss.system()))
            .map(r -> Paper.moved(r.system()))
            .findFirst()
            .orElse("");
    return paper.isEmpty() ? Format.NONE : paper;
  }

  private String repairsByCode() {
    Table table =
        new Table("system", "lost", "code", "#data", "#parities", "#read", "#read / block");
    for (Loss loss : figures.losses()) {
      loss.byCode()
          .forEach(
              (code, of) ->
                  table.row(
                      loss.title(),
                      loss.what(),
                      code.isEmpty() ? "replicated" : code,
                      of.data(),
                      of.parities(),
                      of.read(),
                      Format.number(of.readsPerBlock())));
    }
    return table.html();
  }

  String encoding() {
    String title = "Encoding and converting (Figure 12)";
    List<Encoding.Cost> costs = figures.encoding();
    if (costs.isEmpty()) {
      return Html.section(title, "", Html.missing("No encoding was measured."));
    }
    Table table =
        new Table(
            "system",
            "#encodes",
            "#upcodes",
            "#downcodes",
            "#encode, s / block",
            "#convert, s / block",
            "#move, rewrite, s / block",
            "#share of converting",
            "#of RS(10,4)",
            "#read / block",
            "#written / block",
            "#read",
            "#written",
            "#converted");
    List<Bar> bars = new ArrayList<>();
    for (Encoding.Cost c : costs) {
      table.row(
          c.title(),
          c.encodes(),
          c.upcodes(),
          c.downcodes(),
          Format.number(c.encodeSeconds()),
          Format.number(c.convertSeconds()),
          Format.number(c.otherSeconds()),
          Format.percent(c.convertShare()),
          Format.factor(c.relative()),
          Format.number(c.blocksReadPerBlock()),
          Format.number(c.blocksWrittenPerBlock()),
          Format.bytes(c.bytesRead()),
          Format.bytes(c.bytesWritten()),
          Format.bytes(c.convertedBytes()));
      Style style = styles.get(c.system());
      bars.add(
          new Bar(
              style.title(),
              style.colour(),
              style.hollow(),
              c.encodeSeconds(),
              c.convertSeconds(),
              null,
              null,
              null,
              encodingText(c)));
    }
    return Html.section(
        title,
        "Seconds of transitions from plan to end, summed, per encoded data block: encoding first, converting in the lighter part. Transitions run side by side, so nobody waits that long.",
        Bars.html("Encoding and converting", Svg.WIDE, List.of(new Group("", bars))),
        Html.details("Table", table.html()));
  }

  private static String encodingText(Encoding.Cost cost) {
    String text = Format.number(cost.seconds()) + " s";
    return cost.relative() == null
        ? text
        : text + Format.of(" (%.0f%% of RS(10,4))", 100 * cost.relative());
  }

  String storage() {
    String title = "Storage over time against the bound";
    List<Course> courses =
        figures.storage().stream()
            .filter(c -> styles.get(c.system()).adapts())
            .filter(c -> figures.compared() == 0 || !isVariant(c.system()))
            .toList();
    if (courses.isEmpty()) {
      return Html.section(title, "", Html.missing("No samples of an adapting system."));
    }
    Map<String, List<Course>> byWorkload =
        courses.stream()
            .collect(
                Collectors.groupingBy(
                    Course::workload, java.util.TreeMap::new, Collectors.toList()));
    double least =
        courses.stream()
            .flatMap(c -> c.curve().stream())
            .mapToDouble(Storage.At::overhead)
            .min()
            .orElse(1.3);
    double most = courses.stream().mapToDouble(Course::highest).max().orElse(1.6);
    double margin = Math.max(.01, (most - least) * .06);
    String plots =
        byWorkload.entrySet().stream()
            .map(e -> course(e.getKey(), e.getValue(), least - margin, most + margin))
            .collect(Collectors.joining());
    List<Style> shown = courses.stream().map(c -> styles.get(c.system())).distinct().toList();
    return Html.section(
        title,
        "Stored bytes per byte of encoded data, sampled every second; long dashes are the bounds. Curves are thinned for the plot, and of neighbouring samples the highest is kept.",
        Html.legend(shown),
        "<div class=\"panels\">" + plots + "</div>",
        Html.details("Table of all samples", samples()));
  }

  private boolean isVariant(String system) {
    return figures.runs().stream().anyMatch(r -> r.variant() && r.system().name().equals(system));
  }

  private String course(String workload, List<Course> courses, double from, double to) {
    List<Lines.Line> lines = new ArrayList<>();
    Map<Double, Lines.Level> levels = new LinkedHashMap<>();
    for (Course c : courses) {
      Style style = styles.get(c.system());
      lines.add(
          new Lines.Line(
              style,
              c.curve().stream().map(at -> new double[] {at.second(), at.overhead()}).toList(),
              false));
      if (c.bound() != null && !style.hollow()) {
        levels.put(c.bound(), new Lines.Level(c.bound(), "bound " + Ticks.text(c.bound())));
      }
    }
    double top = levels.keySet().stream().mapToDouble(b -> b + .02).max().orElse(to);
    return "<div>"
        + Lines.html(
            new Lines.Plot(
                workload,
                "seconds",
                from,
                Math.max(to, top),
                List.of(),
                lines,
                List.copyOf(levels.values())),
            Svg.HALF,
            240)
        + "</div>";
  }

  private String samples() {
    Table table =
        new Table(
            "system",
            "workload",
            "#bound",
            "#samples",
            "#above",
            "above in",
            "#highest",
            "#last",
            "#fast share, last",
            "#longest gap, s");
    for (Course c : figures.storage()) {
      table.row(
          c.title(),
          c.workload(),
          c.bound() == null ? "none" : Ticks.text(c.bound()),
          c.samples(),
          c.bound() == null ? Format.NONE : new Judged(String.valueOf(c.above()), c.above() == 0),
          String.join(", ", c.aboveIn()),
          Format.factor(c.highest()),
          Format.factor(c.last()),
          Format.percent(c.lastFastShare()),
          Format.number(c.longestGapSeconds()));
    }
    return table.html();
  }

  String codes() {
    Table table =
        new Table(
            "code",
            "#data + parity",
            "#overhead",
            "#reads, data block",
            "#reads, average",
            "#moved / data block",
            "#survives any",
            "#MTTF, years");
    for (CodeFigures c : figures.codes()) {
      table.row(
          c.code(),
          c.dataBlocks() + " + " + c.parityBlocks(),
          Format.factor(c.overhead()),
          Format.number(c.repairReadsData()),
          Format.number(c.repairReadsAverage()),
          Format.number(c.movedPerLostDataBlock()),
          c.tolerance(),
          Format.of("%.1e", c.meanTimeToLossYears()));
    }
    table.row(
        "three replicas",
        "1 + 2",
        "3.000×",
        "1",
        "1",
        "2",
        2,
        Format.of("%.1e", MarkovModel.HACFS.meanTimeToLossYearsOfReplicas(3)));
    return Html.section(
        "The codes (Table 2)",
        "Computed from the generator matrices and the planner's plans. MTTF: of one stripe, by the paper's Markov chain; trust the orders of magnitude.",
        table.html());
  }

  String workloads() {
    Table table =
        new Table(
            "workload",
            "#files",
            "#bytes",
            "#reads on hot",
            "known",
            "#cold files",
            "known",
            "#bytes hot",
            "#drift");
    for (WorkloadTable.Row w : figures.workloads()) {
      boolean known = w.known() != null;
      table.row(
          w.name(),
          Format.of("%,d", w.files()),
          Format.bytes(w.bytes()),
          known
              ? new Judged(
                  Format.percent(w.hotReads()), w.known().hotReads().contains(w.hotReads()))
              : Format.percent(w.hotReads()),
          known ? w.known().hotReads() + basis(w.known().hotReadsStated()) : Format.NONE,
          known
              ? new Judged(
                  Format.percent(w.coldFiles()), w.known().coldFiles().contains(w.coldFiles()))
              : Format.percent(w.coldFiles()),
          known ? w.known().coldFiles() + basis(w.known().coldFilesStated()) : Format.NONE,
          Format.percent(w.hotBytes()),
          Format.percent(w.drift()));
    }
    return Html.section(
        "The workloads (Table 3)",
        "Measured on what was generated, beside what is known. Hot: read more often than the mean file of an epoch. Drift: hot files that are others in the next epoch.",
        table.html());
  }

  private static String basis(boolean stated) {
    return stated ? " stated" : " derived";
  }
}
