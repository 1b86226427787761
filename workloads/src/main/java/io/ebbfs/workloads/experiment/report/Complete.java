package io.ebbfs.workloads.experiment.report;

import io.ebbfs.workloads.experiment.Results;
import io.ebbfs.workloads.experiment.Results.SystemInfo;
import java.util.List;
import java.util.Map;

/** Results without nulls where lists and maps are meant: what was not measured is empty. */
final class Complete {
  private Complete() {}

  static Results of(Results r) {
    return new Results(
        r.format(),
        r.experiment() == null ? "" : r.experiment(),
        titled(r.system()),
        r.environment(),
        list(r.workloads()),
        list(r.reads()),
        list(r.repairs()),
        list(r.conversions()),
        list(r.storage()),
        list(r.jobs()),
        list(r.incidents()),
        list(r.duringIncidents()),
        r.seconds() == null ? Map.of() : r.seconds(),
        list(r.notes()));
  }

  private static SystemInfo titled(SystemInfo s) {
    return s == null || s.title() != null
        ? s
        : new SystemInfo(s.name(), s.name(), s.fast(), s.compact(), s.bound());
  }

  private static <T> List<T> list(List<T> list) {
    return list == null ? List.of() : list;
  }
}
