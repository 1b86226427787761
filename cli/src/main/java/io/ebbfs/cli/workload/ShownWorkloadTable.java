package io.ebbfs.cli.workload;

import io.ebbfs.common.config.Units;
import io.ebbfs.workloads.traffic.Profile;
import io.ebbfs.workloads.traffic.Properties;
import io.ebbfs.workloads.traffic.Range;
import io.ebbfs.workloads.traffic.Workload;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The properties of workloads, measured beside known, as a table. */
final class ShownWorkloadTable {
  private static final String HEAD =
      """
      workload   files      bytes   median     reads   reads on hot files     cold files           hot   hot set that
                                                       measured (known)       measured (known)   bytes   cools per epoch""";
  private static final String FOOT =
      """

      A file is hot in an epoch if it is read more often than the mean file.
      (s) stated in the HACFS paper, section 5; (d) derived from its figures.""";

  private ShownWorkloadTable() {}

  /** Prints a row for each workload; true if all measured values are within the known ranges. */
  static boolean print(List<Workload> workloads) {
    System.out.println(HEAD);
    boolean right = true;
    for (Workload workload : workloads) {
      right &= row(workload);
    }
    System.out.println(FOOT);
    return right;
  }

  private static boolean row(Workload workload) {
    Properties measured = Properties.of(workload);
    Optional<Profile> known =
        Profile.all().stream().filter(p -> p.name().equals(workload.name())).findFirst();
    System.out.printf(
        Locale.ROOT,
        "%-9s %6d %10s %8s %9d   %-22s %-20s %4.0f%%   %s%n",
        known.isPresent() ? workload.name() : "trace",
        workload.files().size(),
        Units.showBytes(workload.bytes()),
        Units.showBytes(measured.medianBytes()),
        workload.reads().size(),
        known
            .map(p -> share(measured.hotReads(), p.hotReads(), p.hotReadsStated()))
            .orElse(percent(measured.hotReads())),
        known
            .map(p -> share(measured.coldFiles(), p.coldFiles(), p.coldFilesStated()))
            .orElse(percent(measured.coldFiles())),
        100 * measured.hotBytes(),
        workload.epochs() == 1 ? "one epoch" : "%.0f%%".formatted(100 * measured.drift()));
    return known
        .map(
            p ->
                p.hotReads().contains(measured.hotReads())
                    && p.coldFiles().contains(measured.coldFiles()))
        .orElse(true);
  }

  private static String share(double measured, Range known, boolean stated) {
    return "%s (%s %s) %s"
        .formatted(
            percent(measured), known, stated ? "s" : "d", known.contains(measured) ? "ok" : "NOT");
  }

  private static String percent(double share) {
    return "%.1f%%".formatted(100 * share);
  }
}
