package io.ebbfs.workloads.experiment;

import io.ebbfs.protocol.proto.CodingProtos.FileStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.workloads.results.Results.Conversion;
import io.ebbfs.workloads.results.Results.WorkloadInfo;
import io.ebbfs.workloads.traffic.Properties;
import io.ebbfs.workloads.traffic.Workload;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Summarizes how the data lies in the cluster after it has adapted, and what that has cost. */
final class StateSummary {
  private final Experiment experiment;
  private final Bench bench;
  private final StoredData data;
  private final StripeSnapshot state;

  /** Takes over the stripes of this moment. */
  StateSummary(Experiment experiment, Bench bench, StoredData data) throws IOException {
    this.experiment = experiment;
    this.bench = bench;
    this.data = data;
    this.state = StripeSnapshot.of(bench);
  }

  /** The workloads, with the codes of their data. */
  List<WorkloadInfo> workloads() throws IOException {
    List<WorkloadInfo> infos = new ArrayList<>();
    for (Map.Entry<String, Workload> entry : data.workloads().entrySet()) {
      infos.add(info(entry.getKey(), entry.getValue()));
    }
    return infos;
  }

  private WorkloadInfo info(String name, Workload workload) throws IOException {
    int[] counts = workload.readsIn(workload.epochs() - 1);
    Map<String, Double> readsByCode = new TreeMap<>();
    Map<String, Double> bytesByCode = new TreeMap<>();
    for (int file = 0; file < counts.length; file++) {
      for (FileBlock block : data.blocks(name, file)) {
        readsByCode.merge(state.code(block), (double) counts[file], Double::sum);
        bytesByCode.merge(state.code(block), (double) block.bytes(), Double::sum);
      }
    }
    long stored = 0;
    for (FileStatusProto file : bench.probe().files("/" + name)) {
      stored += file.getStoredBytes();
    }
    long live = 0;
    long inStripes = 0;
    for (StripeStatusProto stripe : state.all()) {
      if (stripe.getStripe().getPolicy().equals(name)) {
        stored += stripe.getParityBytes() + stripe.getDeadBytes();
        live += stripe.getLiveBytes();
        inStripes += StripeSnapshot.storedBytes(stripe);
      }
    }
    Properties properties = Properties.of(workload);
    return new WorkloadInfo(
        name,
        workload.files().size(),
        workload.bytes(),
        properties.hotReads(),
        properties.coldFiles(),
        properties.hotBytes(),
        properties.drift(),
        shares(readsByCode),
        shares(bytesByCode),
        stored,
        live,
        inStripes,
        name.equals(ExperimentFile.TRACE)
            ? workload.durationMillis() * experiment.data().traceSpeed() / 1000
            : 0);
  }

  private static Map<String, Double> shares(Map<String, Double> amounts) {
    double all = amounts.values().stream().mapToDouble(Double::doubleValue).sum();
    return amounts.entrySet().stream()
        .collect(
            Collectors.toMap(
                Map.Entry::getKey, e -> e.getValue() / all, (a, b) -> a, TreeMap::new));
  }

  /** The cost of all finished transitions but repairs, by workload, kind and code. */
  List<Conversion> conversions() throws IOException {
    Map<String, Conversion> sums = new TreeMap<>();
    for (TransitionRow row : bench.probe().transitions(TransitionStateProto.DONE)) {
      if (row.getKind() == TransitionKindProto.REPAIR) {
        continue;
      }
      Conversion one =
          new Conversion(
              row.getPolicy(),
              row.getKind().name(),
              row.getToCode(),
              1,
              row.getDataBytes(),
              row.getBlocksRead(),
              row.getBlocksWritten(),
              row.getBytesRead(),
              row.getBytesWritten(),
              (row.getUpdatedMillis() - row.getClaimedMillis()) / 1000.0);
      sums.merge(one.workload() + one.kind() + one.toCode(), one, StateSummary::plus);
    }
    return List.copyOf(sums.values());
  }

  private static Conversion plus(Conversion a, Conversion b) {
    return new Conversion(
        a.workload(),
        a.kind(),
        a.toCode(),
        a.count() + b.count(),
        a.dataBytes() + b.dataBytes(),
        a.blocksRead() + b.blocksRead(),
        a.blocksWritten() + b.blocksWritten(),
        a.bytesRead() + b.bytesRead(),
        a.bytesWritten() + b.bytesWritten(),
        a.busySeconds() + b.busySeconds());
  }
}
