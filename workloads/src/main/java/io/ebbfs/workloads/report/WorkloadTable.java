package io.ebbfs.workloads.report;

import io.ebbfs.workloads.results.Results;
import io.ebbfs.workloads.results.Results.WorkloadInfo;
import io.ebbfs.workloads.traffic.Profile;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Table 3: the properties of the generated workloads, beside the known properties. */
final class WorkloadTable {
  /**
   * A workload, measured on the stored files and their reads.
   *
   * @param known the known properties of the workload of this name; null for a trace
   */
  record Row(
      String name,
      int files,
      long bytes,
      double hotReads,
      double coldFiles,
      double hotBytes,
      double drift,
      Profile known) {
    boolean asKnown() {
      return known == null
          || known.hotReads().contains(hotReads) && known.coldFiles().contains(coldFiles);
    }
  }

  private WorkloadTable() {}

  /** Each workload once, because every system has the same workloads. */
  static List<Row> rows(Systems systems) {
    Map<String, Row> rows = new LinkedHashMap<>();
    for (Results results : systems.all()) {
      for (WorkloadInfo w : results.workloads()) {
        if (!Systems.isVariant(results.system()) || w.modelSeconds() > 0) {
          rows.putIfAbsent(w.name(), row(w));
        }
      }
    }
    return List.copyOf(rows.values());
  }

  private static Row row(WorkloadInfo w) {
    Profile known =
        Profile.all().stream().filter(p -> p.name().equals(w.name())).findFirst().orElse(null);
    return new Row(
        w.name(),
        w.files(),
        w.bytes(),
        w.hotReads(),
        w.coldFiles(),
        w.hotBytes(),
        w.drift(),
        known);
  }
}
