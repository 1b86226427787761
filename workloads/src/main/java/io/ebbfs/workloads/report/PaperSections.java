package io.ebbfs.workloads.report;

import io.ebbfs.coding.reliability.MarkovModel;
import io.ebbfs.workloads.codes.CodeFigures;
import io.ebbfs.workloads.report.Bars.Bar;
import io.ebbfs.workloads.report.Bars.Group;
import io.ebbfs.workloads.report.DegradedReads.Point;
import io.ebbfs.workloads.report.HtmlTable.Judged;
import io.ebbfs.workloads.report.Reconstruction.Loss;
import io.ebbfs.workloads.report.Storage.Course;
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
    HtmlTable table =
        new HtmlTable(
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
        "The latency of a read of one full block whose only holder is dead. It is a mean over the codes, weighted by the share of the workload's reads on data in each code. Points are medians, and lines reach from the lowest to the highest repetition, each with another dead server. A hollow point has another bound than the paper's."
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
    HtmlTable table =
        new HtmlTable(
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
    HtmlTable table =
        new HtmlTable(
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
        "Means over the workloads. Below zero, the system needs more than the single code. [In brackets]: the paper's Table 4; "
            + RECALLED
            + ". (In parentheses): the traffic in theory, for a disk by the codes of the lost data, for a server by the plans, in which blocks of one stripe share reads.",
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
    HtmlTable table =
        new HtmlTable("system", "against", "workload", "#measured", "#by blocks read");
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
        "Costs are per lost data block, and parities are repaired along with the data. Lost data blocks are the lost bytes times the share of data in all that is stored, in blocks. Bars are medians, and whiskers reach from the lowest to the highest repetition. The mark on a bar of traffic is the theoretical value for the codes of the lost data.",
        "<h3>Seconds from the first repair to the end of the last, per lost data block</h3>",
        bars(
            "Reconstruction time",
            "seconds per lost data block",
            Loss::secondsPerDataBlock,
            l -> null,
            "s"),
        "<h3>Blocks read and written, per lost data block</h3>",
        bars(
            "Reconstruction traffic",
            "blocks read and written per lost data block",
            Loss::movedPerDataBlock,
            Loss::arithmeticPerDataBlock,
            ""),
        Html.details("Table, median (lowest–highest)", losses()),
        Html.details("Repairs by code", repairsByCode()));
  }

  private String bars(
      String label,
      String axis,
      Function<Loss, Spread> value,
      Function<Loss, Double> mark,
      String unit) {
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
    String theory = unit.isEmpty() ? "arithmetic" : null;
    return Bars.html(
        label,
        new Bars.Axis(axis, ""),
        new Bars.Names("median", null, "lowest to highest", theory),
        groups);
  }

  private Bar bar(Loss loss, Spread value, Double mark, String unit) {
    String text = Format.number(value.median()) + (unit.isEmpty() ? "" : " " + unit);
    if (mark != null) {
      text += " (" + Format.number(mark) + ")";
    }
    return Bar.of(styles.get(loss.system()), value, mark, text);
  }

  private String losses() {
    HtmlTable table =
        new HtmlTable(
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
          asPlanned(l),
          Format.spread(l.linkRatio()),
          off(l.linkRatio()),
          Format.spread(l.checked()));
    }
    return table.html();
  }

  /** A dash for replicas, because no plan says what is read for them. */
  private static Object asPlanned(Loss loss) {
    return loss.coded() == 0
        ? Format.NONE
        : new Judged(
            loss.equalToPlan() + " of " + loss.coded(), loss.equalToPlan() == loss.coded());
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
    HtmlTable table =
        new HtmlTable("system", "lost", "code", "#data", "#parities", "#read", "#read / block");
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
    HtmlTable table =
        new HtmlTable(
            "system",
            "#encodes",
            "#to compact",
            "#to fast",
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
        "Seconds of transitions from claim to end, summed, per encoded data block. The lighter part is converting. Transitions run in parallel, so no file waits that long.",
        Bars.html(
            "Encoding and converting",
            new Bars.Axis("seconds of transitions per encoded data block", ""),
            new Bars.Names("encoding", "converting", null, null),
            List.of(new Group("", bars))),
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
    double most = courses.stream().mapToDouble(PaperSections::usualHighest).max().orElse(1.6);
    double margin = Math.max(.01, (most - least) * .06);
    String plots =
        byWorkload.entrySet().stream()
            .map(e -> course(e.getKey(), e.getValue(), least - margin, most + margin))
            .collect(Collectors.joining());
    List<Style> shown = courses.stream().map(c -> styles.get(c.system())).distinct().toList();
    return Html.section(
        title,
        "Stored bytes per byte of encoded data, sampled every second. Long dashes are the bounds. Curves are thinned for the plot: of neighbouring samples the highest is kept.",
        Html.legend(shown),
        "<div class=\"panels\">" + plots + "</div>",
        Html.details("Table of all samples", samples()));
  }

  /**
   * The highest overhead, but for the top percent: one sample must not set the scale of all plots.
   */
  private static double usualHighest(Course course) {
    return Percentiles.at(course.curve().stream().map(Storage.At::overhead).sorted().toList(), .99);
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
          Lines.Line.of(
              style,
              c.curve().stream().map(at -> new double[] {at.second(), at.overhead()}).toList()));
      if (c.bound() != null && !style.hollow()) {
        levels.put(c.bound(), new Lines.Level(c.bound(), "bound " + Format.plain(c.bound())));
      }
    }
    double top = levels.keySet().stream().mapToDouble(b -> b + .02).max().orElse(to);
    return Lines.html(
        workload,
        250,
        new Lines.Plot(
            false,
            "seconds",
            new Lines.Axis("stored bytes per byte", from, Math.max(to, top)),
            List.of(),
            lines,
            List.copyOf(levels.values()),
            List.of()));
  }

  private String samples() {
    HtmlTable table =
        new HtmlTable(
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
          c.bound() == null ? "none" : Format.plain(c.bound()),
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
    HtmlTable table =
        new HtmlTable(
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
    HtmlTable table =
        new HtmlTable(
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
        "Measured on the generated files, beside the known properties. Hot: read more often than the mean file of an epoch. Drift: the share of hot files that are replaced in the next epoch.",
        table.html());
  }

  private static String basis(boolean stated) {
    return stated ? " stated" : " derived";
  }
}
