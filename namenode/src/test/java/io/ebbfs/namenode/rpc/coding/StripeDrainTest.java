package io.ebbfs.namenode.rpc.coding;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.datanodes.ClusterView.DrainState;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.stripes.StripeState;
import io.ebbfs.protocol.proto.ChunkProtos.CombineRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import io.ebbfs.protocol.proto.CodingProtos.DrainRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.DrainResponseProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Members of stripes leave a server that is drained. */
class StripeDrainTest {
  private static final int BLOCK = 64;
  private static final String LEAVING = "server-00";

  private CodingCluster cluster;

  private void encoded(String code, int servers, int blocks) throws Exception {
    cluster = new CodingCluster(servers, 12, 17, CodingCluster.SETTINGS);
    for (int i = 0; i < blocks; i++) {
      cluster.createFile(1, BLOCK, true);
    }
    cluster.propose(TransitionKindProto.ENCODE, code, cluster.fileIds(), List.of());
    cluster.runAll();
    assertThat(cluster.stripeIds()).isNotEmpty();
    assertThat(membersOn(LEAVING)).isPositive();
  }

  private void drain() {
    cluster.servers.drains.put(LEAVING, DrainState.DRAINING);
  }

  /** The members of stripes on the server. */
  private long membersOn(String server) throws Exception {
    long members = 0;
    for (long stripeId : cluster.stripeIds()) {
      members += serversOf(stripeId).stream().filter(server::equals).count();
    }
    return members;
  }

  /** By member of a stripe: the server that has it. */
  private List<String> serversOf(long stripeId) throws Exception {
    return cluster.store.transact(
        stripeId,
        t ->
            StripeState.read(
                    t,
                    cluster.codes,
                    cluster.servers,
                    t.get(Tables.STRIPE, Tables.stripe(stripeId)).orElseThrow())
                .locations()
                .values()
                .stream()
                .flatMap(List::stream)
                .map(cluster.servers::serverOf)
                .toList());
  }

  private List<TransitionRow> moves() throws Exception {
    return cluster.transitions().stream()
        .filter(t -> t.getKind() == TransitionKindProto.MOVE)
        .toList();
  }

  @ParameterizedTest
  @CsvSource({
    "'RS(6,3)', 10, 36",
    "'LRC(12,2,2)', 10, 48",
    "'PC(6x5)', 12, 60",
    "'PC(2x5)', 9, 60"
  })
  void everyMemberMovesAndNothingElseIsWrong(String code, int servers, int blocks)
      throws Exception {
    encoded(code, servers, blocks);
    drain();
    for (int i = 0; i < 10 && membersOn(LEAVING) > 0; i++) {
      cluster.coding.tick();
      cluster.runAll();
    }
    assertThat(membersOn(LEAVING)).isZero();
    assertThat(moves()).isNotEmpty().allMatch(t -> t.getReason().contains("are drained"));
    assertThat(cluster.counter("placementViolations")).isZero();
    cluster.assertConsistent();
    cluster.assertNoOrphans();
    cluster.servers.kill(LEAVING);
    cluster.assertAllReadable();
    cluster.coding.tick();
    assertThat(cluster.active()).as("nothing is lost with the server").isEmpty();
  }

  @Test
  void aStripeIsLookedAtOnTheHintOfTheWalk() throws Exception {
    encoded("RS(6,3)", 10, 36);
    drain();
    for (long stripeId : cluster.stripeIds()) {
      cluster.stripes.checkLeaving(stripeId);
    }
    cluster.coding.tick();
    assertThat(cluster.stripes.takeLeaving(100)).isEmpty();
    assertThat(moves()).isNotEmpty();
  }

  /** Re-placement of misplaced stripes is switched off in this test's settings. */
  @Test
  void nothingMovesWithoutADrain() throws Exception {
    encoded("RS(6,3)", 10, 36);
    cluster.coding.tick();
    assertThat(moves()).isEmpty();
  }

  @Test
  void newStripesAvoidTheServerThoughItHasReplicas() throws Exception {
    encoded("RS(6,3)", 12, 36);
    drain();
    List<Long> files = new ArrayList<>();
    for (int i = 0; i < 18; i++) {
      files.add(cluster.createFile(1, BLOCK, true));
    }
    Set<Long> before = Set.copyOf(cluster.stripeIds());
    cluster.propose(TransitionKindProto.ENCODE, "RS(6,3)", files, List.of());
    cluster.runAll();
    List<Long> made = new ArrayList<>(cluster.stripeIds());
    made.removeAll(before);
    assertThat(made).hasSizeGreaterThanOrEqualTo(3);
    for (long stripeId : made) {
      assertThat(serversOf(stripeId)).hasSize(9).doesNotContain(LEAVING);
    }
  }

