package io.ebbfs.namenode.rpc.coding;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeFamily;
import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.namenode.audit.MetadataChecker.Severity;
import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.proto.ChunkProtos.SourceProto;
import io.ebbfs.protocol.proto.ChunkProtos.TargetProto;
import io.ebbfs.protocol.proto.CodingProtos.CheckProto;
import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import io.ebbfs.protocol.proto.CodingProtos.CommitResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposedProto;
import io.ebbfs.protocol.proto.CodingProtos.StepProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The life of stripes, from files to parities and back, over servers in memory. */
class CodingServiceTest {
  private static final int BLOCK = 32;

  @ParameterizedTest
  @CsvSource({
    "PC(2x5),PC(6x5),30",
    "PC(2x5),PC(6x5),24",
    "PC(2x5),PC(6x5),7",
    "PC(2x5),PC(6x5),61",
    "'LRC(12,6,2)','LRC(12,2,2)',12",
    "'LRC(12,6,2)','LRC(12,2,2)',9",
    "'LRC(12,6,2)','LRC(12,2,2)',31",
    "'RS(6,3)','RS(12,3)',12",
    "'RS(6,3)','RS(12,3)',8"
  })
  void convertsThereAndBackAndRepairs(String fast, String compact, int blockCount)
      throws Exception {
    CodingCluster cluster = new CodingCluster(12, 6, 7);
    for (int left = blockCount; left > 0; left -= 5) {
      cluster.createFile(Math.min(5, left), BLOCK, false);
    }
    encodeAll(cluster, fast);
    int fastStripes = cluster.stripeIds().size();
    whole(cluster);

    convertAll(cluster, TransitionKindProto.UPCODE, compact);
    assertThat(cluster.stripeIds().size()).isLessThanOrEqualTo(fastStripes);
    whole(cluster);

    convertAll(cluster, TransitionKindProto.DOWNCODE, fast);
    assertThat(cluster.stripeIds()).hasSize(fastStripes);
    whole(cluster);

    cluster.servers.kill("server-03");
    cluster.assertAllReadable();
    assertThat(cluster.runAll()).isPositive();
    whole(cluster);
    cluster.servers.revive("server-03");
    whole(cluster);

    for (long file : cluster.fileIds()) {
      cluster.deleteFile(file);
      cluster.assertConsistent();
      cluster.assertAllReadable();
    }
    assertThat(cluster.stripeIds()).isEmpty();
    cluster.assertNoOrphans();
    assertThat(cluster.servers.disks()).allMatch(disk -> cluster.servers.on(disk).isEmpty());
  }

  private static void encodeAll(CodingCluster cluster, String code) throws Exception {
    ProposedProto proposed =
        cluster.propose(TransitionKindProto.ENCODE, code, cluster.fileIds(), List.of());
    assertThat(proposed.getTransitionIdsList()).as(proposed.getRefusal()).isNotEmpty();
    assertThat(cluster.runAll()).isEqualTo(proposed.getTransitionIdsCount());
  }

  private static void convertAll(CodingCluster cluster, TransitionKindProto kind, String code)
      throws Exception {
    ProposedProto proposed = cluster.propose(kind, code, List.of(), cluster.stripeIds());
    assertThat(proposed.hasRefusal()).as(proposed.getRefusal()).isFalse();
    assertThat(cluster.runAll()).isEqualTo(proposed.getTransitionIdsCount());
    assertThat(cluster.stripeList()).allMatch(s -> s.getStripe().getCode().equals(code));
  }

  private static void whole(CodingCluster cluster) throws Exception {
    cluster.assertConsistent();
    cluster.assertNoOrphans();
    cluster.assertAllReadable();
    assertThat(cluster.stripeList()).allMatch(s -> s.getLostPositionsCount() == 0);
    assertThat(cluster.active()).isEmpty();
  }

  @Test
  void aUsersPairOfCodesIsEncodedAndConvertedBothWays() throws Exception {
    ErasureCode fast = Codes.named("nn-fast", 2, "RS(4,2)");
    ErasureCode compact = Codes.named("nn-compact", 2, "RS(8,2)");
    CodeRegistry codes =
        CodeRegistry.of(List.of(fast, compact), List.of(new CodeFamily("nn", fast, compact)));
    CodingCluster cluster = new CodingCluster(codes, 10, 2, 5);
    for (int file = 0; file < 8; file++) {
      cluster.createFile(500, 400);
    }
    encodeAll(cluster, "nn-fast");
    cluster.restart();
    convertAll(cluster, TransitionKindProto.UPCODE, "nn-compact");
    convertAll(cluster, TransitionKindProto.DOWNCODE, "nn-fast");
  }

