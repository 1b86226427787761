package io.ebbfs.workloads.report;

import io.ebbfs.workloads.results.Results;
import io.ebbfs.workloads.results.Results.Repair;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

/**
 * Figures 10 and 11: the time and the traffic of the repair of a disk or a server. Both are shown
 * per lost <em>data</em> block, as in the paper; parities are repaired along with the data. The
 * number of lost data blocks is computed from the lost bytes and the share of data in all that
 * stripes store. It is not counted, because a disk holds data and parities by chance, and the
 * chance differs by more than the codes do.
 */
final class Reconstruction {
  /** Kinds of losses, in the order in which they are shown. */
  static final List<String> WHAT = List.of("disk", "server", "server under load");

  private static final double MIB = 1 << 20;

  /**
   * Losses of one kind on one system.
   *
   * @param what "disk", "server", or "server under load": while clients read
   * @param lostBlocks replicas, of all repetitions
   * @param seconds from the first repair to the end of the last one
   * @param secondsPerDataBlock the same per lost data block
   * @param secondsPerMib the same per MiB lost, parities included
   * @param movedPerDataBlock bytes read and written per byte of lost data
   * @param countedPerDataBlock blocks read and written per data block that was counted among the
   *     lost
   * @param plannedPerDataBlock blocks that the plans read and write per lost data block; lost
   *     blocks of one stripe share reads; null without plans
   * @param arithmeticPerDataBlock the same, if each lost block is the only one of its stripe and
   *     all blocks are equally likely to be lost; null if a code is unknown
   * @param coded repetitions that lost blocks of stripes; lost replicas are copied again, and no
   *     plan says what is read for them
   * @param equalToPlan of these, the repetitions that read as many blocks as was planned
   * @param linkRatio bytes on links to the bytes that had to cross one; null on loopback
   * @param checked bytes read to check rebuilt blocks, per byte read and written to rebuild them
   */
  record Loss(
      String system,
      String title,
      String what,
      int repetitions,
      int lostBlocks,
      Spread detectSeconds,
      Spread seconds,
      Spread secondsPerDataBlock,
      Spread secondsPerMib,
      Spread movedPerDataBlock,
      Spread countedPerDataBlock,
      Spread plannedPerDataBlock,
      Double arithmeticPerDataBlock,
      long blocksRead,
      long blocksWritten,
      long plannedReads,
      int coded,
      int equalToPlan,
      Spread linkRatio,
      Spread checked,
      Map<String, ByCode> byCode) {
    /** Blocks moved and read by checks, as medians; null if nothing was moved. */
    Double transferPerDataBlock() {
      return movedPerDataBlock == null ? null : movedPerDataBlock.median() * (1 + checked.median());
    }
  }

  /** Blocks of one code that were rebuilt in all repetitions, and the blocks read for each. */
  record ByCode(int data, int parities, long read, Double readsPerBlock) {}

  private Reconstruction() {}

  static List<Loss> losses(Results results) {
    return WHAT.stream().map(what -> loss(results, what)).filter(Objects::nonNull).toList();
  }

  private static Loss loss(Results results, String what) {
    List<Repair> repairs = results.repairs().stream().filter(r -> r.what().equals(what)).toList();
    if (repairs.isEmpty()) {
      return null;
    }
    List<Repair> alone = alone(repairs);
    return new Loss(
        results.system().name(),
        results.system().title(),
        what,
        repairs.size(),
        repairs.stream().mapToInt(Repair::lostBlocks).sum(),
        spread(alone, Repair::detectSeconds),
        spread(alone, Repair::seconds),
        spread(alone, r -> per(r.seconds(), lostData(results, r))),
        spread(alone, r -> r.lostBytes() == 0 ? null : r.seconds() / (r.lostBytes() / MIB)),
        spread(repairs, r -> moved(results, r)),
        spread(repairs, Reconstruction::perCounted),
        spread(repairs, r -> planned(results, r)),
        arithmetic(repairs),
        repairs.stream().mapToLong(Repair::blocksRead).sum(),
        repairs.stream().mapToLong(Repair::blocksWritten).sum(),
        repairs.stream().mapToLong(Repair::plannedReads).sum(),
        (int) repairs.stream().filter(Reconstruction::isCoded).count(),
        (int)
            repairs.stream()
                .filter(Reconstruction::isCoded)
                .filter(r -> r.blocksRead() == r.plannedReads())
                .count(),
        spread(alone, Reconstruction::linkRatio),
        spread(repairs, Reconstruction::checked),
        byCode(repairs));
  }

