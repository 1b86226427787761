package io.ebbfs.workloads.data;

import io.ebbfs.workloads.results.DataResults;
import io.ebbfs.workloads.results.DataResults.Row;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** The runs of all rows, which become medians. Not thread-safe. */
final class DataRuns {
  private final Map<BenchmarkRow, Map<String, List<Run>>> runs = new LinkedHashMap<>();
  private final Map<BenchmarkRow, String> notes = new LinkedHashMap<>();

  /** Makes a row, at the end of all rows, unless there is one. */
  void open(BenchmarkRow row) {
    runs.computeIfAbsent(row, key -> new LinkedHashMap<>());
  }

  void add(BenchmarkRow row, String system, Run run) {
    open(row);
    runs.get(row).computeIfAbsent(system, name -> new ArrayList<>()).add(run);
  }

  /** Says why something is missing, or what has to be known. */
  void note(BenchmarkRow row, String text) {
    open(row);
    notes.merge(row, text, (all, more) -> all.contains(more) ? all : all + "; " + more);
  }

  /** A system whose work failed has no figures in the row: what it did before means nothing. */
  void fail(BenchmarkRow row, String system, String why) {
    note(row, system + ": " + why);
    runs.get(row).put(system, List.of());
  }

  boolean hasFailed(BenchmarkRow row, String system) {
    List<Run> known = runs.getOrDefault(row, Map.of()).get(system);
    return known != null && known.isEmpty();
  }

  List<Row> rows() {
    List<Row> rows = new ArrayList<>();
    runs.forEach(
        (key, bySystem) ->
            rows.add(
                new Row(
                    key.name(),
                    key.client(),
                    key.goal(),
                    side(bySystem.get(ComparedSystem.EBBFS)),
                    side(bySystem.get(ComparedSystem.HDFS)),
                    notes.getOrDefault(key, ""))));
    return rows;
  }

  static DataResults.Side side(List<Run> runs) {
    if (runs == null || runs.isEmpty()) {
      return null;
    }
    boolean byBytes = runs.get(0).bytes() > 0;
    boolean counted = runs.get(0).usage() != null;
    Medians all = new Medians(runs);
    Medians bytes = new Medians(byBytes ? runs : List.of());
    Medians cpu = new Medians(byBytes && counted ? runs : List.of());
    Medians work = new Medians(!byBytes && counted ? runs : List.of());
    ToDoubleFunction<Run> rate = run -> run.megabytes() / run.seconds();
    Medians noticed = new Medians(runs.get(0).noticedSeconds() != null ? runs : List.of());
    Medians linked = new Medians(runs.get(0).received() != null ? runs : List.of());
    boolean traffic = runs.get(0).traffic() != null;
    return new DataResults.Side(
        bytes.of(rate),
        bytes.least(rate),
        bytes.greatest(rate),
        cpu.of(run -> run.perGigabyte(run.usage().all().cpuSeconds())),
        cpu.of(run -> run.perGigabyte(run.usage().all().userMicros() / 1e6)),
        cpu.of(run -> run.perGigabyte(run.usage().all().systemMicros() / 1e6)),
        cpu.of(run -> run.perGigabyte(run.usage().client().cpuSeconds())),
        cpu.of(run -> run.perGigabyte(run.usage().namenode().cpuSeconds())),
        cpu.of(run -> run.perGigabyte(run.usage().servers().cpuSeconds())),
        all.of(Run::millis),
        cpu.of(run -> run.usage().servers().readCalls() / run.megabytes()),
        cpu.of(run -> run.usage().servers().writeCalls() / run.megabytes()),
        work.of(run -> run.usage().all().cpuSeconds()),
        byBytes ? known(runs.get(0).bytes()) : null,
        all.of(Run::seconds),
        noticed.of(Run::noticedSeconds),
        rounded(linked.of(run -> run.received().byServers())),
        rounded(linked.of(run -> run.received().byClients())),
        byBytes ? linked.of(run -> run.received().all() / (double) run.bytes()) : null,
        traffic ? known(runs.get(0).traffic().bytes()) : null,
        traffic ? known(runs.get(0).traffic().plannedBytes()) : null,
        all.of(Run::idleCores),
        all.of(Run::otherCores));
  }

  private static Long rounded(Double bytes) {
    return bytes == null ? null : (Long) Math.round(bytes);
  }

  private static Long known(long bytes) {
    return bytes == 0 ? null : (Long) bytes;
  }

  /** Of values of runs; null without runs. */
  private record Medians(List<Run> runs) {
    Double of(ToDoubleFunction<Run> value) {
      double[] sorted = sorted(value);
      int half = sorted.length / 2;
      return sorted.length == 0
          ? null
          : sorted.length % 2 == 1
              ? (Double) sorted[half]
              : (Double) ((sorted[half - 1] + sorted[half]) / 2);
    }

    Double least(ToDoubleFunction<Run> value) {
      return runs.isEmpty() ? null : (Double) sorted(value)[0];
    }

    Double greatest(ToDoubleFunction<Run> value) {
      return runs.isEmpty() ? null : (Double) sorted(value)[runs.size() - 1];
    }

    private double[] sorted(ToDoubleFunction<Run> value) {
      return runs.stream().mapToDouble(value).sorted().toArray();
    }
  }
}
