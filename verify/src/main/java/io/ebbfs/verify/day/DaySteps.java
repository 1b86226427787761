package io.ebbfs.verify.day;

import io.ebbfs.common.config.Units;
import io.ebbfs.protocol.proto.CodingProtos.DrainResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.DrainStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.HibernateResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.RebalanceOrderProto;
import io.ebbfs.protocol.proto.CodingProtos.RebalanceResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.StoredMemberProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.verify.cluster.VerifyException;
import io.ebbfs.verify.day.DayClient.Outcome;
import io.ebbfs.verify.day.NecessaryBytes.LostReplica;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;

/** What happens in the course of a day. Each step returns the bytes that it makes necessary. */
final class DaySteps {
  private static final int FULL_AFTER_REFUSALS = 3;
  private static final int FILLING_BLOCKS = 4;
  private static final int FILLING_FILES = 1_000;
  private static final int READS_MEANWHILE = 100;
  private static final int RACK_LEAST_SERVERS = 2;

  // How long each thing may take, in seconds, on a machine with much else to do.
  private static final long REGISTRATION = 60;
  private static final long DEATH = 60;
  private static final long TRAFFIC = 120;
  private static final long DRAIN = 300;
  private static final long HIBERNATION = 120;
  private static final long SAFETY = 300;

  // What a walk over a lost disk finds is counted a moment after the walk has ended.
  private static final long QUIET = 3;

  private static final long LEVEL = 300;

  private final DayCluster cluster;
  private final StepRecorder recorder;
  private final DayClient client;
  private final DayFiles book;
  private final DayCounts counts;
  private final Random random;
  private int evicted = -1;

  DaySteps(
      DayCluster cluster,
      StepRecorder recorder,
      DayClient client,
      DayFiles book,
      DayCounts counts,
      Random random) {
    this.cluster = cluster;
    this.recorder = recorder;
    this.client = client;
    this.book = book;
    this.counts = counts;
    this.random = random;
  }

  void all() throws Exception {
    recorder.run("a server joins", this::join);
    recorder.run("a server is evicted", this::evict);
    recorder.run("a server hibernates", this::hibernate);
    List<Integer> rack = new ArrayList<>();
    recorder.run("a rack is lost", () -> loseRack(rack));
    recorder.run("the rack returns", () -> comeBack(rack));
    if (cluster.hasSmallDisks()) {
      recorder.run("disks get full", this::fill);
    } else {
      recorder.say("not root: the disks have no small file systems, and are not filled");
    }
    recorder.run("servers join and disks are levelled", this::level);
    recorder.run("a killed server returns", this::killAndReturn);
  }

  // ---- waits ------------------------------------------------------------------------------------

  private void awaitLive(List<Integer> servers) throws InterruptedException {
    recorder.await(
        "the namenode to see %s live".formatted(names(servers)),
        REGISTRATION,
        () -> cluster.whyNotLive(servers, true));
  }

  private void awaitDeath(List<Integer> servers) throws InterruptedException {
    recorder.await(
        "the namenode to see %s dead".formatted(names(servers)),
        DEATH,
        () -> cluster.whyNotLive(servers, false));
  }

  private void awaitSafety() throws InterruptedException {
    recorder.awaitQuiet(
        "nothing under-replicated or under repair", SAFETY, QUIET, cluster::whyNotSafe);
  }

  private void awaitTraffic() throws InterruptedException {
    long enough = counts.operations() + READS_MEANWHILE;
    recorder.await(
        "%d operations of clients meanwhile".formatted(READS_MEANWHILE),
        TRAFFIC,
        () -> counts.operations() >= enough ? null : counts.operations() + " so far");
  }

  private static String names(List<Integer> servers) {
    return String.join(", ", servers.stream().map(DayCluster::nameOf).toList());
  }

  private int anyServer() {
    return cluster.present().get(random.nextInt(cluster.present().size()));
  }

  // ---- steps ------------------------------------------------------------------------------------

  /** A new server needs no byte; new blocks go to it. */
  private long join() throws ClusterException, InterruptedException {
    int joining = DayCluster.JOINING.get(0);
    recorder.figure("server", DayCluster.nameOf(joining));
    cluster.start(List.of(joining));
    awaitLive(List.of(joining));
    recorder.await(
        "blocks on " + DayCluster.nameOf(joining),
        TRAFFIC,
        () -> cluster.blocksOn(joining) > 0 ? null : "it has none");
    return 0;
  }

  /** What the server holds has to be copied once. */
  private long evict() throws ClusterException, IOException, InterruptedException {
    evicted = anyServer();
    recorder.figure("server", DayCluster.nameOf(evicted));
    DrainResponseProto order = cluster.drain(evicted, false);
    if (order.hasRefusal()) {
      throw new VerifyException("the drain was refused: " + order.getRefusal());
    }
    recorder.figure("blocks", order.getBlocks());
    recorder.await(
        "the drain of %d blocks of %s".formatted(order.getBlocks(), DayCluster.nameOf(evicted)),
        DRAIN,
        this::whyNotDrained);
    cluster.stop(evicted);
    awaitDeath(List.of(evicted));
    awaitSafety();
    return order.getBytes();
  }

