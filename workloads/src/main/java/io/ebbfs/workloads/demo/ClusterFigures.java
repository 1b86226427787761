package io.ebbfs.workloads.demo;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.plan.Planner;
import io.ebbfs.coding.plan.ReadCost;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.testbed.client.ClusterProbe;
import io.ebbfs.workloads.demo.DataSet.Family;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Fills the report with what the namenode has stored and counted at the end of the demo. */
final class ClusterFigures {
  private final DemoReport report;
  private final ClusterProbe namenode;

  ClusterFigures(DemoReport report, ClusterProbe namenode) {
    this.report = report;
    this.namenode = namenode;
  }

  void fill() throws IOException {
    storage();
    degradedReads();
    repairs();
    report.bytesMoved = new TreeMap<>(namenode.counters("bytesMoved."));
    transitions(namenode.transitions(TransitionStateProto.DONE));
  }

  private void storage() throws IOException {
    for (Map.Entry<Family, ClusterProbe.Usage> usage : FamilyUsage.of(namenode).entrySet()) {
      ClusterProbe.Usage of = usage.getValue();
      report.overheadFinal.put(usage.getKey().key(), of.overhead());
      report.packingFinal.put(
          usage.getKey().key(),
          new DemoReport.Packing(
              of.ofLogical(of.packing().paddingBytes()),
              of.ofLogical(of.packing().unfilledBytes()),
              of.ofLogical(of.packing().deadBytes())));
    }
  }

  private void degradedReads() throws IOException {
    report.degradedReadsByCode = new TreeMap<>(namenode.counters("degradedReads."));
    report.degradedReads =
        report.degradedReadsByCode.values().stream().mapToLong(Long::longValue).sum();
    Map<String, Long> sources = namenode.counters("degradedReadSources.");
    report.degradedReadsByCode.forEach(
        (code, reads) ->
            report.blocksReadPerDegradedRead.put(
                code, (double) sources.getOrDefault(code, 0L) / Math.max(1, reads)));
  }

  private void repairs() throws IOException {
    Map<String, Long> read = namenode.counters("repairBlocksRead.");
    namenode
        .counters("repairedBlocks.")
        .forEach(
            (code, blocks) -> {
              double perRepair = (double) read.getOrDefault(code, 0L) / Math.max(1, blocks);
              report.repairs.put(
                  code, new DemoReport.CodeCost(blocks, read.getOrDefault(code, 0L), perRepair));
              report.blocksReadPerRepair.put(code, perRepair);
            });
    report.repairedBlocks =
        report.repairs.values().stream().mapToLong(DemoReport.CodeCost::repairedBlocks).sum();
  }

  private void transitions(List<TransitionRow> done) {
    Map<TransitionKindProto, Map<String, List<TransitionRow>>> byKind =
        new EnumMap<>(TransitionKindProto.class);
    for (TransitionRow row : done) {
      byKind
          .computeIfAbsent(row.getKind(), kind -> new TreeMap<>())
          .computeIfAbsent(row.getToCode(), code -> new ArrayList<>())
          .add(row);
    }
    List<DemoReport.Converted> conversions = new ArrayList<>();
    byKind.forEach(
        (kind, byCode) ->
            byCode.forEach(
                (code, rows) -> {
                  report.transitions.merge(kind.name(), (long) rows.size(), Long::sum);
                  conversions.add(
                      new DemoReport.Converted(
                          kind.name(), code, rows.size(), rows.get(0).getReason()));
                }));
    report.conversions = conversions;
  }

  void fillFastCode(DataSet data, ServedReads served, DegradedReadTimer timer) throws IOException {
    List<StripeStatusProto> stripes = namenode.stripes();
    List<DemoReport.FastCode> all = new ArrayList<>();
    for (Family family : Family.values()) {
      if (data.bytes(family) > 0) {
        String fast = family.codes().fast();
        String compact = family.codes().compact();
        all.add(
            new DemoReport.FastCode(
                family.key(),
                fast,
                compact,
                served.share(family, fast),
                (double) bytesIn(fast, family, stripes) / data.bytes(family),
                timer.medianSources(fast).orElseGet(() -> planned(fast)),
                timer.medianSources(compact).orElseGet(() -> planned(compact)),
                orNull(timer.medianMillis(fast)),
                orNull(timer.medianMillis(compact))));
      }
    }
    report.fastCode = all;
  }

  private static long bytesIn(String code, Family family, List<StripeStatusProto> stripes) {
    return stripes.stream()
        .filter(stripe -> stripe.getStripe().getCode().equals(code))
        .filter(stripe -> stripe.getStripe().getPolicy().equals(family.key()))
        .mapToLong(StripeStatusProto::getLiveBytes)
        .sum();
  }

  /** What a read of one lost block in a full stripe decodes from, on average. */
  private static double planned(String name) {
    ErasureCode code = Codes.byName(name);
    Set<Integer> all = IntStream.range(0, code.size()).boxed().collect(Collectors.toSet());
    return IntStream.range(0, code.dataCount())
        .map(lost -> Planner.readPlan(code, all, Set.of(lost), lost, ReadCost.UNIFORM).reads())
        .average()
        .orElse(0);
  }

  private static Double orNull(OptionalDouble value) {
    return value.isPresent() ? value.getAsDouble() : null;
  }
}
