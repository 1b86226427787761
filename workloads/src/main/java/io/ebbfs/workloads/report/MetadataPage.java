package io.ebbfs.workloads.report;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.ebbfs.common.charts.ChartLibrary;
import io.ebbfs.workloads.results.MetadataResults;
import io.ebbfs.workloads.results.MetadataResults.Environment;
import io.ebbfs.workloads.results.MetadataResults.Figures;
import io.ebbfs.workloads.results.MetadataResults.Measure;
import io.ebbfs.workloads.results.MetadataResults.Row;
import io.ebbfs.workloads.results.MetadataResults.Run;
import io.ebbfs.workloads.results.MetadataResults.Values;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/** The report of a benchmark of metadata: a JSON file, and a page beside it. */
public final class MetadataPage {
  private static final String EBBFS = "EbbFS";
  private static final String HDFS = "HDFS";
  private static final String EBBFS_COLOUR = "var(--pc)";
  private static final String HDFS_COLOUR = "var(--rep)";

  private static final Shown CPU =
      new Shown(Figures::serverMicrosPerOp, Run::serverMicrosPerOp, MetadataGoals::serverMicros);
  private static final Shown SPEED =
      new Shown(Figures::opsPerSecond, Run::opsPerSecond, MetadataGoals::opsPerSecond);
  private static final Shown LATENCY =
      new Shown(Figures::p99Millis, Run::p99Millis, MetadataGoals::p99Millis);

  private final MetadataResults results;

  private MetadataPage(MetadataResults results) {
    this.results = results;
  }

  /**
   * Writes both files.
   *
   * @param json the file of the figures; the page has its name with the ending {@code .html}
   * @return the page
   */
  public static Path write(MetadataResults results, Path json) throws IOException {
    if (json.getParent() != null) {
      Files.createDirectories(json.getParent());
    }
    new ObjectMapper()
        .enable(SerializationFeature.INDENT_OUTPUT)
        .writeValue(json.toFile(), results);
    String name = json.getFileName().toString().replaceFirst("\\.json$", "") + ".html";
    return Files.writeString(json.resolveSibling(name), of(results));
  }

  static String of(MetadataResults results) throws IOException {
    MetadataPage page = new MetadataPage(results);
    try (InputStream template = MetadataPage.class.getResourceAsStream("report.html")) {
      return new String(template.readAllBytes(), StandardCharsets.UTF_8)
          .replace("<!--CHARTS-->", ChartLibrary.elements())
          .replace("<!--TITLE-->", "EbbFS and HDFS: the cost of metadata")
          .replace("<!--BODY-->", page.body());
    }
  }

  private String body() {
    List<String> sections = new ArrayList<>();
    sections.add(head());
    results.rows().stream()
        .map(row -> new Load(row.client(), row.connections()))
        .distinct()
        .map(this::section)
        .forEach(sections::add);
    sections.add(measures());
    sections.add(environment());
    return String.join("\n", sections);
  }

  /** A kind of client and a number of connections. */
  private record Load(String client, int connections) {
    boolean isOf(Row row) {
      return row.client().equals(client) && row.connections() == connections;
    }

    String title() {
      return Format.of(
          "%s, %d connection%s",
          client.equals(MetadataResults.NATIVE) ? "Native load generator" : "Stock Java clients",
          connections,
          connections == 1 ? "" : "s");
    }
  }

  private String head() {
    Environment e = results.environment();
    return "<header><h1>EbbFS and HDFS: the cost of metadata</h1><p class=\"lead\">"
        + Html.escape(
            Format.of(
                "One namenode of EbbFS beside the NameNode of Apache HDFS %s, measured in turn on "
                    + "one machine with %d cores. Medians of %d runs of at most %s s; whiskers "
                    + "show the least and the greatest run.",
                e.hadoop(), e.cores(), e.rounds(), Format.plain(e.secondsPerRun())))
        + "</p>"
        + (e.quick()
            ? "<p class=\"warning\">A quick run: short runs, few of them, and small sizes.</p>"
            : "")
        + "</header>";
  }

  private String section(Load load) {
    List<Row> rows = results.rows().stream().filter(load::isOf).toList();
    return Html.section(
        load.title(),
        "Processor time is that of all threads of the namenode. A closed loop: each connection has "
            + "one operation under way. Each row has a scale of its own: compare the two bars of a "
            + "row, and read the figures at their ends."
            + floor(load),
        plot("Server CPU per operation, µs", rows, CPU),
        plot("Operations per second", rows, SPEED),
        plot("Latency, 99th percentile, ms", rows, LATENCY),
        Html.details("All figures", table(rows)));
  }

  /** What no server can go below, under the load to which it belongs. */
  private String floor(Load load) {
    Figures floor = results.floor();
    return floor == null
            || !load.client().equals(MetadataResults.NATIVE)
            || load.connections() != 64
        ? ""
        : Format.of(
            " A server in C++ that answers each call with the same bytes takes %s µs of processor"
                + " time for a call, %s of it within the kernel, and answers %s a second.",
            Format.number(floor.serverMicrosPerOp()),
            Format.number(floor.serverKernelMicrosPerOp()),
            Format.number(floor.opsPerSecond()));
  }

