package io.ebbfs.namenode.tasks.claim;

import io.ebbfs.protocol.proto.ChunkProtos.SourceProto;
import io.ebbfs.protocol.proto.ChunkProtos.TargetProto;
import io.ebbfs.protocol.proto.CodingProtos.CheckProto;
import io.ebbfs.protocol.proto.CodingProtos.StepProto;
import io.ebbfs.protocol.proto.StoreProtos.ServerUseProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.words.CombineBytes;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * What an attempt of a transition takes of the chunk servers, by their uuids.
 *
 * @param combines the combines that each server runs
 * @param reads the combines for which each server reads a source
 * @param bytes the bytes that each server reads, receives, sends and writes
 * @param totalBytes the bytes that are read and written
 */
record Footprint(
    Map<String, Integer> combines,
    Map<String, Integer> reads,
    Map<String, Long> bytes,
    long totalBytes) {

  /**
   * The footprint of the steps and checks of an attempt. The checks run after the steps, so a
   * server takes part in as many combines at once as the larger of both asks for.
   */
  static Footprint of(List<StepProto> steps, List<CheckProto> checks) {
    Sum ofSteps = new Sum();
    steps.forEach(step -> ofSteps.add(step, true));
    Sum ofChecks = new Sum();
    checks.stream()
        .filter(CheckProto::hasDecode)
        .forEach(check -> ofChecks.add(check.getDecode(), false));
    ofChecks.combines.forEach((server, n) -> ofSteps.combines.merge(server, n, Math::max));
    ofChecks.reads.forEach((server, n) -> ofSteps.reads.merge(server, n, Math::max));
    ofChecks.bytes.forEach((server, n) -> ofSteps.bytes.merge(server, n, Long::sum));
    return new Footprint(
        ofSteps.combines, ofSteps.reads, ofSteps.bytes, ofSteps.total + ofChecks.total);
  }

  /** The combines of an attempt that was claimed from an earlier process; its bytes are paid. */
  static Footprint of(TransitionRow claimed) {
    Map<String, Integer> combines = new HashMap<>();
    Map<String, Integer> reads = new HashMap<>();
    for (ServerUseProto use : claimed.getServerUsesList()) {
      combines.put(use.getServerUuid(), use.getCombines());
      reads.put(use.getServerUuid(), use.getReads());
    }
    return new Footprint(combines, reads, Map.of(), 0);
  }

  /** The combines as a row holds them. */
  List<ServerUseProto> uses() {
    Set<String> servers = new TreeSet<>(combines.keySet());
    servers.addAll(reads.keySet());
    return servers.stream()
        .map(
            server ->
                ServerUseProto.newBuilder()
                    .setServerUuid(server)
                    .setCombines(combines.getOrDefault(server, 0))
                    .setReads(reads.getOrDefault(server, 0))
                    .build())
        .toList();
  }

  private static final class Sum {
    private final Map<String, Integer> combines = new HashMap<>();
    private final Map<String, Integer> reads = new HashMap<>();
    private final Map<String, Long> bytes = new HashMap<>();
    private long total;

    void add(StepProto step, boolean writes) {
      String combiner = step.getExecutor().getDatanodeUuid();
      combines.merge(combiner, 1, Integer::sum);
      Set<String> readers = new HashSet<>();
      long longest = CombineBytes.longestTarget(step.getCombine());
      for (SourceProto source : step.getCombine().getSourcesList()) {
        String server = source.getLocations(0).getServer().getDatanodeUuid();
        readers.add(server);
        move(server, combiner, CombineBytes.ofSource(source, longest));
      }
      readers.forEach(server -> reads.merge(server, 1, Integer::sum));
      if (writes) {
        for (TargetProto target : step.getCombine().getTargetsList()) {
          String server = target.getLocation().getServer().getDatanodeUuid();
          move(server, combiner, target.getBlock().getNumBytes());
        }
      }
    }

    /** A block is read or written at a server, and crosses the link of the combiner. */
    private void move(String server, String combiner, long length) {
      total += length;
      bytes.merge(server, length, Long::sum);
      if (!server.equals(combiner)) {
        bytes.merge(combiner, length, Long::sum);
      }
    }
  }
}