  /** Two stripes of RS(6,3) would be placed as one in order to merge; these are not. */
  @Test
  void stripesOfASingleCodeHaveNoSiblingsAndLiveAsOthersDo() throws Exception {
    for (String code : List.of("RS(6,3)", "RS(10,4)", "XOR(2,1)", Codes.PC_FAST)) {
      CodingCluster cluster = new CodingCluster(15, 4, 4);
      int data = Codes.byName(code).dataCount();
      for (int i = 0; i < 4; i++) {
        cluster.createFile(data / 2, BLOCK, true);
      }
      ProposedProto proposed = cluster.proposeSingle(code, cluster.fileIds());
      assertThat(proposed.getTransitionIdsCount()).as(code).isEqualTo(2);
      cluster.runAll();
      assertThat(cluster.stripeList()).hasSize(2).allMatch(s -> isSingle(s.getStripe(), code));

      cluster.servers.kill(server(cluster, cluster.fileIds().get(0), 0));
      cluster.assertAllReadable();
      cluster.coding.tick();
      cluster.runAll();
      whole(cluster);
      assertThat(cluster.stripeList()).hasSize(2).allMatch(s -> isSingle(s.getStripe(), code));

      long before =
          cluster.stripeList().stream().mapToLong(s -> s.getStripe().getId()).max().orElse(0);
      for (int i = 0; i < 3; i++) {
        cluster.deleteFile(cluster.fileIds().get(0));
      }
      cluster.coding.tick();
      cluster.runAll();
      cluster.assertConsistent();
      cluster.assertAllReadable();
      assertThat(cluster.stripeList()).isNotEmpty().allMatch(s -> isSingle(s.getStripe(), code));
      assertThat(cluster.stripeList())
          .as("written anew")
          .anyMatch(s -> s.getStripe().getId() > before);
    }
  }

  private static boolean isSingle(StripeRow stripe, String code) {
    return stripe.getCode().equals(code) && stripe.getSingle() && !stripe.hasGroupId();
  }

  /** The last blocks of files, being shorter, can wait for others. */
  @Test
  void encodesTheLongestBlocksAlone() throws Exception {
    CodingCluster cluster = new CodingCluster(15, 4, 4);
    for (int i = 0; i < 4; i++) {
      cluster.createFile(BLOCK, BLOCK, BLOCK, BLOCK / 2 + i);
    }
    cluster.proposeLongest(Codes.LRC_COMPACT, cluster.fileIds(), 12);
    cluster.runAll();
    assertThat(cluster.stripeList()).hasSize(1);
    for (long file : cluster.fileIds()) {
      for (int index = 0; index < 4; index++) {
        assertThat(cluster.block(file, index).hasStripeId()).isEqualTo(index < 3);
      }
    }
    cluster.assertAllReadable();
  }

  @Test
  void placesStripesSoThatAnyServerMayBeLost() throws Exception {
    CodingCluster cluster = new CodingCluster(12, 6, 3);
    storeCompact(cluster, 12);
    assertThat(cluster.findings(Severity.UNDER_PROTECTED)).isEmpty();
    for (String server : cluster.servers.servers()) {
      cluster.servers.kill(server);
      cluster.assertAllReadable();
      cluster.servers.revive(server);
    }
  }

  /** Files that fill a stripe of the fast product code each, then upcoded. */
  private static void storeCompact(CodingCluster cluster, int files) throws Exception {
    for (int i = 0; i < files; i++) {
      cluster.createFile(10, BLOCK, true);
    }
    encodeAll(cluster, Codes.PC_FAST);
    convertAll(cluster, TransitionKindProto.UPCODE, Codes.PC_COMPACT);
  }

  @Test
  void rebuildingIsSharedByAllServersEvenly() throws Exception {
    CodingCluster cluster = new CodingCluster(11, 6, 8);
    for (int i = 0; i < 60; i++) {
      cluster.createFile(6, BLOCK, true);
    }
    cluster.proposeSingle("RS(6,3)", cluster.fileIds());
    cluster.runAll();
    assertThat(receivedToRebuildAServer(cluster)).allMatch(share -> share < 1.3);
  }

