package io.ebbfs.workloads.experiment.report;

import io.ebbfs.workloads.experiment.Results;
import io.ebbfs.workloads.experiment.Results.Conversion;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;

/** Figure 12: what encoding and converting took, per encoded data block. */
final class Encoding {
  /**
   * One system.
   *
   * @param encodedBlocks data blocks that were encoded
   * @param encodeSeconds per such block, summed over transitions: not what one waits for, since
   *     they run in parallel
   * @param convertSeconds of upcodes and downcodes, per encoded data block
   * @param otherSeconds of moves and rewrites, per encoded data block: they mend placements and
   *     drop deleted data, with single codes as well, and are in no other figure here
   * @param convertShare of conversions in the time of all
   * @param relative to RS(10,4), both together; null if that was not run
   */
  record Cost(
      String system,
      String title,
      long encodes,
      long upcodes,
      long downcodes,
      double encodedBlocks,
      double encodeSeconds,
      double convertSeconds,
      double otherSeconds,
      double convertShare,
      Double relative,
      double blocksReadPerBlock,
      double blocksWrittenPerBlock,
      long bytesRead,
      long bytesWritten,
      long convertedBytes) {
    double seconds() {
      return encodeSeconds + convertSeconds;
    }

    Cost relativeTo(Cost base) {
      return new Cost(
          system,
          title,
          encodes,
          upcodes,
          downcodes,
          encodedBlocks,
          encodeSeconds,
          convertSeconds,
          otherSeconds,
          convertShare,
          base.seconds() == 0 ? null : seconds() / base.seconds(),
          blocksReadPerBlock,
          blocksWrittenPerBlock,
          bytesRead,
          bytesWritten,
          convertedBytes);
    }
  }

  private Encoding() {}

  /** Of all these systems that encoded something. */
  static List<Cost> costs(Systems systems) {
    List<Cost> costs =
        systems.compared().stream()
            .filter(r -> sum(r, true, false, Conversion::dataBytes) > 0)
            .map(Encoding::cost)
            .toList();
    return systems
        .single(Systems.RS_10_4)
        .flatMap(r -> costs.stream().filter(c -> c.system().equals(r.system().name())).findFirst())
        .map(base -> costs.stream().map(c -> c.relativeTo(base)).toList())
        .orElse(costs);
  }

  static Cost cost(Results r) {
    double blocks = sum(r, true, false, Conversion::dataBytes) / r.environment().blockBytes();
    double encode = sum(r, true, false, Conversion::busySeconds);
    double convert = sum(r, false, true, Conversion::busySeconds);
    return new Cost(
        r.system().name(),
        r.system().title(),
        count(r, "ENCODE"),
        count(r, "UPCODE"),
        count(r, "DOWNCODE"),
        blocks,
        encode / blocks,
        convert / blocks,
        others(r) / blocks,
        encode + convert == 0 ? 0 : convert / (encode + convert),
        null,
        sum(r, true, true, Conversion::blocksRead) / blocks,
        sum(r, true, true, Conversion::blocksWritten) / blocks,
        (long) sum(r, true, true, Conversion::bytesRead),
        (long) sum(r, true, true, Conversion::bytesWritten),
        (long) sum(r, false, true, Conversion::dataBytes));
  }

  /** Bytes converted, up and down, per byte encoded, by workload. */
  static Map<String, Double> convertedShare(Results r) {
    Map<String, Double> shares = new TreeMap<>();
    for (Results.WorkloadInfo workload : r.workloads()) {
      double converted =
          r.conversions().stream()
              .filter(c -> workload.name().equals(c.workload()))
              .filter(c -> c.kind().equals("UPCODE") || c.kind().equals("DOWNCODE"))
              .mapToDouble(Conversion::dataBytes)
              .sum();
      shares.put(workload.name(), converted / Math.max(1, workload.encodedLogicalBytes()));
    }
    return shares;
  }

  private static double others(Results r) {
    return r.conversions().stream()
        .filter(c -> c.kind().equals("MOVE") || c.kind().equals("REWRITE"))
        .mapToDouble(Conversion::busySeconds)
        .sum();
  }

  static long count(Results r, String kind) {
    return r.conversions().stream()
        .filter(c -> c.kind().equals(kind))
        .mapToLong(Conversion::count)
        .sum();
  }

  static double sum(Results r, boolean encodes, boolean converts, ToDoubleFunction<Conversion> of) {
    return r.conversions().stream()
        .filter(
            c ->
                encodes && c.kind().equals("ENCODE")
                    || converts && (c.kind().equals("UPCODE") || c.kind().equals("DOWNCODE")))
        .mapToDouble(of)
        .sum();
  }
}