  private String whyNotDrained() throws IOException {
    DrainStatusProto drain = cluster.status(evicted).getDrain();
    return drain.getDrained()
        ? null
        : "%d blocks are left, %d of them open; %s"
            .formatted(drain.getBlocksLeft(), drain.getOpenLeft(), drain.getStuck());
  }

  /** Nothing is copied for a server that hibernates, nor when it wakes. */
  private long hibernate() throws ClusterException, InterruptedException {
    List<Integer> candidates = new ArrayList<>(cluster.present());
    Collections.shuffle(candidates, random);
    List<Integer> chosen = new ArrayList<>();
    recorder.await(
        "a server that may hibernate", HIBERNATION, () -> orderHibernation(candidates, chosen));
    int away = chosen.get(0);
    recorder.figure("server", DayCluster.nameOf(away));
    recorder.await(
        DayCluster.nameOf(away) + " to be ready to be stopped",
        HIBERNATION,
        () ->
            cluster.status(away).getHibernation().getReady()
                ? null
                : String.valueOf(cluster.status(away).getHibernation()));
    cluster.kill(chosen);
    awaitDeath(chosen);
    awaitTraffic();
    cluster.start(chosen);
    awaitLive(chosen);
    recorder.await("the wake", HIBERNATION, () -> wake(away));
    awaitSafety();
    return 0;
  }

  /** Orders the first server to hibernate that may; null if one has been found. */
  private String orderHibernation(List<Integer> candidates, List<Integer> chosen)
      throws IOException {
    String last = "there are no servers";
    for (int server : candidates) {
      last = refusal(cluster.hibernate(server, false));
      if (last == null) {
        chosen.add(server);
        return null;
      }
    }
    return last;
  }

  private String wake(int server) throws IOException {
    if (!cluster.status(server).hasHibernation()) {
      return null;
    }
    HibernateResponseProto answer = cluster.hibernate(server, true);
    return answer.hasRefusal() ? answer.getRefusal() : "just ordered";
  }

  private static String refusal(HibernateResponseProto answer) {
    return answer.hasRefusal() ? answer.getRefusal() : null;
  }

  /** Every replica on the rack is copied elsewhere, and every member of a stripe is rebuilt. */
  private long loseRack(List<Integer> lost)
      throws ClusterException, IOException, InterruptedException {
    List<List<Integer>> racks =
        new ArrayList<>(
            cluster.racks().stream()
                .map(cluster::presentInRack)
                .filter(servers -> servers.size() >= RACK_LEAST_SERVERS)
                .toList());
    lost.addAll(racks.get(random.nextInt(racks.size())));
    recorder.figure("servers", names(lost));
    List<LostReplica> replicas = new ArrayList<>();
    List<StripeStatusProto> stripes = cluster.verified().probe().stripesWithLocations();
    Set<Long> members = membersOf(stripes);
    for (LostReplica replica : client.replicasAt(cluster.addresses(lost))) {
      if (!members.contains(replica.blockId())) {
        replicas.add(replica);
      }
    }
    recorder.figure("replicas", replicas.size());
    replicas.addAll(membersOnlyOn(lost, stripes));
    recorder.figure("blocks", replicas.size());
    List<StripeRow> rows = stripes.stream().map(StripeStatusProto::getStripe).toList();
    long necessary = NecessaryBytes.ofLoss(cluster.verified().codes(), rows, replicas);
    cluster.kill(lost);
    awaitDeath(lost);
    Set<Long> few = client.blocksWithFewLocations(DayCluster.REPLICATED);
    recorder.figure("fewLocationsAtDeath", few.size());
    awaitSafety();
    // New blocks may have few locations until their replicas are reported.
    few.retainAll(client.blocksWithFewLocations(DayCluster.REPLICATED));
    if (!few.isEmpty()) {
      throw new VerifyException(
          "the namenode tells that nothing is under-replicated, but blocks %s have been short since the rack died"
              .formatted(few));
    }
    return necessary;
  }

  private static Set<Long> membersOf(List<StripeStatusProto> stripes) {
    return stripes.stream()
        .flatMap(stripe -> stripe.getStripe().getMembersList().stream())
        .map(StripeMemberProto::getBlockId)
        .collect(Collectors.toSet());
  }

  /** The members of stripes that are on these servers and nowhere else. */
  private List<LostReplica> membersOnlyOn(List<Integer> servers, List<StripeStatusProto> stripes)
      throws IOException {
    Set<String> uuids = new HashSet<>();
    for (int server : servers) {
      uuids.add(cluster.uuidOf(server));
    }
    return stripes.stream()
        .flatMap(stripe -> stripe.getStoredList().stream())
        .map(StoredMemberProto::getBlock)
        .filter(block -> block.getLocationsCount() > 0)
        .filter(
            block ->
                block.getLocationsList().stream()
                    .allMatch(at -> uuids.contains(at.getServer().getDatanodeUuid())))
        .map(
            block -> new LostReplica(block.getBlock().getBlockId(), block.getBlock().getNumBytes()))
        .toList();
  }

