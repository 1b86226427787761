package io.ebbfs.manager.api;

import io.ebbfs.manager.heat.ReadCounter;
import io.ebbfs.manager.schedule.Evaluator;
import io.ebbfs.manager.schedule.StateCounts;
import io.ebbfs.manager.schedule.Timeline;
import io.ebbfs.protocol.proto.CodingProtos.CountProto;
import io.ebbfs.protocol.proto.CodingProtos.DrainStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.GetClusterResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.HibernationStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.ScanStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.ServerStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.words.TransitionKinds;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The answers of /cluster and /timeline. */
final class ClusterAnswers {
  private final ManagerState manager;

  ClusterAnswers(ManagerState manager) {
    this.manager = manager;
  }

  /**
   * @param namenode the address that clients use, host:port
   * @param scans of the namenode, over all blocks and all stripes; the blocks of a disk are those
   *     of the last whole pass over all blocks
   * @param packing of the stripes of all policies, at the last evaluation; null before it
   * @param transitionKinds the words for people of each kind, such as "conversion to compact" for
   *     UPCODE, in the order of the kinds
   */
  record Cluster(
      long timeMillis,
      String namenode,
      boolean safeMode,
      long files,
      long logicalBytes,
      long storedBytes,
      double overhead,
      long capacityBytes,
      long usedBytes,
      long remainingBytes,
      List<Server> servers,
      List<Scan> scans,
      PackingAnswer packing,
      AtRisk atRisk,
      List<StateCounts.Count> filesByState,
      ReadCounter.Status opens,
      Map<String, Long> counters,
      Map<String, String> transitionKinds) {}

  /**
   * How far a scan is that visits all rows again and again.
   *
   * @param name blocks or stripes
   * @param startedMillis when the last pass began, 0 if none has
   * @param visited rows that this pass has visited so far
   * @param completedMillis when the last whole pass ended; null if none has
   * @param rows that the last whole pass has visited; null if none has ended
   */
  record Scan(String name, long startedMillis, long visited, Long completedMillis, Long rows) {
    static Scan of(ScanStatusProto scan) {
      return new Scan(
          scan.getName(),
          scan.getStartedMillis(),
          scan.getVisited(),
          scan.hasCompletedMillis() ? scan.getCompletedMillis() : null,
          scan.hasRows() ? scan.getRows() : null);
    }
  }

  /**
   * @param drain null if the server stays
   * @param hibernation null if the server does not hibernate
   */
  record Server(
      String name,
      String uuid,
      String rack,
      boolean live,
      long lastHeartbeatMillis,
      List<Disk> disks,
      Drain drain,
      Hibernation hibernation) {}

  /**
   * @param untilMillis since the epoch
   * @param ready whether the server may be stopped
   * @param blocks that were looked at; null before a walk over them has ended
   * @param blocksLeft of these, blocks that would not survive another loss; null as well then
   * @param stuck names one of these, with the reason and a remedy; null if there is none
   */
  record Hibernation(long untilMillis, boolean ready, Long blocks, Long blocksLeft, String stuck) {}

  /**
   * How far the drain of a server is. The numbers are null before all of its blocks were counted.
   *
   * @param state DRAINING or DRAINED
   * @param blocksLeft blocks for which the server is still needed
   * @param onlyHere of these, blocks that no other server has
   * @param openLeft of these, blocks that a client still writes
   * @param secondsLeft null as well if the speed is not known
   * @param stuck names a block that cannot leave now, with the reason and a remedy; null if none is
   *     known
   */
  record Drain(
      String state,
      Long blocks,
      Long blocksLeft,
      Long bytesLeft,
      Long onlyHere,
      Long openLeft,
      Long bytesPerSecond,
      Long secondsLeft,
      String stuck) {}

  record Disk(
      String uuid,
      boolean failed,
      long capacityBytes,
      long usedBytes,
      long remainingBytes,
      long blocks) {}

  /** Entry 0 of stripesByLoss counts the stripes with one lost position. */
  record AtRisk(
      long underReplicatedBlocks,
      long missingBlocks,
      List<Long> stripesByLoss,
      long unrecoverableStripes) {}