  @Test
  void rebuildingSeveralBlocksOfAStripeIsSharedByAllServersEvenly() throws Exception {
    CodingCluster cluster = new CodingCluster(11, 6, 9);
    storeCompact(cluster, 90);
    assertThat(receivedToRebuildAServer(cluster)).allMatch(share -> share < 1.3);
  }

  /**
   * Kills a server and lets two workers claim all repairs, a few at a time and at the same time.
   * Blocks that each of the other servers has to receive for them, as a share of their mean: none
   * of their links should be the one that all wait for.
   */
  private static List<Double> receivedToRebuildAServer(CodingCluster cluster) throws Exception {
    cluster.servers.kill(cluster.servers.servers().get(0));
    cluster.coding.tick();
    ExecutorService workers = Executors.newFixedThreadPool(2);
    List<ClaimedTransitionProto> all = new ArrayList<>();
    try {
      CyclicBarrier begin = new CyclicBarrier(2);
      Callable<List<ClaimedTransitionProto>> claims =
          () -> {
            begin.await();
            return claimAll(cluster);
          };
      // On a busy machine one of the workers may get everything.
      for (Future<List<ClaimedTransitionProto>> done : workers.invokeAll(List.of(claims, claims))) {
        all.addAll(done.get());
      }
    } finally {
      workers.shutdownNow();
    }
    Map<String, Integer> received = new TreeMap<>();
    for (ClaimedTransitionProto claimed : all) {
      claimed.getStepsList().forEach(step -> addReceived(step, received));
      claimed.getChecksList().stream()
          .filter(CheckProto::hasDecode)
          .forEach(check -> addReceived(check.getDecode(), received));
    }
    int sum = received.values().stream().mapToInt(Integer::intValue).sum();
    assertThat(sum).isGreaterThan(200);
    assertThat(received).hasSize(10);

    return received.values().stream().map(blocks -> 10.0 * blocks / sum).toList();
  }

  private static void addReceived(StepProto step, Map<String, Integer> received) {
    String executor = step.getExecutor().getDatanodeUuid();
    for (SourceProto source : step.getCombine().getSourcesList()) {
      if (!source.getLocations(0).getServer().getDatanodeUuid().equals(executor)) {
        received.merge(executor, 1, Integer::sum);
      }
    }
    for (TargetProto target : step.getCombine().getTargetsList()) {
      String server = target.getLocation().getServer().getDatanodeUuid();
      if (!server.equals(executor) && !step.getCombine().getCheck()) {
        received.merge(server, 1, Integer::sum);
      }
    }
  }

  private static List<ClaimedTransitionProto> claimAll(CodingCluster cluster) throws Exception {
    List<ClaimedTransitionProto> all = new ArrayList<>();
    for (List<ClaimedTransitionProto> claimed = cluster.claim(8);
        !claimed.isEmpty();
        claimed = cluster.claim(8)) {
      all.addAll(claimed);
    }
    return all;
  }

  @Test
  void aCommitSentTwiceCountsOnce() throws Exception {
    CodingCluster cluster = new CodingCluster(12, 6, 1);
    cluster.createFile(12, BLOCK, true);
    cluster.propose(TransitionKindProto.ENCODE, Codes.LRC_FAST, cluster.fileIds(), List.of());
    ClaimedTransitionProto claimed = cluster.claim(1).get(0);
    var results = cluster.run(claimed);
    assertThat(cluster.commit(claimed, results).getCommitted()).isTrue();
    cluster.restart();
    assertThat(cluster.commit(claimed, results).getCommitted()).isTrue();
    assertThat(cluster.stripeIds()).hasSize(1);
    assertThat(cluster.transition(claimed.getTransition().getId()).getBlocksRead()).isEqualTo(12);
    whole(cluster);
  }