  /**
   * The servers return with replicas of blocks that were copied or rebuilt meanwhile. The namenode
   * deletes the excess replicas.
   */
  private long comeBack(List<Integer> servers) throws ClusterException, InterruptedException {
    recorder.figure("servers", names(servers));
    cluster.start(servers);
    awaitLive(servers);
    awaitSafety();
    return 0;
  }

  /** A client writes until it is refused several times in a row. Nothing has to be copied. */
  private long fill() throws IOException {
    int written = 0;
    int refusals = 0;
    counts.disksMayBeFull(true);
    recorder.say("writes files until %d writes in a row are refused", FULL_AFTER_REFUSALS);
    for (int i = 0; i < FILLING_FILES && refusals < FULL_AFTER_REFUSALS; i++) {
      DayFile file =
          new DayFile(
              "%s/f%d".formatted(DayCluster.FILLING, i),
              random.nextLong(),
              FILLING_BLOCKS * DayCluster.BLOCK_BYTES);
      Outcome outcome = client.write(DayCluster.FILLING, file);
      written += outcome == Outcome.DONE ? 1 : 0;
      refusals = outcome == Outcome.REFUSED ? refusals + 1 : 0;
    }
    recorder.figure("files", written);
    recorder.figure("fullness", "%.1f%%".formatted(cluster.fullness() * 100));
    if (refusals < FULL_AFTER_REFUSALS) {
      throw new VerifyException(
          "%d files of %s each did not fill the disks: fullness %.1f%%"
              .formatted(
                  written,
                  Units.showBytes((long) FILLING_BLOCKS * DayCluster.BLOCK_BYTES),
                  cluster.fullness() * 100));
    }
    return 0;
  }

  /** The bytes by which disks are too full, or too empty, have to move. */
  private long level() throws ClusterException, IOException, InterruptedException {
    List<Integer> joining = List.of(DayCluster.JOINING.get(1), evicted);
    recorder.figure("servers", names(joining));
    cluster.start(joining);
    awaitLive(joining);
    DrainResponseProto undrain = cluster.drain(evicted, true);
    if (undrain.hasRefusal()) {
      throw new VerifyException("the end of the drain was refused: " + undrain.getRefusal());
    }
    recorder.await("their disks to tell their space", REGISTRATION, () -> whyNoSpace(joining));
    RebalanceResponseProto begun = cluster.rebalance(RebalanceOrderProto.REBALANCE_START);
    if (begun.hasRefusal()) {
      throw new VerifyException("the rebalance was refused: " + begun.getRefusal());
    }
    recorder.figure("disksOutside", begun.getFlowsCount());
    recorder.await("level disks", LEVEL, this::whyNotLevel);
    RebalanceResponseProto ended = cluster.rebalance(RebalanceOrderProto.REBALANCE_STOP);
    recorder.figure("movedBlocks", ended.getMovedBlocks());
    recorder.figure("movedBytes", ended.getMovedBytes());
    empty();
    counts.disksMayBeFull(false);
    awaitSafety();
    return NecessaryBytes.ofLevelling(
        begun.getMeanShare(), begun.getThreshold(), begun.getFlowsList());
  }

  private String whyNoSpace(List<Integer> servers) throws IOException {
    for (int server : servers) {
      if (cluster.status(server).getStoragesList().stream()
          .anyMatch(disk -> disk.getCapacityBytes() == 0)) {
        return "a disk of %s has not".formatted(DayCluster.nameOf(server));
      }
    }
    return null;
  }

  private String whyNotLevel() throws IOException {
    RebalanceResponseProto now = cluster.rebalance(RebalanceOrderProto.REBALANCE_STATUS);
    return now.getBytesToMove() == 0
        ? null
        : "%s are to be moved by %d disks, %d moves are under way; %s"
            .formatted(
                Units.showBytes(now.getBytesToMove()),
                now.getFlowsCount(),
                now.getUnderWay(),
                now.getStuck());
  }

  /** Reads the files that filled the disks once more, and deletes them. */
  private void empty() {
    recorder.say("reads and deletes the files that filled the disks");
    for (DayFile file : book.all()) {
      if (file.path().startsWith(DayCluster.FILLING)) {
        client.read(file);
      }
    }
    for (var file = book.takeOldest(DayCluster.FILLING, 0);
        file.isPresent();
        file = book.takeOldest(DayCluster.FILLING, 0)) {
      client.delete(file.get());
    }
  }

  /** The server is back with its data before anything is rebuilt for it. */
  private long killAndReturn() throws ClusterException, InterruptedException {
    List<Integer> killed = List.of(anyServer());
    recorder.figure("server", names(killed));
    cluster.kill(killed);
    awaitDeath(killed);
    cluster.start(killed);
    awaitLive(killed);
    awaitSafety();
    return 0;
  }
}
