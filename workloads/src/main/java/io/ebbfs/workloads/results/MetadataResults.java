package io.ebbfs.workloads.results;

import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * The figures of a benchmark of metadata; the content of its JSON file.
 *
 * @param rows one per kind of operation, client and number of connections
 * @param measures figures of another kind: of starts, memory and large directories
 * @param floor of a server that answers each call with the same bytes, with 64 connections of the
 *     native client; null if it was not measured
 */
public record MetadataResults(
    Environment environment, List<Row> rows, List<Measure> measures, Figures floor) {
  /** The clients that drive the namenodes. */
  public static final String NATIVE = "native";

  public static final String STOCK = "stock";

  /**
   * Where and how it was measured.
   *
   * @param commit of the source tree; "-dirty" if files were changed since
   * @param hadoop version of Apache HDFS and of the stock clients
   * @param heapMebibytes of the JVM of each namenode
   * @param jvmFlags of both namenodes
   * @param secondsPerRun length of the longest runs
   * @param rounds runs per row and system
   */
  public record Environment(
      String commit,
      String startedAt,
      int cores,
      String processor,
      String kernel,
      String java,
      String hadoop,
      int heapMebibytes,
      List<String> jvmFlags,
      boolean quick,
      double secondsPerRun,
      int rounds) {}

  /**
   * One run: what a load generator counted within its window.
   *
   * @param serverMicrosPerOp processor time of all threads of the namenode per operation
   * @param serverKernelMicrosPerOp the part of it within the kernel: mostly system calls
   * @param clientMicrosPerOp processor time of the load generator per operation
   */
  public record Run(
      long operations,
      double seconds,
      double opsPerSecond,
      double serverMicrosPerOp,
      double serverKernelMicrosPerOp,
      double clientMicrosPerOp,
      double p50Millis,
      double p99Millis,
      double p999Millis) {}

  /** The medians of the runs of one system, and the runs. */
  public record Figures(
      double opsPerSecond,
      double serverMicrosPerOp,
      double serverKernelMicrosPerOp,
      double p50Millis,
      double p99Millis,
      double p999Millis,
      List<Run> runs) {
    public Figures {
      runs = List.copyOf(runs);
    }

    public static Figures of(List<Run> runs) {
      return new Figures(
          median(runs, Run::opsPerSecond),
          median(runs, Run::serverMicrosPerOp),
          median(runs, Run::serverKernelMicrosPerOp),
          median(runs, Run::p50Millis),
          median(runs, Run::p99Millis),
          median(runs, Run::p999Millis),
          runs);
    }

    /** The least operations per second of a run. */
    public double leastOpsPerSecond() {
      return runs.stream().mapToDouble(Run::opsPerSecond).min().orElse(0);
    }

    public double greatestOpsPerSecond() {
      return runs.stream().mapToDouble(Run::opsPerSecond).max().orElse(0);
    }
  }

  /**
   * One kind of operation by one kind of client.
   *
   * @param client {@link #NATIVE} or {@link #STOCK}
   * @param hdfs null if only EbbFS was measured
   */
  public record Row(String name, String client, int connections, Figures ebbfs, Figures hdfs) {
    /** Operations per second of EbbFS over those of HDFS; null without HDFS. */
    public Double speedRatio() {
      return hdfs == null ? null : ebbfs.opsPerSecond() / hdfs.opsPerSecond();
    }

    /** Processor time per operation of EbbFS over that of HDFS; null without HDFS. */
    public Double cpuRatio() {
      return hdfs == null ? null : ebbfs.serverMicrosPerOp() / hdfs.serverMicrosPerOp();
    }
  }

  /** The median of single values, and the values. */
  public record Values(double median, double least, double greatest, List<Double> runs) {
    public Values {
      runs = List.copyOf(runs);
    }

    public static Values of(List<Double> runs) {
      double[] sorted = runs.stream().mapToDouble(Double::doubleValue).sorted().toArray();
      return new Values(middle(sorted), sorted[0], sorted[sorted.length - 1], runs);
    }
  }

  /**
   * One figure of both systems, of which less is better.
   *
   * @param unit {@code s}, {@code ms}, {@code MiB}, {@code 1/s} or {@code times}
   * @param size what it was measured with: {@code 250,000 files}
   * @param goal what EbbFS is to stay below; null for none
   * @param hdfs null if only EbbFS was measured
   */
  public record Measure(
      String name, String unit, String size, Double goal, Values ebbfs, Values hdfs) {
    /** The figure of EbbFS over that of HDFS; null without HDFS. */
    public Double ratio() {
      return hdfs == null || hdfs.median() == 0 ? null : ebbfs.median() / hdfs.median();
    }
  }

  static double median(List<Run> runs, ToDoubleFunction<Run> figure) {
    return middle(runs.stream().mapToDouble(figure).sorted().toArray());
  }

  /** The middle value, or the mean of the middle two. */
  private static double middle(double[] sorted) {
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
}