  @Test
  void aLateCommitOfAnEarlierClaimIsRefused() throws Exception {
    CodingCluster cluster = new CodingCluster(12, 6, 1);
    cluster.createFile(12, BLOCK, true);
    cluster.propose(TransitionKindProto.ENCODE, Codes.LRC_FAST, cluster.fileIds(), List.of());
    ClaimedTransitionProto first = cluster.claim(1).get(0);
    var results = cluster.run(first);
    cluster.advance(CodingCluster.LEASE_MILLIS + 1);
    cluster.coding.tick();
    assertThat(cluster.claim(1)).as("backs off").isEmpty();
    cluster.advance(60_000);
    ClaimedTransitionProto second = cluster.claim(1).get(0);
    assertThat(second.getTransition().getAttempt()).isEqualTo(2);
    assertThat(cluster.commit(first, results).getCommitted()).isFalse();
    assertThat(cluster.commit(second, cluster.run(second)).getCommitted()).isTrue();
    assertThat(cluster.commit(first, results).getCommitted()).isFalse();
    whole(cluster);
  }

  @Test
  void aTransitionThatKeepsFailingEndsAndReleasesItsBlocks() throws Exception {
    CodingCluster cluster = new CodingCluster(12, 6, 1);
    cluster.createFile(12, BLOCK, true);
    long id =
        cluster
            .propose(TransitionKindProto.ENCODE, Codes.LRC_FAST, cluster.fileIds(), List.of())
            .getTransitionIds(0);
    TransitionStateProto state = TransitionStateProto.PLANNED;
    while (state == TransitionStateProto.PLANNED) {
      cluster.advance(100_000);
      ClaimedTransitionProto claimed = cluster.claim(1).get(0);
      cluster.run(claimed);
      state = cluster.fail(claimed, "disk on fire");
    }
    assertThat(state).isEqualTo(TransitionStateProto.FAILED);
    TransitionRow row = cluster.transition(id);
    assertThat(row.getAttempt()).isEqualTo(6);
    assertThat(row.getFailure()).isEqualTo("disk on fire");
    whole(cluster);
    assertThat(
            cluster
                .propose(TransitionKindProto.ENCODE, Codes.LRC_FAST, cluster.fileIds(), List.of())
                .getTransitionIdsCount())
        .isEqualTo(1);
  }

  @Test
  void aFileDeletedWhileItIsEncodedIsLeftOut() throws Exception {
    CodingCluster cluster = new CodingCluster(12, 6, 1);
    long doomed = cluster.createFile(4, BLOCK, true);
    cluster.createFile(8, BLOCK, true);
    cluster.propose(TransitionKindProto.ENCODE, Codes.LRC_FAST, cluster.fileIds(), List.of());
    ClaimedTransitionProto claimed = cluster.claim(1).get(0);
    var results = cluster.run(claimed);
    cluster.deleteFile(doomed);
    assertThat(cluster.commit(claimed, results).getRefusal()).contains("deleted");
    cluster.assertConsistent();
    assertThat(cluster.runAll()).isEqualTo(1);
    whole(cluster);
  }

  @Test
  void aFileDeletedWhileItsStripeIsConvertedBecomesTombstones() throws Exception {
    CodingCluster cluster = new CodingCluster(12, 6, 1);
    long doomed = cluster.createFile(4, BLOCK, true);
    cluster.createFile(26, BLOCK, true);
    encodeAll(cluster, Codes.PC_FAST);
    cluster.propose(TransitionKindProto.UPCODE, Codes.PC_COMPACT, List.of(), cluster.stripeIds());
    ClaimedTransitionProto claimed = cluster.claim(1).get(0);
    var results = cluster.run(claimed);
    cluster.deleteFile(doomed);
    assertThat(cluster.commit(claimed, results).getRefusal()).contains("changed");
    assertThat(cluster.runAll()).isEqualTo(1);
    whole(cluster);
    StripeStatusProto stripe = cluster.stripeList().get(0);
    assertThat(stripe.getStripe().getCode()).isEqualTo(Codes.PC_COMPACT);
    assertThat(stripe.getDeadBytes()).isEqualTo(4 * BLOCK);
  }

  @Test
  void aServerLostWhileAStripeIsConvertedIsRepairedFirst() throws Exception {
    CodingCluster cluster = new CodingCluster(12, 6, 1);
    cluster.createFile(30, BLOCK, true);
    encodeAll(cluster, Codes.PC_FAST);
    long upcode =
        cluster
            .propose(TransitionKindProto.UPCODE, Codes.PC_COMPACT, List.of(), cluster.stripeIds())
            .getTransitionIds(0);
    ClaimedTransitionProto claimed = cluster.claim(1).get(0);
    var results = cluster.run(claimed);
    cluster.servers.kill("server-05");
    cluster.coding.tick();
    cluster.coding.tick();
    assertThat(cluster.commit(claimed, results).getCommitted()).isFalse();
    assertThat(cluster.transition(upcode).getState()).isEqualTo(TransitionStateProto.DROPPED);
    assertThat(cluster.active())
        .isNotEmpty()
        .allMatch(t -> t.getKind() == TransitionKindProto.REPAIR);
    assertThat(
            cluster
                .propose(
                    TransitionKindProto.UPCODE, Codes.PC_COMPACT, List.of(), cluster.stripeIds())
                .getRefusal())
        .containsAnyOf("lost positions", "already");
    cluster.runAll();
    whole(cluster);
    assertThat(cluster.counter("repairedBlocks.PC(2x5)")).isPositive();
  }

