package io.ebbfs.workloads.demo;

import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.words.TransitionKinds;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The table that the demo prints at its end. */
final class DemoSummary {
  private DemoSummary() {}

  static List<String> lines(DemoReport report) {
    List<String> lines = new ArrayList<>();
    lines.add("What happened");
    row(
        lines,
        "files stored and read by a stock client",
        "%,d, %s",
        report.files,
        DemoConsole.bytes(report.bytes));
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
          DemoReport.Packing packing = report.packingFinal.get(family);
          row(
              lines,
              "  of that, cost of packing",
              "padding %.4f, unfilled %.4f, deleted %.4f",
              packing.padding(),
              packing.unfilled(),
              packing.dead());
        });
    fastCode(report, lines);
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
    row(lines, "memory of all processes, peak", "%s", DemoConsole.bytes(report.peakResidentBytes));
    row(
        lines,
        "memory of an idle chunk server",
        "%s",
        DemoConsole.bytes(report.idleChunkServerResidentBytes));
    row(
        lines,
        "seconds",
        "%.0f (%s)",
        report.secondsTotal,
        report.secondsPerPhase.entrySet().stream()
            .map(e -> DemoConsole.format("%s %.0f", e.getKey(), e.getValue()))
            .collect(Collectors.joining(", ")));
    lines.add("");
    lines.add(
        report.passed
            ? "PASSED: every byte was right after every step, and storage stayed under its bound."
            : "FAILED: see the lines above and the logs.");
    return lines;
  }

  private static void fastCode(DemoReport report, List<String> lines) {
    for (DemoReport.FastCode code : report.fastCode) {
      row(
          lines,
          "share of the fast code, " + code.family(),
          "%.1f%% of the reads on %.1f%% of the bytes",
          100 * code.shareOfReads(),
          100 * code.shareOfBytes());
      row(
          lines,
          "  a degraded read in %s".formatted(code.fast()),
          "%s",
          cost(code.degradedReadBlocksFast(), code.degradedReadMillisFast()));
      row(
          lines,
          "  a degraded read in %s".formatted(code.compact()),
          "%s",
          cost(code.degradedReadBlocksCompact(), code.degradedReadMillisCompact()));
    }
    if (report.hotData.isEmpty()) {
      return; // no family has room for hot data, or the demo ended early
    }
    row(
        lines,
        "hot reads on the fast code at the end",
        "%s%s",
        report.hotData.entrySet().stream()
            .map(e -> DemoConsole.format("%s %.0f%%", e.getKey(), 100 * e.getValue().inFastCode()))
            .collect(Collectors.joining(", ")),
        good(report.hotDataIsFast()));
  }

  private static String cost(Double blocks, Double millis) {
    String decoded = blocks == null ? "none" : DemoConsole.format("%.2f blocks", blocks);
    return millis == null ? decoded : decoded + DemoConsole.format(", %.1f ms", millis);
  }

  private static void row(List<String> lines, String what, String format, Object... arguments) {
    lines.add(DemoConsole.format("  %-42s %s", what, DemoConsole.format(format, arguments)));
  }

  private static String good(boolean holds) {
    return holds ? "  ok" : "  NOT OK";
  }

  private static String join(Map<String, Long> counts) {
    return counts.entrySet().stream()
        .map(
            e ->
                DemoConsole.format(
                    "%,d x %s",
                    e.getValue(), TransitionKinds.show(TransitionKindProto.valueOf(e.getKey()))))
        .collect(Collectors.joining(", "));
  }
}
