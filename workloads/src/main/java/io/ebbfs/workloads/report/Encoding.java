package io.ebbfs.workloads.report;

import io.ebbfs.workloads.results.Results;
import io.ebbfs.workloads.results.Results.Conversion;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;

/** Figure 12: the cost of encoding and converting, per encoded data block. */
final class Encoding {
  /**
   * One system.
   *
   * @param encodedBlocks data blocks that were encoded
   * @param encodeSeconds per encoded data block, summed over transitions; transitions run in
   *     parallel, so no file waits that long
   * @param convertSeconds of conversions to compact and to fast, per encoded data block
   * @param otherSeconds of re-placements and rewrites, per encoded data block; single codes have
   *     them too, so no other figure contains them
   * @param convertShare the share of conversions in encoding and converting
   * @param relative encoding and converting together, relative to RS(10,4); null if RS(10,4) was
   *     not run
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

  /** The costs of all systems that encoded something. */
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

  /** Bytes converted, to compact and to fast, per byte encoded, by workload. */
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
