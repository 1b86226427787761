package io.ebbfs.workloads.experiment;

import io.ebbfs.cluster.ClusterException;
import io.ebbfs.coding.Codes;
import io.ebbfs.coding.ErasureCode;
import io.ebbfs.fault.FaultInjector;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.workloads.experiment.Results.Repair;
import io.ebbfs.workloads.experiment.Results.Repair.ByCode;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Loses disks and servers, and measures how they are mended. */
final class Faults {
  private static final long REPAIR_MILLIS = 300_000;
  private static final long POLL_MILLIS = 50;

  /** Nobody reads, and the repair is held up for a while. */
  private static final Foreground STALLED = List::of;

  private final Bench bench;
  private final Random random;

  Faults(Bench bench, Random random) {
    this.bench = bench;
    this.random = random;
  }

  private interface Loss {
    /** When its repair may begin. */
    long happen() throws IOException, ClusterException, InterruptedException;
  }

  /** A disk that holds blocks fails; its server stays. */
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

  /** What is done between the loss of a server and its repair. */
  interface Meanwhile {
    void run() throws IOException, ClusterException, InterruptedException;
  }

  /**
   * A server fails. Its repair begins when something else was done, so that nothing is known of how
   * long stripes stood at less than full redundancy; once all is mended, the server comes back.
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

  /** A server fails and comes back with all that it holds; nothing is repaired meanwhile. */
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

  /** Kills a server; as long as something is done then, nobody repairs what it held. */
  private void withoutRepairs(int server, Meanwhile meanwhile)
      throws IOException, ClusterException, InterruptedException {
    bench.cluster().stallControl(true);
    try {
      bench.cluster().killServer(server);
      await("server %d to be taken for dead".formatted(server), () -> !bench.isLive(server));
      meanwhile.run();
    } finally {
      bench.cluster().stallControl(false);
    }
  }

  /** A server fails while clients read; its repair begins as soon as it is taken for dead. */
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
    await("server %d to come back".formatted(server), () -> bench.isLive(server));
  }

  /** Waits until the namenode, which may have begun anew, knows all servers and what they hold. */
  static void awaitAllLive(Bench bench) throws IOException, InterruptedException {
    await(
        "all servers",
        () -> {
          GetClusterResponseProto cluster = bench.probe().cluster();
          return !cluster.getSafeMode()
              && cluster.getServersList().stream().filter(s -> s.getLive()).count()
                  == bench.cluster().layout().servers();
        });
  }

  /** Waits until nothing is lost or under-replicated any more. */
  static void awaitWhole(Bench bench) throws IOException, InterruptedException {
    await("everything to be whole", () -> wounds(bench.probe().cluster()) == 0);
  }

  private static long wounds(GetClusterResponseProto cluster) {
    return cluster.getUnderReplicatedBlocks()
        + cluster.getStripesByLossList().stream().mapToLong(Long::longValue).sum();
  }

  private interface Condition {
    boolean holds() throws IOException;
  }

  private static void await(String what, Condition condition)
      throws IOException, InterruptedException {
    long deadline = System.nanoTime() + REPAIR_MILLIS * 1_000_000;
    while (!condition.holds()) {
      if (System.nanoTime() > deadline) {
        throw new IOException(
            "waited for %s for %d s, in vain".formatted(what, REPAIR_MILLIS / 1000));
      }
      Thread.sleep(POLL_MILLIS);
    }
  }

  /** What clients do while repairs run: the latencies so far. */
  interface Foreground {
    List<Double> read();
  }

  private Repair measure(String what, int repetition, int server, Loss loss, Foreground foreground)
      throws IOException, ClusterException, InterruptedException {
    Stripes before = Stripes.of(bench);
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
    // What was planned while nobody could run it began when somebody could.
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
        planned += Stripes.plannedReads(stripe, rebuilt, Set.of());
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

  /** What was seen from outside: blocks of no stripe have no transitions. */
  private record Whole(long firstMillis, long endMillis, int replicated) {}

  /** Waits until the loss was noticed and nothing of it is left. */
  private Whole awaitWhole(int server, boolean dead) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + REPAIR_MILLIS * 1_000_000;
    long noticed = 0;
    long quiet = 0;
    long most = 0;
    while (System.nanoTime() < deadline) {
      GetClusterResponseProto cluster = bench.probe().cluster();
      long wounds = wounds(cluster);
      boolean seen = !dead || !bench.isLive(cluster, server);
      long now = System.currentTimeMillis();
      if (seen && wounds > 0 && noticed == 0) {
        noticed = now;
      }
      most = Math.max(most, cluster.getUnderReplicatedBlocks());
      if (wounds > 0 || !seen) {
        quiet = 0;
      } else if (quiet == 0) {
        quiet = now;
      }
      boolean over = noticed > 0 || seen && quiet > 0 && now - quiet > 3000;
      if (over && quiet > 0 && now - quiet > 500 && repairsRunning() == 0) {
        return new Whole(noticed == 0 ? quiet : noticed, quiet, (int) most);
      }
      Thread.sleep(POLL_MILLIS);
    }
    throw new IOException(
        "a loss is not mended after %d s: see %s"
            .formatted(REPAIR_MILLIS / 1000, bench.cluster().httpAddress()));
  }

  private long repairsRunning() throws IOException {
    return bench
        .probe()
        .transitions(TransitionStateProto.PLANNED, TransitionStateProto.RUNNING)
        .stream()
        .filter(row -> row.getKind() == TransitionKindProto.REPAIR)
        .count();
  }
}
