package io.ebbfs.workloads.report;

import io.ebbfs.workloads.results.Results;
import io.ebbfs.workloads.results.Results.WorkloadInfo;

/** Conversions per day under a recorded trace. */
final class Trace {
  private static final double DAY = 86_400;

  /**
   * A system under a trace.
   *
   * @param days that the trace covers, before compression
   * @param bytesPerDay data that changed its code, in the scale of the experiment
   * @param sharePerDay the same as a share of the encoded bytes
   */
  record PerDay(
      String system,
      String title,
      String workload,
      double days,
      double upcodesPerDay,
      double downcodesPerDay,
      double bytesPerDay,
      double sharePerDay) {}

  private Trace() {}

  /** The conversions of a system whose only workload is a trace; null for other systems. */
  static PerDay perDay(Results r) {
    if (r.workloads().size() != 1 || r.workloads().get(0).modelSeconds() <= 0) {
      return null;
    }
    WorkloadInfo workload = r.workloads().get(0);
    double days = workload.modelSeconds() / DAY;
    double bytes = Encoding.sum(r, false, true, c -> c.dataBytes()) / days;
    return new PerDay(
        r.system().name(),
        r.system().title(),
        workload.name(),
        days,
        Encoding.count(r, "UPCODE") / days,
        Encoding.count(r, "DOWNCODE") / days,
        bytes,
        workload.encodedLogicalBytes() == 0 ? 0 : bytes / workload.encodedLogicalBytes());
  }
}
