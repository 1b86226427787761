package io.ebbfs.workloads.experiment;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.fault.FaultInjector;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.ConditionWaiter;
import io.ebbfs.workloads.results.Results.Repair;
import io.ebbfs.workloads.results.Results.Repair.ByCode;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Loses disks and servers, and measures their repairs. */
final class LossMeasurement {
  private static final long REPAIR_MILLIS = 300_000;
  private static final long POLL_MILLIS = 50;

  /** No client reads, and the repair waits for a while. */
  private static final Foreground STALLED = List::of;

  private final Bench bench;
  private final Random random;

  LossMeasurement(Bench bench, Random random) {
    this.bench = bench;
    this.random = random;
  }

  private interface Loss {
    /** When its repair may begin. */
    long happen() throws IOException, ClusterException, InterruptedException;
  }

  /** Fails a disk that holds blocks. Its server goes on. */
  Repair disk(int repetition) throws IOException, ClusterException, InterruptedException {
    int server = random.nextInt(bench.cluster().layout().servers());
    int disk = random.nextInt(bench.cluster().layout().disks());
    return measure(
        "disk",
        repetition,
        server,
        () -> {
          new FaultInjector(bench.cluster(), random).failDisk(server, disk);
          return System.currentTimeMillis();
        },
        List::of);
  }

  /** Work between the loss of a server and its repair. */
  interface Meanwhile {
    void run() throws IOException, ClusterException, InterruptedException;
  }

  /**
   * Kills a server, does other work, and then lets the repair begin. So the time at less than full
   * redundancy is not measured. After the repair the server comes back.
   */
  Repair server(int repetition, int server, Meanwhile meanwhile)
      throws IOException, ClusterException, InterruptedException {
    Repair repair =
        measure(
            "server",
            repetition,
            server,
            () -> {
              withoutRepairs(server, meanwhile);
              return System.currentTimeMillis();
            },
            STALLED);
    comeBack(server);
    return repair;
  }

  /** Kills a server and starts it again with all its blocks. Nothing is repaired meanwhile. */
  void serverForAWhile(int server, Meanwhile meanwhile)
      throws IOException, ClusterException, InterruptedException {
    withoutRepairs(
        server,
        () -> {
          meanwhile.run();
          comeBack(server);
          awaitWhole(bench);
        });
  }

  /** Kills a server. Nothing is repaired until the given work is done. */
  private void withoutRepairs(int server, Meanwhile meanwhile)
      throws IOException, ClusterException, InterruptedException {
    bench.cluster().stallControl(true);
    try {
      bench.cluster().killServer(server);
      await(
          "the death of server %d".formatted(server),
          () -> bench.isLive(server) ? "the namenode still takes it for live" : null);
      meanwhile.run();
    } finally {
      bench.cluster().stallControl(false);
    }
  }

  /** Kills a server while clients read. Its repair begins as soon as the server counts as dead. */
  Repair serverUnderLoad(int repetition, Foreground foreground)
      throws IOException, ClusterException, InterruptedException {
    int server = random.nextInt(bench.cluster().layout().servers());
    Repair repair =
        measure(
            "server under load",
            repetition,
            server,
            () -> {
              bench.cluster().killServer(server);
              return System.currentTimeMillis();
            },
            foreground);
    comeBack(server);
    return repair;
  }

  private void comeBack(int server) throws IOException, ClusterException, InterruptedException {
    bench.cluster().startServer(server);
    await(
        "the return of server %d".formatted(server),
        () -> bench.isLive(server) ? null : "the namenode still takes it for dead");
  }

  /**
   * Waits until the namenode, which may have been restarted, knows all servers and their blocks.
   */
  static void awaitAllLive(Bench bench) throws IOException, InterruptedException {
    await(
        "the return of all servers",
        () -> {
          GetClusterResponseProto cluster = bench.probe().cluster();
          long live = cluster.getServersList().stream().filter(s -> s.getLive()).count();
          return !cluster.getSafeMode() && live == bench.cluster().layout().servers()
              ? null
              : "%d servers are live%s"
                  .formatted(live, cluster.getSafeMode() ? ", in safe mode" : "");
        });
  }

  /** Waits until no block is lost or under-replicated. */
  static void awaitWhole(Bench bench) throws IOException, InterruptedException {
    await(
        "the end of all repairs",
        () -> {
          long wounds = wounds(bench.probe().cluster());
          return wounds == 0 ? null : wounds + " stripes and blocks have lost something";
        });
  }

  private static long wounds(GetClusterResponseProto cluster) {
    return cluster.getUnderReplicatedBlocks()
        + cluster.getStripesByLossList().stream().mapToLong(Long::longValue).sum();
  }

  private static void await(String what, ConditionWaiter.Objection<IOException> condition)
      throws IOException, InterruptedException {
    ConditionWaiter.within(REPAIR_MILLIS).every(POLL_MILLIS).until(what, condition);
  }

  /** Clients that read while repairs run: their latencies so far. */
  interface Foreground {
    List<Double> read();
  }