  @Test
  void whatCannotMoveSaysWhyAndMovesOnceAServerJoins() throws Exception {
    // RS(6,3) survives the loss of any server on 3 servers: each holds three blocks.
    cluster = new CodingCluster(4, 12, 17, CodingCluster.SETTINGS);
    cluster.servers.kill("server-03");
    for (int i = 0; i < 6; i++) {
      cluster.createFile(1, BLOCK, true);
    }
    cluster.propose(TransitionKindProto.ENCODE, "RS(6,3)", cluster.fileIds(), List.of());
    cluster.runAll();
    long stripe = cluster.stripeIds().get(0);
    long members = membersOn(LEAVING);
    assertThat(members).isEqualTo(3);
    drain();
    cluster.coding.tick();
    cluster.runAll();
    assertThat(membersOn(LEAVING)).isEqualTo(members);
    assertThat(cluster.stripes.whyStuck(stripe))
        .hasValueSatisfying(
            why ->
                assertThat(why).contains("is on a server whose loss its stripe does not survive"));

    cluster.servers.revive("server-03");
    cluster.advance(30_001);
    cluster.coding.tick();
    cluster.runAll();
    assertThat(membersOn(LEAVING)).isZero();
    assertThat(cluster.stripes.whyStuck(stripe)).isEmpty();
    cluster.assertConsistent();
    cluster.assertAllReadable();
  }

  @Test
  void aServerThatDoesNotAnswerIsNotReadFrom() throws Exception {
    encoded("RS(6,3)", 11, 6);
    drain();
    cluster.coding.tick();
    assertThat(moves()).isNotEmpty();
    cluster.servers.silence(LEAVING);
    List<ClaimedTransitionProto> claimed = cluster.claim(16);
    assertThat(claimed).isNotEmpty();
    for (ClaimedTransitionProto one : claimed) {
      assertThat(one.getTransition().getKind()).isEqualTo(TransitionKindProto.MOVE);
      assertThat(sources(one)).isNotEmpty().doesNotContain(LEAVING);
      cluster.commit(one, cluster.run(one));
    }
    assertThat(membersOn(LEAVING)).isZero();
    cluster.servers.kill(LEAVING);
    cluster.assertAllReadable();
    cluster.assertConsistent();
  }

  private static Set<String> sources(ClaimedTransitionProto claimed) {
    return claimed.getStepsList().stream()
        .map(step -> step.getCombine())
        .map(CombineRequestProto::getSourcesList)
        .flatMap(List::stream)
        .flatMap(source -> source.getLocationsList().stream())
        .map(at -> at.getServer().getDatanodeUuid())
        .collect(Collectors.toSet());
  }

  @Test
  void anOrdinaryRepairTakesOverWhenTheServerDies() throws Exception {
    encoded("RS(6,3)", 11, 12);
    drain();
    cluster.coding.tick();
    assertThat(moves()).isNotEmpty();
    cluster.servers.kill(LEAVING);
    cluster.runAll();
    cluster.runAll(); // the moves were dropped, so that repairs could begin
    assertThat(cluster.transitions())
        .anyMatch(
            t ->
                t.getKind() == TransitionKindProto.REPAIR
                    && t.getState() == TransitionStateProto.DONE);
    assertThat(membersOn(LEAVING)).isZero();
    cluster.assertConsistent();
    cluster.assertAllReadable();
  }

  @Test
  void aServerThatIsTakenBackKeepsWhatItHas() throws Exception {
    encoded("RS(6,3)", 11, 12);
    long members = membersOn(LEAVING);
    drain();
    cluster.coding.tick();
    assertThat(moves()).isNotEmpty();
    cluster.servers.drains.remove(LEAVING);
    cluster.runAll();
    assertThat(membersOn(LEAVING)).isEqualTo(members);
    assertThat(cluster.active()).isEmpty();
    cluster.assertConsistent();
    cluster.assertAllReadable();
  }

  /** The walk over the blocks of the server may have passed the block already. */
  @ParameterizedTest
  @EnumSource(
      value = DrainState.class,
      names = {"DRAINING", "DRAINED"})
  void aCommitOnAServerThatIsDrainedIsRefused(DrainState state) throws Exception {
    cluster = new CodingCluster(12, 12, 17, CodingCluster.SETTINGS);
    cluster.createFile(6, BLOCK, true);
    cluster.propose(TransitionKindProto.ENCODE, "RS(6,3)", cluster.fileIds(), List.of());
    ClaimedTransitionProto claimed = cluster.claim(1).get(0);
    String target = claimed.getTransition().getOutputs(0).getStorageUuid();
    refused(claimed, target, state);
  }