  /** The servers hold no output: they hold members whose data the old parities protect. */
  @Test
  void serversThatDieRightBeforeTheCommitOfAMergeLoseNothing() throws Exception {
    CodingCluster cluster = new CodingCluster(12, 6, 1);
    cluster.createFile(30, BLOCK, true);
    encodeAll(cluster, Codes.PC_FAST);
    cluster.propose(TransitionKindProto.UPCODE, Codes.PC_COMPACT, List.of(), cluster.stripeIds());
    ClaimedTransitionProto claimed = cluster.claim(1).get(0);
    var results = cluster.run(claimed);
    List<String> holdMembersOnly = new ArrayList<>(cluster.servers.servers());
    claimed
        .getTransition()
        .getOutputsList()
        .forEach(
            output -> holdMembersOnly.remove(cluster.servers.serverOf(output.getStorageUuid())));
    assertThat(holdMembersOnly).isNotEmpty();
    holdMembersOnly.stream().limit(2).forEach(cluster.servers::kill);
    // No tick tells the namenode's scanner of the deaths before the commit arrives.
    CommitResponseProto answer = cluster.commit(claimed, results);
    assertThat(answer.getCommitted()).isFalse();
    assertThat(answer.getRefusal()).contains("a member of the new stripe");
    cluster.assertConsistent();
    cluster.runAll();
    whole(cluster);
  }

  @Test
  void aMergeIsNotPublishedWhileAMembersServerIsSilent() throws Exception {
    CodingCluster cluster = new CodingCluster(12, 6, 1);
    cluster.createFile(30, BLOCK, true);
    encodeAll(cluster, Codes.PC_FAST);
    cluster.propose(TransitionKindProto.UPCODE, Codes.PC_COMPACT, List.of(), cluster.stripeIds());
    ClaimedTransitionProto claimed = cluster.claim(1).get(0);
    var results = cluster.run(claimed);
    cluster.servers.silence("server-04");
    CommitResponseProto answer = cluster.commit(claimed, results);
    assertThat(answer.getCommitted()).isFalse();
    assertThat(answer.getRefusal()).contains("heard lately");
    cluster.servers.speak("server-04");
    cluster.advance(60_000);
    cluster.runAll();
    assertThat(cluster.stripeIds()).hasSize(1);
    whole(cluster);
  }

  @Test
  void repairsWhatWouldBeLostNextFirst() throws Exception {
    CodingCluster cluster = new CodingCluster(12, 6, 5);
    long one = cluster.createFile(12, BLOCK, true);
    encodeAll(cluster, Codes.LRC_COMPACT);
    long other = cluster.createFile(12, BLOCK + 1, true);
    encodeAll(cluster, Codes.LRC_COMPACT);
    cluster.servers.failDisk(cluster.live(one, 0).get(0));
    cluster.coding.tick();
    for (int i = 1; i < 3; i++) {
      cluster.servers.failDisk(cluster.live(other, i).get(0));
    }
    cluster.coding.tick();
    ClaimedTransitionProto first = cluster.claim(1).get(0);
    assertThat(first.getTransition().getStripes(0).getStripeId())
        .isEqualTo(cluster.block(other, 0).getStripeId());
    cluster.commit(first, cluster.run(first));
    cluster.runAll();
    whole(cluster);
  }