  private Repair measure(String what, int repetition, int server, Loss loss, Foreground foreground)
      throws IOException, ClusterException, InterruptedException {
    StripeSnapshot before = StripeSnapshot.of(bench);
    long last =
        bench.probe().transitions().stream().mapToLong(TransitionRow::getId).max().orElse(0);
    long happened = loss.happen();
    long linkBytes = bench.serverBytes();
    Whole whole = awaitWhole(server, !what.equals("disk"));
    List<Double> foregroundMillis = foreground.read();
    linkBytes = bench.serverBytes() - linkBytes;
    List<TransitionRow> repairs =
        bench.probe().transitions().stream()
            .filter(row -> row.getId() > last && row.getKind() == TransitionKindProto.REPAIR)
            .filter(row -> row.getState() == TransitionStateProto.DONE)
            .toList();
    long plannedMillis =
        repairs.stream().mapToLong(TransitionRow::getCreatedMillis).min().orElse(whole.firstMillis);
    // A repair that was planned while the control plane was stalled began when it went on.
    long first = Math.max(happened, plannedMillis);
    long end =
        repairs.stream().mapToLong(TransitionRow::getUpdatedMillis).max().orElse(whole.endMillis);
    Map<String, ByCode> byCode = new TreeMap<>();
    long planned = 0;
    int lost = 0;
    long lostBytes = 0;
    for (TransitionRow row : repairs) {
      StripeStatusProto stripe = before.stripe(row.getStripes(0).getStripeId());
      Set<Integer> rebuilt = new TreeSet<>(row.getStripes(0).getPositionsList());
      if (stripe != null) {
        planned += StripeSnapshot.plannedReads(stripe, rebuilt, Set.of());
        ErasureCode code = Codes.byName(stripe.getStripe().getCode());
        int data = (int) rebuilt.stream().filter(p -> p < code.dataCount()).count();
        byCode.merge(
            code.name(),
            new ByCode(data, rebuilt.size() - data, row.getBlocksRead()),
            (a, b) ->
                new ByCode(a.data() + b.data(), a.parities() + b.parities(), a.read() + b.read()));
        for (StripeMemberProto member : stripe.getStripe().getMembersList()) {
          lostBytes += rebuilt.contains(member.getPosition()) ? member.getLengthBytes() : 0;
        }
      }
      lost += rebuilt.size();
    }
    return new Repair(
        repetition,
        what,
        Math.max(lost, whole.replicated),
        lostBytes,
        Math.max(0, (first - happened) / 1000.0),
        (end - first) / 1000.0,
        sum(repairs, TransitionRow::getBlocksRead),
        sum(repairs, TransitionRow::getBlocksWritten),
        planned,
        sum(repairs, TransitionRow::getBytesRead),
        sum(repairs, TransitionRow::getBytesWritten),
        linkBytes,
        byCode,
        foreground == STALLED ? List.of() : safeAfterSeconds(repairs, happened),
        foregroundMillis,
        sum(repairs, TransitionRow::getRemoteBytes),
        sum(repairs, TransitionRow::getCheckBytesRead),
        repairs.stream().mapToInt(row -> row.getAttempt() - 1).sum());
  }

  private static List<Double> safeAfterSeconds(List<TransitionRow> repairs, long happened) {
    return repairs.stream()
        .map(row -> (row.getUpdatedMillis() - happened) / 1000.0)
        .sorted()
        .toList();
  }

  private static long sum(
      List<TransitionRow> rows, java.util.function.ToLongFunction<TransitionRow> value) {
    return rows.stream().mapToLong(value).sum();
  }

  /** When a loss was noticed and when its repair ended, and the most blocks to replicate. */
  private record Whole(long firstMillis, long endMillis, int replicated) {}

  /** Waits until the loss was noticed and repaired. */
  private Whole awaitWhole(int server, boolean dead) throws IOException, InterruptedException {
    LossWatch watch = new LossWatch();
    await(
        "the repair of a loss (see %s)".formatted(bench.cluster().httpAddress()),
        () -> {
          GetClusterResponseProto cluster = bench.probe().cluster();
          return watch.objection(
              cluster, !dead || !bench.isLive(cluster, server), System.currentTimeMillis());
        });
    return new Whole(
        watch.noticed == 0 ? watch.quiet : watch.noticed, watch.quiet, (int) watch.most);
  }

  /** Times of a loss as seen from outside, because replicas have no transitions. */
  private final class LossWatch {
    private long noticed;
    private long quiet;
    private long most;

    /**
     * Describes the blocks that are not repaired yet; null if there are none.
     *
     * @param seen whether the namenode knows of the loss of the server or disk itself
     */
    String objection(GetClusterResponseProto cluster, boolean seen, long now) throws IOException {
      long wounds = wounds(cluster);
      if (seen && wounds > 0 && noticed == 0) {
        noticed = now;
      }
      most = Math.max(most, cluster.getUnderReplicatedBlocks());
      if (wounds > 0 || !seen) {
        quiet = 0;
        return seen ? wounds + " stripes and blocks have lost something" : "not noticed";
      }
      quiet = quiet == 0 ? now : quiet;
      boolean over = noticed > 0 || now - quiet > 3000;
      if (!over || now - quiet <= 500) {
        return "quiet for %d ms".formatted(now - quiet);
      }
      long repairs =
          bench.probe().active().stream()
              .filter(row -> row.getKind() == TransitionKindProto.REPAIR)
              .count();
      return repairs == 0 ? null : repairs + " repairs are planned or running";
    }
  }
}
