package io.ebbfs.workloads.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The table at the end of the demo, for somebody who sees EbbFS for the first time. */
final class Summary {
  private Summary() {}

  static List<String> lines(Report report) {
    List<String> lines = new ArrayList<>();
    lines.add("What happened");
    row(
        lines,
        "files stored and read by a stock client",
        "%,d, %s",
        report.files,
        Console.bytes(report.bytes));
    row(lines, "times every file was read back", "%d", report.verifications.size());
    row(lines, "files with wrong bytes", "%d%s", report.mismatches, good(report.mismatches == 0));
    row(
        lines,
        "files that could not be read",
        "%d%s",
        report.unreadable,
        good(report.unreadable == 0));
    report.overheadFinal.forEach(
        (family, overhead) -> {
          row(
              lines,
              "bytes on disk per byte, " + family,
              "%.3f (three replicas: 3.0, bound: %.1f)%s",
              overhead,
              report.bound.get(family),
              good(overhead <= report.bound.get(family)));
          Report.Packing packing = report.packingFinal.get(family);
          row(
              lines,
              "  of that",
              "padding %.4f, unfilled %.4f, deleted %.4f",
              packing.padding(),
              packing.unfilled(),
              packing.dead());
        });
    row(lines, "encoded, converted, repaired", "%s", join(report.transitions));
    row(lines, "reads served by decoding", "%,d", report.degradedReads);
    row(lines, "blocks repaired", "%,d", report.repairedBlocks);
    report.blocksReadPerRepair.forEach(
        (code, blocks) -> row(lines, "  blocks read per repair, " + code, "%.2f", blocks));
    row(
        lines,
        "reads during the faults",
        "%,d, %d failed%s",
        report.backgroundReads,
        report.backgroundReadFailures,
        good(report.backgroundReadFailures == 0));
    row(lines, "memory of all processes, peak", "%s", Console.bytes(report.peakResidentBytes));
    row(
        lines,
        "memory of an idle chunk server",
        "%s",
        Console.bytes(report.idleChunkServerResidentBytes));
    row(
        lines,
        "seconds",
        "%.0f (%s)",
        report.secondsTotal,
        report.secondsPerPhase.entrySet().stream()
            .map(e -> Console.format("%s %.0f", e.getKey(), e.getValue()))
            .collect(Collectors.joining(", ")));
    lines.add("");
    lines.add(
        report.passed
            ? "PASSED: every byte was right after every step, and storage stayed under its bound."
            : "FAILED: see the lines above and the logs.");
    return lines;
  }

  private static void row(List<String> lines, String what, String format, Object... arguments) {
    lines.add(Console.format("  %-42s %s", what, Console.format(format, arguments)));
  }

  private static String good(boolean holds) {
    return holds ? "  ok" : "  NOT OK";
  }

  private static String join(Map<String, Long> counts) {
    return counts.entrySet().stream()
        .map(
            e ->
                Console.format(
                    "%,d x %s", e.getValue(), e.getKey().toLowerCase(java.util.Locale.ROOT)))
        .collect(Collectors.joining(", "));
  }
}