  @Test
  void aStripeThatDoesNotDecodeStaysVisibleUntilABlockComesBack() throws Exception {
    CodingCluster cluster = new CodingCluster(12, 6, 2);
    long file = cluster.createFile(12, BLOCK, true);
    encodeAll(cluster, Codes.LRC_COMPACT);
    List<String> killed =
        java.util.stream.IntStream.range(0, 12)
            .mapToObj(i -> server(cluster, file, i))
            .distinct()
            .limit(8)
            .toList();
    killed.forEach(cluster.servers::kill);
    cluster.coding.tick();
    assertThat(cluster.cluster().getUnrecoverableStripes()).isEqualTo(1);
    killed.forEach(cluster.servers::revive);
    cluster.runAll();
    assertThat(cluster.cluster().getUnrecoverableStripes()).isZero();
    assertThat(cluster.cluster().getStripesByLossList()).isEmpty();
    whole(cluster);
  }

  private static String server(CodingCluster cluster, long file, int index) {
    try {
      return cluster.servers.serverOf(cluster.live(file, index).get(0));
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  @Test
  void concludesNoLossInSafeMode() throws Exception {
    CodingCluster cluster = new CodingCluster(12, 6, 2);
    cluster.createFile(12, BLOCK, true);
    encodeAll(cluster, Codes.LRC_FAST);
    cluster.servers.setSafeMode(true);
    cluster.servers.kill("server-01");
    cluster.coding.tick();
    assertThat(cluster.active()).isEmpty();
    assertThat(cluster.claim(10)).isEmpty();
  }

  @Test
  void readsAroundExcludedServersAndCountsIt() throws Exception {
    CodingCluster cluster = new CodingCluster(12, 6, 2);
    long file = cluster.createFile(12, BLOCK, true);
    encodeAll(cluster, Codes.LRC_FAST);
    long blockId = cluster.block(file, 3).getBlockId();
    var direct = cluster.readPlan(blockId, List.of());
    assertThat(direct.getSourcesCount()).isEqualTo(1);
    assertThat(direct.hasCode()).isFalse();
    var around = cluster.readPlan(blockId, List.of(server(cluster, file, 3)));
    assertThat(around.getCode()).isEqualTo(Codes.LRC_FAST);
    assertThat(around.getSourcesCount()).isEqualTo(2);
    assertThat(cluster.counter("degradedReads." + Codes.LRC_FAST)).isEqualTo(1);
    assertThat(cluster.counter("degradedReadSources." + Codes.LRC_FAST)).isEqualTo(2);
    cluster.coding.tick();
    cluster.restart();
    assertThat(cluster.counter("degradedReadSources." + Codes.LRC_FAST)).isEqualTo(2);
  }

  @Test
  void readsAroundSilentServersWhereThatCanBe() throws Exception {
    CodingCluster cluster = new CodingCluster(12, 6, 2);
    long file = cluster.createFile(12, BLOCK, true);
    encodeAll(cluster, Codes.LRC_FAST);
    long blockId = cluster.block(file, 3).getBlockId();
    cluster.servers.silence(server(cluster, file, 3));
    var around = cluster.readPlan(blockId, List.of());
    assertThat(around.getCode()).isEqualTo(Codes.LRC_FAST);
    assertThat(around.getSourcesList())
        .noneMatch(s -> s.getBlock().getBlockId() == blockId)
        .hasSize(2);
    cluster.servers.servers().forEach(cluster.servers::silence);
    cluster.assertAllReadable();
    List<String> others = new ArrayList<>(cluster.servers.servers());
    others.remove(server(cluster, file, 3));
    assertThat(cluster.readPlan(blockId, others).getSourcesCount()).isEqualTo(1);
  }

  @Test
  void refusesWithReasons() throws Exception {
    CodingCluster cluster = new CodingCluster(12, 6, 2);
    long file = cluster.createFile(1, BLOCK, true);
    assertThat(refusal(cluster, TransitionKindProto.ENCODE, "RS(9,9)", List.of(file)))
        .contains("RS(9,9)");
    assertThat(refusal(cluster, TransitionKindProto.ENCODE, Codes.PC_FAST, List.of(file)))
        .contains("more space");
    assertThat(refusal(cluster, TransitionKindProto.ENCODE, Codes.PC_FAST, List.of(99L)))
        .contains("no file has the id 99");
    assertThat(refusal(cluster, TransitionKindProto.UPCODE, Codes.PC_COMPACT, List.of()))
        .contains("names no stripe");
    assertThat(refusal(cluster, TransitionKindProto.REPAIR, Codes.PC_FAST, List.of(file)))
        .contains("itself");
    assertThat(refusal(cluster, TransitionKindProto.REWRITE, Codes.PC_FAST, List.of()))
        .contains("names no stripe");
    cluster.assertConsistent();
  }

  private static String refusal(
      CodingCluster cluster, TransitionKindProto kind, String code, List<Long> files)
      throws Exception {
    return cluster.propose(kind, code, files, List.of()).getRefusal();
  }

  @ParameterizedTest
  @CsvSource({"PC(2x5)", "PC(6x5)", "'LRC(12,6,2)'", "'LRC(12,2,2)'", "'RS(6,3)'"})
  void rewritesStripesThatAreMostlyDead(String code) throws Exception {
    CodingCluster cluster = new CodingCluster(12, 6, 9);
    for (int i = 0; i < 60; i++) {
      cluster.createFile(1, BLOCK, false);
    }
    encodeAll(cluster, code);
    int before = cluster.stripeIds().size();
    List<Long> files = cluster.fileIds();
    for (int i = 0; i < files.size(); i++) {
      if (i % 3 > 0) {
        cluster.deleteFile(files.get(i));
      }
    }
    whole(cluster);
    cluster.runAll();
    whole(cluster);
    assertThat(cluster.transitions())
        .anyMatch(
            t ->
                t.getKind() == TransitionKindProto.REWRITE
                    && t.getState() == TransitionStateProto.DONE);
    assertThat(cluster.stripeIds().size()).isLessThan(before);
    assertThat(cluster.stripeList()).allMatch(s -> s.getDeadBytes() <= s.getLiveBytes());
  }

  /** The live data of stripes comes to a code to which no conversion leads. */
  @ParameterizedTest
  @CsvSource({
    "'RS(6,3)', PC(6x5), 10, 2",
    "PC(6x5), 'LRC(12,2,2)', 2, 5",
    "PC(2x5), 'LRC(12,2,2)', 6, 5",
    "PC(6x5), 'RS(6,3)', 2, 10"
  })
  void rewritesStripesInAnotherCode(String from, String to, int before, int after)
      throws Exception {
    CodingCluster cluster = new CodingCluster(12, 6, 9);
    long dead = cluster.createFile(1, BLOCK, true);
    for (int i = 1; i < 60; i++) {
      cluster.createFile(1, BLOCK, false);
    }
    encodeAll(cluster, from);
    cluster.deleteFile(dead);
    List<Long> stripes = cluster.stripeIds();
    assertThat(stripes).hasSize(before);
    ProposedProto proposed = cluster.propose(TransitionKindProto.REWRITE, to, List.of(), stripes);
    assertThat(proposed.getRefusal()).isEmpty();
    assertThat(proposed.getTransitionIdsList()).hasSize(1);
    assertThat(cluster.propose(TransitionKindProto.REWRITE, to, List.of(), stripes).getRefusal())
        .contains("is in transition " + proposed.getTransitionIds(0) + " already");
    cluster.runAll();
    whole(cluster);
    assertThat(cluster.stripeList())
        .hasSize(after)
        .allMatch(s -> s.getStripe().getCode().equals(to) && s.getDeadBytes() == 0);
    assertThat(cluster.propose(TransitionKindProto.REWRITE, to, List.of(), stripes).getRefusal())
        .contains("does not exist");
  }

  /** A file is deleted after the outputs were written: the commit is refused and planned anew. */
  @Test
  void aRewriteInAnotherCodeIsPlannedAnewIfAFileIsDeletedMeanwhile() throws Exception {
    CodingCluster cluster = new CodingCluster(12, 6, 9);
    List<Long> files = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      files.add(cluster.createFile(1, BLOCK, true));
    }
    encodeAll(cluster, "RS(6,3)");
    cluster.propose(TransitionKindProto.REWRITE, Codes.LRC_COMPACT, List.of(), cluster.stripeIds());
    ClaimedTransitionProto first = cluster.claim(1).get(0);
    assertThat(first.getTransition().getPriority()).isEqualTo(CodingProtocol.PRIORITY_FOR_BOUND);
    var results = cluster.run(first);
    cluster.deleteFile(files.get(0));
    assertThat(cluster.commit(first, results).getRefusal()).contains("changed");
    cluster.runAll();
    whole(cluster);
    assertThat(cluster.stripeList())
        .singleElement()
        .matches(s -> s.getStripe().getCode().equals(Codes.LRC_COMPACT) && s.getDeadBytes() == 0);
  }

  @Test
  void aFileDeletedWhileItsStripeIsRewrittenIsLeftOut() throws Exception {
    CodingCluster cluster = new CodingCluster(12, 6, 9);
    long kept = cluster.createFile(3, BLOCK, true);
    long doomed = cluster.createFile(2, BLOCK, true);
    long dead = cluster.createFile(7, BLOCK, true);
    encodeAll(cluster, Codes.LRC_COMPACT);
    cluster.deleteFile(dead);
    cluster.coding.tick();
    ClaimedTransitionProto claimed = cluster.claim(1).get(0);
    assertThat(claimed.getTransition().getKind()).isEqualTo(TransitionKindProto.REWRITE);
    var results = cluster.run(claimed);
    cluster.deleteFile(doomed);
    assertThat(cluster.commit(claimed, results).getRefusal()).contains("changed");
    cluster.runAll();
    whole(cluster);
    assertThat(cluster.fileIds()).containsExactly(kept);
    assertThat(cluster.stripeList()).singleElement().matches(s -> s.getDeadBytes() == 0);
  }

  @Test
  void workersAndDeletionsAtOnce() throws Exception {
    CodingCluster cluster = new CodingCluster(12, 6, 4);
    for (int i = 0; i < 200; i++) {
      cluster.createFile(1 + i % 3, BLOCK, false);
    }
    List<Long> files = cluster.fileIds();
    cluster.propose(TransitionKindProto.ENCODE, Codes.PC_FAST, files.subList(0, 100), List.of());
    cluster.propose(TransitionKindProto.ENCODE, Codes.LRC_FAST, files.subList(100, 200), List.of());
    AtomicBoolean stop = new AtomicBoolean();
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      List<Future<?>> running = new ArrayList<>();
      for (int t = 0; t < 3; t++) {
        running.add(threads.submit(() -> work(cluster, stop)));
      }
      running.add(threads.submit(() -> convertAndTick(cluster, stop)));
      for (int i = 0; i < files.size(); i += 2) {
        cluster.deleteFile(files.get(i));
      }
      stop.set(true);
      for (Future<?> thread : running) {
        thread.get(60, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }
    cluster.advance(1_000_000);
    cluster.runAll();
    whole(cluster);
  }

  @Test
  void theClusterIsDescribedWhileStripesAreLostAndFound() throws Exception {
    CodingCluster cluster = new CodingCluster(6, 1, 3);
    for (int i = 0; i < 60; i++) {
      cluster.createFile(BLOCK, BLOCK);
    }
    cluster.proposeSingle("XOR(2,1)", cluster.fileIds());
    cluster.runAll();
    AtomicBoolean stop = new AtomicBoolean();
    ExecutorService watcher = Executors.newSingleThreadExecutor();
    try {
      Future<Long> most =
          watcher.submit(
              () -> {
                long damaged = 0;
                while (!stop.get()) {
                  damaged = Math.max(damaged, damagedStripes(cluster));
                }
                return damaged;
              });
      for (int i = 0; i < 300 && !most.isDone(); i++) {
        cluster.servers.kill("server-03");
        cluster.coding.tick();
        cluster.servers.revive("server-03");
        cluster.coding.tick();
      }
      stop.set(true);
      assertThat(most.get(60, TimeUnit.SECONDS)).isPositive();
    } finally {
      watcher.shutdownNow();
    }
  }

  private static long damagedStripes(CodingCluster cluster) throws ServiceException {
    return cluster.cluster().getStripesByLossList().stream().mapToLong(Long::longValue).sum();
  }

  private static Void work(CodingCluster cluster, AtomicBoolean stop) throws Exception {
    while (!stop.get()) {
      for (ClaimedTransitionProto claimed : cluster.claim(2)) {
        cluster.commit(claimed, cluster.run(claimed));
      }
      cluster.advance(100);
    }
    return null;
  }

  private static Void convertAndTick(CodingCluster cluster, AtomicBoolean stop) throws Exception {
    while (!stop.get()) {
      cluster.coding.tick();
      List<Long> stripes = cluster.stripeIds();
      cluster.propose(TransitionKindProto.UPCODE, Codes.PC_COMPACT, List.of(), stripes);
      cluster.propose(TransitionKindProto.UPCODE, Codes.LRC_COMPACT, List.of(), stripes);
      cluster.propose(TransitionKindProto.DOWNCODE, Codes.LRC_FAST, List.of(), stripes);
    }
    return null;
  }
}