  /**
   * What a plot shows.
   *
   * @param goal the goal of EbbFS in a row; null for none
   */
  private record Shown(
      ToDoubleFunction<Figures> median, ToDoubleFunction<Run> single, Function<Row, Double> goal) {}

  private static String plot(String title, List<Row> rows, Shown shown) {
    List<Bars.Group> groups = new ArrayList<>();
    for (Row row : rows) {
      List<Bars.Bar> bars = new ArrayList<>();
      Double goal = shown.goal().apply(row);
      bars.add(bar(row.name() + ", " + EBBFS, EBBFS_COLOUR, row.ebbfs(), shown, goal));
      if (row.hdfs() != null) {
        bars.add(bar(HDFS, HDFS_COLOUR, row.hdfs(), shown, null));
      }
      groups.add(new Bars.Group("", bars));
    }
    boolean goals = rows.stream().anyMatch(row -> shown.goal().apply(row) != null);
    return "<h3>"
        + Html.escape(title)
        + "</h3>"
        + Bars.perGroup(
            title,
            new Bars.Names("median", null, "least to greatest run", goals ? "goal of EbbFS" : null),
            groups);
  }

  private static Bars.Bar bar(
      String title, String colour, Figures figures, Shown shown, Double goal) {
    double value = shown.median().applyAsDouble(figures);
    double low = figures.runs().stream().mapToDouble(shown.single()).min().orElse(value);
    double high = figures.runs().stream().mapToDouble(shown.single()).max().orElse(value);
    String text = Format.number(value) + (goal == null ? "" : ", goal " + Format.number(goal));
    return new Bars.Bar(title, colour, false, value, 0, low, high, goal, text);
  }

  private static String table(List<Row> rows) {
    HtmlTable table =
        new HtmlTable(
            "row",
            "#EbbFS ops/s",
            "#HDFS ops/s",
            "#ratio",
            "#EbbFS CPU µs (kernel)",
            "#HDFS CPU µs (kernel)",
            "#ratio",
            "#EbbFS p50 / p99 / p99.9 ms",
            "#HDFS p50 / p99 / p99.9 ms");
    for (Row row : rows) {
      table.row(
          row.name(),
          Format.number(row.ebbfs().opsPerSecond()),
          row.hdfs() == null ? null : Format.number(row.hdfs().opsPerSecond()),
          judged(row.speedRatio(), true),
          processorTime(row.ebbfs()),
          row.hdfs() == null ? null : processorTime(row.hdfs()),
          judged(row.cpuRatio(), false),
          latencies(row.ebbfs()),
          row.hdfs() == null ? null : latencies(row.hdfs()));
    }
    return table.html();
  }

  private static Object judged(Double ratio, boolean moreIsBetter) {
    return ratio == null
        ? null
        : new HtmlTable.Judged(Format.of("%.2f", ratio), moreIsBetter ? ratio >= 1 : ratio <= 1);
  }

  private static String processorTime(Figures figures) {
    return "%s (%s)"
        .formatted(
            Format.number(figures.serverMicrosPerOp()),
            Format.number(figures.serverKernelMicrosPerOp()));
  }

  private static String latencies(Figures figures) {
    return "%s / %s / %s"
        .formatted(
            Format.number(figures.p50Millis()),
            Format.number(figures.p99Millis()),
            Format.number(figures.p999Millis()));
  }

  private String measures() {
    if (results.measures().isEmpty()) {
      return "";
    }
    HtmlTable table = new HtmlTable("measure", "of", "#EbbFS", "#HDFS", "#ratio", "#goal of EbbFS");
    for (Measure measure : results.measures()) {
      table.row(
          measure.name() + " (" + measure.unit() + ")",
          measure.size(),
          values(measure.ebbfs()),
          measure.hdfs() == null ? null : values(measure.hdfs()),
          judged(measure.ratio(), false),
          measure.goal() == null ? null : goal(measure));
    }
    return Html.section(
        "Large directories, starts and memory",
        "Less is better in every line. With many files, the heap of HDFS fits all files and the "
            + "heap of EbbFS fits its cache (storeCache).",
        table.html());
  }

  private static HtmlTable.Judged goal(Measure measure) {
    return new HtmlTable.Judged(
        "at most " + Format.number(measure.goal()), measure.ebbfs().median() <= measure.goal());
  }

  private static String values(Values values) {
    return values.runs().size() == 1
        ? Format.number(values.median())
        : "%s (%s–%s)"
            .formatted(
                Format.number(values.median()),
                Format.number(values.least()),
                Format.number(values.greatest()));
  }

  private String environment() {
    Environment e = results.environment();
    HtmlTable table = new HtmlTable("", "");
    table.row("commit", e.commit());
    table.row("date", e.startedAt());
    table.row("processor", e.processor() + ", " + e.cores() + " cores");
    table.row("kernel", e.kernel());
    table.row("Java", e.java());
    table.row("Apache Hadoop", e.hadoop());
    table.row("heap of each namenode", e.heapMebibytes() + " MiB");
    table.row("JVM flags of both namenodes", String.join(" ", e.jvmFlags()));
    return Html.section("Where and how", "", table.html());
  }
}