  Cluster cluster() {
    GetClusterResponseProto now = manager.namenode().cluster();
    Evaluator.Result last = manager.evaluator().last();
    List<Server> servers = now.getServersList().stream().map(ClusterAnswers::server).toList();
    return new Cluster(
        manager.nowMillis(),
        manager.options().namenode(),
        now.getSafeMode(),
        now.getFiles(),
        now.getLogicalBytes(),
        now.getStoredBytes(),
        now.getLogicalBytes() == 0 ? 0 : (double) now.getStoredBytes() / now.getLogicalBytes(),
        sum(servers, Disk::capacityBytes),
        sum(servers, Disk::usedBytes),
        sum(servers, Disk::remainingBytes),
        servers,
        now.getScansList().stream().map(Scan::of).toList(),
        last == null ? null : PackingAnswer.ofAll(last.evaluation().accounts()),
        new AtRisk(
            now.getUnderReplicatedBlocks(),
            now.getMissingBlocks(),
            now.getStripesByLossList(),
            now.getUnrecoverableStripes()),
        last == null ? List.of() : last.states(),
        manager.opens(),
        counters(now),
        transitionKinds());
  }

  private static Map<String, String> transitionKinds() {
    Map<String, String> words = new LinkedHashMap<>();
    for (TransitionKindProto kind : TransitionKindProto.values()) {
      words.put(kind.name(), TransitionKinds.show(kind));
    }
    return words;
  }

  private static Server server(ServerStatusProto server) {
    List<Disk> disks =
        server.getStoragesList().stream()
            .map(
                s ->
                    new Disk(
                        s.getStorageUuid(),
                        s.getFailed(),
                        s.getCapacityBytes(),
                        s.getUsedBytes(),
                        s.getRemainingBytes(),
                        s.getBlocks()))
            .toList();
    return new Server(
        server.getServer().getHostName() + ":" + server.getServer().getXferPort(),
        server.getServer().getDatanodeUuid(),
        server.getRack(),
        server.getLive(),
        server.getLastHeartbeatMillis(),
        disks,
        server.hasDrain() ? drain(server.getDrain()) : null,
        server.hasHibernation() ? hibernation(server.getHibernation()) : null);
  }

  private static Hibernation hibernation(HibernationStatusProto sleep) {
    return new Hibernation(
        sleep.getUntilMillis(),
        sleep.getReady(),
        sleep.hasBlocks() ? sleep.getBlocks() : null,
        sleep.hasBlocksLeft() ? sleep.getBlocksLeft() : null,
        sleep.hasStuck() ? sleep.getStuck() : null);
  }

  private static Drain drain(DrainStatusProto drain) {
    String state = drain.getDrained() ? "DRAINED" : "DRAINING";
    if (!drain.hasBlocksLeft()) {
      return new Drain(state, null, null, null, null, null, null, null, null);
    }
    return new Drain(
        state,
        drain.getBlocks(),
        drain.getBlocksLeft(),
        drain.getBytesLeft(),
        drain.getOnlyHere(),
        drain.getOpenLeft(),
        drain.getBytesPerSecond(),
        drain.hasSecondsLeft() ? drain.getSecondsLeft() : null,
        drain.hasStuck() ? drain.getStuck() : null);
  }

  private static long sum(List<Server> servers, java.util.function.ToLongFunction<Disk> what) {
    return servers.stream()
        .filter(Server::live)
        .flatMap(server -> server.disks().stream())
        .filter(disk -> !disk.failed())
        .mapToLong(what)
        .sum();
  }

  static Map<String, Long> counters(GetClusterResponseProto cluster) {
    Map<String, Long> counters = new TreeMap<>();
    for (CountProto count : cluster.getCountersList()) {
      counters.put(count.getName(), count.getValue());
    }
    return counters;
  }

  record Samples(long nowMillis, List<Timeline.Sample> samples) {}

  Samples timeline(Query query) {
    long since = query.number("since", 0, 0, Long.MAX_VALUE);
    int points = (int) query.number("points", 500, 2, 5_000);
    return new Samples(manager.nowMillis(), manager.timeline().since(since, points));
  }
}
