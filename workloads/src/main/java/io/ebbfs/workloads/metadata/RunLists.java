package io.ebbfs.workloads.metadata;

import io.ebbfs.workloads.results.MetadataResults.Figures;
import io.ebbfs.workloads.results.MetadataResults.Row;
import io.ebbfs.workloads.results.MetadataResults.Run;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Collects the runs of rows by system. Not thread-safe. */
final class RunLists {
  private final Map<String, Map<String, List<Run>>> runs = new LinkedHashMap<>();

  void add(String row, String system, Run run) {
    runs.computeIfAbsent(row, name -> new LinkedHashMap<>())
        .computeIfAbsent(system, name -> new ArrayList<>())
        .add(run);
  }

  /** The rows in the order of their first runs. */
  List<Row> rows(String client, int connections) {
    List<Row> rows = new ArrayList<>();
    runs.forEach(
        (name, bySystem) -> {
          List<Run> hdfs = bySystem.get(ComparedNamenodes.HDFS);
          rows.add(
              new Row(
                  name,
                  client,
                  connections,
                  Figures.of(bySystem.get(ComparedNamenodes.EBBFS)),
                  hdfs == null ? null : Figures.of(hdfs)));
        });
    return rows;
  }
}