  /** One replica of a block becomes the member of the stripe; the other replicas are deleted. */
  @ParameterizedTest
  @EnumSource(
      value = DrainState.class,
      names = {"DRAINING", "DRAINED"})
  void aCommitThatKeepsAReplicaOnAServerThatIsDrainedIsRefused(DrainState state) throws Exception {
    cluster = new CodingCluster(12, 12, 17, CodingCluster.SETTINGS);
    cluster.createFile(6, BLOCK, true);
    cluster.propose(TransitionKindProto.ENCODE, "RS(6,3)", cluster.fileIds(), List.of());
    ClaimedTransitionProto claimed = cluster.claim(1).get(0);
    refused(claimed, claimed.getTransition().getBlocks(0).getKeepStorageUuid(), state);
  }

  /** The attempt is refused, and the next one avoids the server. */
  private void refused(ClaimedTransitionProto claimed, String disk, DrainState state)
      throws Exception {
    String server = cluster.servers.serverOf(disk);
    cluster.run(claimed);
    cluster.servers.drains.put(server, state);
    assertThat(cluster.execute(claimed).detail()).contains("belongs to a server that is drained");
    assertThat(cluster.stripeIds()).isEmpty();
    cluster.assertAllReadable();
    cluster.runAll();
    assertThat(cluster.stripeIds()).hasSize(1);
    assertThat(membersOn(server)).isZero();
    cluster.assertConsistent();
    cluster.assertAllReadable();
  }

  private DrainResponseProto order(String server, boolean end, boolean dryRun) throws Exception {
    return cluster.coding.drain(
        null,
        DrainRequestProto.newBuilder().setServerUuid(server).setEnd(end).setDryRun(dryRun).build());
  }

  @Test
  void aDryRunTellsWhatTheServerHoldsAndChangesNothing() throws Exception {
    encoded("RS(6,3)", 10, 36);
    cluster.createFile(1, BLOCK, true);
    DrainResponseProto answer = order(LEAVING, false, true);
    assertThat(answer.hasRefusal()).isFalse();
    assertThat(answer.getEstimated()).isFalse();
    assertThat(answer.getBlocks()).isGreaterThanOrEqualTo(membersOn(LEAVING));
    assertThat(answer.getBytes()).isEqualTo(answer.getBlocks() * BLOCK);
    assertThat(answer.getServersThatStay()).isEqualTo(9);
    assertThat(cluster.servers.drains).isEmpty();

    assertThat(order(LEAVING, true, true).getRefusal()).contains("is not drained");
    assertThat(order(LEAVING, false, false).hasRefusal()).isFalse();
    assertThat(cluster.servers.drains).containsOnlyKeys(LEAVING);
    assertThat(order(LEAVING, false, true).getRefusal()).contains("is being drained already");
    assertThat(order(LEAVING, true, true).hasRefusal()).isFalse();
    assertThat(cluster.servers.drains).containsOnlyKeys(LEAVING);
    assertThat(order(LEAVING, true, false).hasRefusal()).isFalse();
    assertThat(cluster.servers.drains).isEmpty();
  }

  @Test
  void aDrainIsRefusedIfTheOthersAreTooFewForACode() throws Exception {
    encoded("RS(6,3)", 3, 6);
    DrainResponseProto answer = order(LEAVING, false, false);
    assertThat(answer.getRefusal())
        .contains("stripes in RS(6,3) survive the loss of any server on 3 servers or more")
        .contains("2 live servers stay");
    assertThat(cluster.servers.drains).isEmpty();
  }

  @Test
  void aDrainIsRefusedIfTheOthersAreTooFewForReplicasOrTooFull() throws Exception {
    cluster = new CodingCluster(3, 2, 17, CodingCluster.SETTINGS);
    cluster.createFile(1, BLOCK, true);
    assertThat(order(LEAVING, false, false).getRefusal())
        .contains("want 3 replicas, and 2 live servers stay");
    cluster = new CodingCluster(5, 2, 17, CodingCluster.SETTINGS);
    for (int i = 0; i < 10; i++) {
      cluster.createFile(1, BLOCK, true);
    }
    cluster.servers.disks().stream()
        .filter(disk -> !cluster.servers.serverOf(disk).equals(LEAVING))
        .forEach(cluster.servers.full::add);
    assertThat(order(LEAVING, false, false).getRefusal()).contains("have 0 free");
    assertThat(cluster.servers.drains).isEmpty();
  }

  @Test
  void theClusterTellsTheDrain() throws Exception {
    encoded("RS(6,3)", 10, 36);
    drain();
    assertThat(cluster.cluster().getServersList())
        .filteredOn(server -> server.hasDrain())
        .singleElement()
        .satisfies(
            server -> {
              assertThat(server.getServer().getDatanodeUuid()).isEqualTo(LEAVING);
              assertThat(server.getDrain().getDrained()).isFalse();
            });
  }
}