  /** Whether blocks of stripes were lost. The code "" stands for replicas. */
  private static boolean isCoded(Repair repair) {
    return repair.byCode().isEmpty()
        ? repair.plannedReads() > 0
        : repair.byCode().keySet().stream().anyMatch(code -> !code.isEmpty());
  }

  /**
   * The repairs without reading clients, whose bytes are on the links too. All repairs, if clients
   * read during each of them.
   */
  private static List<Repair> alone(List<Repair> repairs) {
    List<Repair> alone = repairs.stream().filter(r -> r.foregroundMillis().isEmpty()).toList();
    return alone.isEmpty() ? repairs : alone;
  }

  private static Spread spread(List<Repair> repairs, Function<Repair, Double> of) {
    List<Double> values = new ArrayList<>();
    repairs.stream().map(of).filter(Objects::nonNull).forEach(values::add);
    return Spread.of(values);
  }

  /** Lost data in blocks. Every lost replica is data. */
  static double lostData(Results results, Repair repair) {
    return repair.byCode().isEmpty()
        ? repair.lostBlocks()
        : repair.lostBytes() * dataShare(results) / results.environment().blockBytes();
  }

  private static double dataShare(Results results) {
    double data = results.workloads().stream().mapToDouble(w -> w.encodedLogicalBytes()).sum();
    double stored = results.workloads().stream().mapToDouble(w -> w.encodedStoredBytes()).sum();
    return stored == 0 ? 1 : data / stored;
  }

  /** Null for replicas, because no transition counts the bytes of their copies. */
  private static Double moved(Results results, Repair r) {
    double blocks =
        (double) (r.bytesRead() + r.bytesWritten()) / results.environment().blockBytes();
    return blocks == 0 ? null : per(blocks, lostData(results, r));
  }

  private static Double perCounted(Repair r) {
    int data = r.byCode().values().stream().mapToInt(Repair.ByCode::data).sum();
    long blocks = r.blocksRead() + r.blocksWritten();
    return blocks == 0 ? null : per(blocks, data);
  }

  private static Double per(double value, double blocks) {
    return blocks == 0 ? null : value / blocks;
  }

  /** The theoretical traffic by the codes of the lost blocks, if all blocks are equally likely. */
  private static Double arithmetic(List<Repair> repairs) {
    Map<String, Double> data = new LinkedHashMap<>();
    for (Repair repair : repairs) {
      repair
          .byCode()
          .forEach(
              (code, lost) -> {
                double share = CodeTable.figures(code).map(f -> 1 / f.overhead()).orElse(1.0);
                data.merge(code, (lost.data() + lost.parities()) * share, Double::sum);
              });
    }
    return CodeTable.mean(data, CodeTable::moved);
  }

  private static Double planned(Results results, Repair r) {
    return r.plannedReads() == 0
        ? null
        : per(r.plannedReads() + r.blocksWritten(), r.lostBlocks() * dataShare(results));
  }

  /**
   * Bytes on links per byte that had to cross one. If the combines did not count the latter, the
   * bytes read stand for them: the server that combines holds one of the blocks itself, so of k
   * blocks read and one written, k cross a link.
   */
  private static Double linkRatio(Repair r) {
    long crossing = r.remoteBytes() > 0 ? r.remoteBytes() : r.bytesRead();
    return !isCounted(r) || crossing == 0 ? null : (double) r.linkBytes() / crossing;
  }

  /** Whether the bytes on links are those of the repair alone. */
  private static boolean isCounted(Repair r) {
    return r.linkBytes() > 0 && r.foregroundMillis().isEmpty();
  }

  private static Double checked(Repair r) {
    long moved = r.bytesRead() + r.bytesWritten();
    return moved == 0 ? null : (double) r.checkBytesRead() / moved;
  }

  private static Map<String, ByCode> byCode(List<Repair> repairs) {
    Map<String, ByCode> all = new LinkedHashMap<>();
    for (Repair repair : repairs) {
      repair
          .byCode()
          .forEach(
              (code, of) ->
                  all.merge(
                      code,
                      sum(new ByCode(0, 0, 0, null), of),
                      (a, b) -> sum(a, new Repair.ByCode(b.data(), b.parities(), b.read()))));
    }
    return all;
  }

  private static ByCode sum(ByCode a, Repair.ByCode b) {
    int data = a.data() + b.data();
    int parities = a.parities() + b.parities();
    long read = a.read() + b.read();
    return new ByCode(
        data, parities, read, data + parities == 0 ? null : (double) read / (data + parities));
  }
}
