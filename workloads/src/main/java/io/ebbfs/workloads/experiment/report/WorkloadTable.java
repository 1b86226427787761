package io.ebbfs.workloads.experiment.report;

import io.ebbfs.workloads.experiment.Results;
import io.ebbfs.workloads.experiment.Results.WorkloadInfo;
import io.ebbfs.workloads.traffic.Profile;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Table 3: what the workloads are like, as generated, beside what is known of them. */
final class WorkloadTable {
  /**
   * A workload, measured on what was stored.
   *
   * @param known of the workload of this name; null for a trace or one of a user's own
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

  /** Each workload once: every system is given the same. */
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
