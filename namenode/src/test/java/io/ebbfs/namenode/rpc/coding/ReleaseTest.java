package io.ebbfs.namenode.rpc.coding;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.common.time.ManualClock;
import io.ebbfs.namenode.datanodes.ClusterView.DrainState;
import io.ebbfs.namenode.files.io.TruncationWaits;
import io.ebbfs.namenode.replicas.EncodedBlocks;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.stripes.FileRows;
import io.ebbfs.protocol.proto.ChunkProtos.CombineResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.CancelRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import io.ebbfs.protocol.proto.CodingProtos.FileStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.ListFilesRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposedProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.protocol.proto.StoreProtos.SettingRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionOutputProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.raid.executor.TransitionOutcome;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Blocks that leave their stripes and become replicas again, on real bytes. */
class ReleaseTest {
  private static final int BLOCK = 64;

  private final CodingCluster cluster;

  ReleaseTest() throws Exception {
    cluster = new CodingCluster(14, 6, 9);
  }

  /** Full stripes of files of one block. */
  private List<Long> encode(String code, int stripes, boolean equal) throws Exception {
    List<Long> files = new ArrayList<>();
    for (int i = 0; i < stripes * Codes.byName(code).dataCount(); i++) {
      files.add(cluster.createFile(1, BLOCK, equal));
    }
    cluster.propose(TransitionKindProto.ENCODE, code, files, List.of());
    cluster.runAll();
    assertThat(cluster.stripeIds()).hasSize(stripes);
    return files;
  }

  private ProposedProto release(String code, List<Long> files) throws Exception {
    return cluster.propose(TransitionKindProto.RELEASE, code, files, cluster.stripeIds());
  }

  private List<TransitionRow> releases() throws Exception {
    return cluster.transitions().stream()
        .filter(t -> t.getKind() == TransitionKindProto.RELEASE)
        .toList();
  }

  private void whole() throws Exception {
    cluster.assertConsistent();
    cluster.assertAllReadable();
    cluster.assertNoOrphans();
    cluster.assertSpaceExact();
  }

  private void assertReplicated(List<Long> files) throws Exception {
    for (long file : files) {
      assertThat(cluster.block(file, 0).hasStripeId()).isFalse();
      assertThat(cluster.block(file, 0).getReplication()).isEqualTo(3);
      List<String> disks = cluster.live(file, 0);
      assertThat(disks).hasSize(3);
      Set<String> servers = new HashSet<>();
      disks.forEach(disk -> servers.add(cluster.servers.serverOf(disk)));
      assertThat(servers).as("one replica on each server").hasSize(3);
    }
  }

  private void assertEncoded(List<Long> files) throws Exception {
    for (long file : files) {
      assertThat(cluster.block(file, 0).hasStripeId()).isTrue();
      assertThat(cluster.live(file, 0)).hasSize(1);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"PC(2x5)", "PC(6x5)", "LRC(12,6,2)", "LRC(12,2,2)", "RS(6,3)", "RS(12,3)"})
  void stripesOfWhichAllBlocksLeaveEnd(String name) throws Exception {
    List<Long> files = encode(name, 2, false);
    assertThat(release(name, files).getTransitionIdsCount()).isEqualTo(2);
    cluster.runAll();
    assertThat(releases()).allMatch(t -> t.getState() == TransitionStateProto.DONE);
    assertThat(cluster.stripeIds()).isEmpty();
    assertReplicated(files);
    whole();
    long data = files.stream().mapToLong(this::length).sum();
    assertThat(cluster.cluster().getStoredBytes()).isEqualTo(3 * data);
    assertThat(releases().stream().mapToLong(TransitionRow::getDataBytes).sum()).isEqualTo(data);
  }

  private long length(long file) {
    try {
      return cluster.block(file, 0).getLengthBytes();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"PC(2x5)", "PC(6x5)", "LRC(12,6,2)", "LRC(12,2,2)", "RS(6,3)", "RS(12,3)"})
  void theStripeOfWhichSomeBlocksLeaveCoversTheOthersAndItsDeletedBlocksAreFreed(String name)
      throws Exception {
    List<Long> files = encode(name, 1, false);
    StripeStatusProto before = cluster.stripeList().get(0);
    cluster.deleteFile(files.get(0));
    List<Long> leaving = files.subList(1, 4);
    release(name, leaving);
    cluster.runAll();
    StripeStatusProto after = cluster.stripeList().get(0);
    assertThat(after.getStripe().getId()).isEqualTo(before.getStripe().getId());
    // One generation for the deletion, one for the release.
    assertThat(after.getStripe().getGeneration()).isEqualTo(before.getStripe().getGeneration() + 2);
    assertThat(after.getStripe().hasTransitionId()).isFalse();
    assertThat(after.getDeadBytes()).isZero();
    assertReplicated(leaving);
    List<Long> staying = files.subList(4, files.size());
    assertEncoded(staying);
    assertThat(after.getStripe().getMembersList().stream().map(StripeMemberProto::getOwnerId))
        .doesNotContainAnyElementsOf(leaving)
        .containsAll(staying);
    whole();
    cluster.servers.failDisk(cluster.live(staying.get(0), 0).get(0));
    cluster.servers.failDisk(cluster.live(leaving.get(0), 0).get(0));
    cluster.assertAllReadable();
    cluster.runAll();
    assertThat(cluster.stripeList()).allMatch(s -> s.getLostPositionsCount() == 0);
    cluster.assertConsistent();
  }

  /** The raid-node's own executor runs the copies, the combine and the checks. */
  @ParameterizedTest
  @ValueSource(strings = {"PC(6x5)", "LRC(12,2,2)", "RS(6,3)"})
  void theRaidNodeRunsAReleaseWithItsChecks(String name) throws Exception {
    List<Long> files = encode(name, 1, false);
    release(name, files.subList(0, 2));
    ClaimedTransitionProto claimed = cluster.claim(1).get(0);
    assertThat(claimed.getTransition().getOutputsList().stream().filter(this::isCopy)).hasSize(4);
    assertThat(claimed.getChecksList().stream().filter(c -> c.getName().contains("copy")))
        .as("each copy is compared with the stored block")
        .hasSize(4);
    assertThat(claimed.getChecksCount()).isGreaterThan(4);
    TransitionOutcome outcome = cluster.execute(claimed);
    assertThat(outcome.result()).as(outcome.detail()).isEqualTo(TransitionOutcome.Result.COMMITTED);
    assertReplicated(files.subList(0, 2));
    whole();
  }

  private boolean isCopy(TransitionOutputProto output) {
    return output.getStripeIndex() > 0;
  }

  @Test
  void theNewParitiesAvoidAServerThatIsDrained() throws Exception {
    List<Long> files = encode(Codes.RS_FAST, 1, true);
    String drained = serversOfParities().iterator().next();
    cluster.servers.startDrain(drained);
    release(Codes.RS_FAST, files.subList(0, 2));
    cluster.runAll();
    assertThat(releases()).allMatch(t -> t.getState() == TransitionStateProto.DONE);
    assertThat(serversOfParities()).isNotEmpty().doesNotContain(drained);
    assertReplicated(files.subList(0, 2));
    whole();
  }

  private Set<String> serversOfParities() throws Exception {
    Set<String> servers = new HashSet<>();
    for (StripeMemberProto member : cluster.stripeList().get(0).getStripe().getMembersList()) {
      if (Codes.byName(Codes.RS_FAST).position(member.getPosition()).isParity()) {
        cluster.servers.disks().stream()
            .filter(disk -> cluster.servers.on(disk).containsKey(member.getBlockId()))
            .forEach(disk -> servers.add(cluster.servers.serverOf(disk)));
      }
    }
    return servers;
  }

  @Test
  void aFailedAttemptLeavesTheStripeAsItWasAndItsCopiesGo() throws Exception {
    List<Long> files = encode(Codes.RS_FAST, 1, true);
    List<StripeStatusProto> before = cluster.stripeList();
    release(Codes.RS_FAST, files);
    ClaimedTransitionProto claimed = cluster.claim(1).get(0);
    cluster.run(claimed);
    cluster.assertSpaceAccounted();
    cluster.fail(claimed, "the raid-node stopped");
    cluster.blocks.reportAll();
    assertEncoded(files);
    assertThat(cluster.stripeList().get(0).getStripe().getMembersList())
        .isEqualTo(before.get(0).getStripe().getMembersList());
    cluster.assertSpaceAccounted();
    cluster.runAll();
    assertReplicated(files);
    whole();
  }

  @Test
  void aNamenodeThatRestartsCommitsTheAttempt() throws Exception {
    List<Long> files = encode(Codes.LRC_FAST, 1, true);
    release(Codes.LRC_FAST, files.subList(0, 5));
    ClaimedTransitionProto claimed = cluster.claim(1).get(0);
    List<CombineResponseProto> results = cluster.run(claimed);
    cluster.restart();
    cluster.blocks.reportAll();
    assertThat(cluster.commit(claimed, results).getCommitted()).isTrue();
    assertReplicated(files.subList(0, 5));
    whole();
  }

  @Test
  void aCommitThatIsSentAgainChangesNothing() throws Exception {
    List<Long> files = encode(Codes.PC_FAST, 1, true);
    release(Codes.PC_FAST, files.subList(0, 3));
    ClaimedTransitionProto claimed = cluster.claim(1).get(0);
    List<CombineResponseProto> results = cluster.run(claimed);
    assertThat(cluster.commit(claimed, results).getCommitted()).isTrue();
    List<StripeStatusProto> after = cluster.stripeList();
    assertThat(cluster.commit(claimed, results).getCommitted()).isTrue();
    assertThat(cluster.stripeList()).isEqualTo(after);
    assertReplicated(files.subList(0, 3));
    whole();
  }

  @Test
  void aDeletionMeanwhileRefusesTheCommitAndTheNextAttemptTakesTheRest() throws Exception {
    List<Long> files = encode(Codes.RS_COMPACT, 1, true);
    release(Codes.RS_COMPACT, files.subList(0, 4));
    ClaimedTransitionProto claimed = cluster.claim(1).get(0);
    List<CombineResponseProto> results = cluster.run(claimed);
    cluster.deleteFile(files.get(0));
    assertThat(cluster.commit(claimed, results).getRefusal()).contains("changed while");
    assertEncoded(files.subList(1, 4));
    cluster.assertAllReadable();
    cluster.runAll();
    assertThat(releases()).singleElement().matches(t -> t.getAttempt() == 2);
    assertReplicated(files.subList(1, 4));
    assertThat(cluster.stripeList()).singleElement().matches(s -> s.getDeadBytes() == 0);
    whole();
  }

  @Test
  void aReleaseWhoseFilesAreAllDeletedIsDropped() throws Exception {
    List<Long> files = encode(Codes.RS_COMPACT, 1, true);
    release(Codes.RS_COMPACT, files.subList(0, 2));
    cluster.deleteFile(files.get(0));
    cluster.deleteFile(files.get(1));
    cluster.runAll();
    assertThat(releases()).allMatch(t -> t.getState() == TransitionStateProto.DROPPED);
    assertThat(cluster.stripeList()).noneMatch(s -> s.getStripe().hasTransitionId());
    whole();
  }

  /**
   * Parities protect the blocks until so many replicas exist that the next failure does no harm.
   */
  @Test
  void aBlockWhoseCopiesAreOnServersThatDiedDoesNotLeave() throws Exception {
    List<Long> files = encode(Codes.RS_FAST, 1, true);
    release(Codes.RS_FAST, files.subList(0, 1));
    ClaimedTransitionProto claimed = cluster.claim(1).get(0);
    List<CombineResponseProto> results = cluster.run(claimed);
    TransitionOutputProto copy =
        claimed.getTransition().getOutputsList().stream()
            .filter(this::isCopy)
            .findFirst()
            .orElseThrow();
    cluster.servers.failDisk(copy.getStorageUuid());
    assertThat(cluster.commit(claimed, results).getRefusal()).contains("out of service");
    assertEncoded(files);
    cluster.runAll();
    assertReplicated(files.subList(0, 1));
  }

  @Test
  void aBlockWithoutRoomForASecondReplicaKeepsItsParities() throws Exception {
    List<Long> files = encode(Codes.RS_FAST, 1, true);
    cluster.servers.full.addAll(cluster.servers.disks());
    release(Codes.RS_FAST, files);
    assertThat(cluster.claim(1)).isEmpty();
    assertThat(cluster.active())
        .singleElement()
        .matches(t -> t.getFailure().contains("finds room on 1 servers, and it needs 2"));
    assertEncoded(files);
    cluster.servers.full.clear();
    cluster.runAll();
    assertReplicated(files);
    whole();
  }

  /** So the manager tries again once the disks have the room that was missing. */
  @Test
  void aReleaseThatFindsNoRoomEndsAsNoSpace() throws Exception {
    List<Long> files = encode(Codes.RS_FAST, 1, true);
    cluster.servers.full.addAll(cluster.servers.disks());
    release(Codes.RS_FAST, files);
    for (int round = 0; round < 20 && !cluster.active().isEmpty(); round++) {
      assertThat(cluster.claim(1)).isEmpty();
      cluster.advance(120_000);
    }
    TransitionRow ended = releases().get(0);
    assertThat(ended.getState()).as(ended.getFailure()).isEqualTo(TransitionStateProto.NO_SPACE);
    assertThat(ended.getFailure()).contains("84 of 84 disks", "delete data, or add disks");
    assertThat(ended.getMissingBytes()).isPositive();
    assertThat(ended.getClusterDisks()).isEqualTo(84);
    assertEncoded(files);
    cluster.servers.full.clear();
    release(Codes.RS_FAST, files);
    cluster.runAll();
    assertReplicated(files);
  }

  /** Without another server, room on disks does not help. */
  @Test
  void aReleaseThatFindsNoServerEndsAsNoDomains() throws Exception {
    List<Long> files = encode(Codes.RS_FAST, 1, true);
    String home = cluster.servers.serverOf(cluster.live(files.get(0), 0).get(0));
    cluster.servers.servers().stream()
        .filter(server -> !server.equals(home))
        .forEach(server -> cluster.servers.drains.put(server, DrainState.DRAINING));
    release(Codes.RS_FAST, files);
    for (int round = 0; round < 20 && !cluster.active().isEmpty(); round++) {
      assertThat(cluster.claim(1)).isEmpty();
      cluster.advance(120_000);
    }
    assertThat(releases()).singleElement().matches(t -> t.getClusterServers() == 1);
    assertThat(releases().get(0).getState()).isEqualTo(TransitionStateProto.NO_DOMAINS);
    assertThat(releases().get(0).getFailure())
        .as("a release chooses no code")
        .contains("servers")
        .doesNotContain("parities");
    assertEncoded(files);
  }

  /** Ordinary replication adds the third replica when there is a server for it. */
  @Test
  void twoServersAreEnough() throws Exception {
    List<Long> files = encode(Codes.RS_FAST, 1, true);
    String own = cluster.live(files.get(0), 0).get(0);
    String home = cluster.servers.serverOf(own);
    String other =
        cluster.servers.servers().stream().filter(s -> !s.equals(home)).findFirst().orElseThrow();
    cluster.servers.disks().stream()
        .filter(disk -> !cluster.servers.serverOf(disk).equals(other))
        .forEach(cluster.servers.full::add);
    release(Codes.RS_FAST, files.subList(0, 1));
    ClaimedTransitionProto claimed = cluster.claim(1).get(0);
    assertThat(claimed.getTransition().getOutputsList().stream().filter(this::isCopy)).hasSize(1);
    assertThat(cluster.commit(claimed, cluster.run(claimed)).getCommitted()).isTrue();
    assertThat(cluster.live(files.get(0), 0)).hasSize(2);
    assertThat(cluster.block(files.get(0), 0).getReplication()).isEqualTo(3);
    cluster.blocks.copyUnderReplicated();
    assertReplicated(files.subList(0, 1));
    whole();
  }

  /** Versions without RELEASE cannot parse its row, so they are to refuse the store. */
  @Test
  void theFirstReleaseRaisesTheFormatOfTheStore() throws Exception {
    List<Long> files = encode(Codes.RS_FAST, 1, true);
    assertThat(format()).as("an encoding does not").isEmpty();
    assertThat(propose(files, List.of(999L)).getTransitionIdsList()).isEmpty();
    assertThat(format()).as("a refused release does not").isEmpty();
    release(Codes.RS_FAST, files);
    assertThat(format()).contains("3");
  }

  private Optional<String> format() throws IOException {
    Key key = Tables.named("storeFormat");
    return cluster.store.transact(
        key.partition(), t -> t.get(Tables.SETTING, key).map(SettingRow::getValue));
  }

  /** The drain could not end otherwise, or its end would take the replica away. */
  @ParameterizedTest
  @EnumSource(names = {"DRAINING", "DRAINED"})
  void aServerThatIsDrainedIsReadFromAndItsReplicaDoesNotCount(DrainState state) throws Exception {
    List<Long> files = encode(Codes.RS_FAST, 1, true);
    long file = files.get(0);
    String home = cluster.servers.serverOf(cluster.live(file, 0).get(0));
    cluster.servers.drains.put(home, state);
    release(Codes.RS_FAST, List.of(file));
    ClaimedTransitionProto claimed = cluster.claim(1).get(0);
    assertThat(copyServers(claimed)).hasSize(3).doesNotContain(home);
    assertThat(cluster.commit(claimed, cluster.run(claimed)).getCommitted()).isTrue();
    cluster.servers.kill(home);
    assertReplicated(List.of(file));
    cluster.assertAllReadable();
  }

  @Test
  void aBlockDoesNotLeaveIfAServerOfItsTwoReplicasIsDrainedMeanwhile() throws Exception {
    List<Long> files = encode(Codes.RS_FAST, 1, true);
    setReplication(files.get(0), 2);
    String home = cluster.servers.serverOf(cluster.live(files.get(0), 0).get(0));
    release(Codes.RS_FAST, files.subList(0, 1));
    ClaimedTransitionProto claimed = cluster.claim(1).get(0);
    assertThat(copyServers(claimed)).hasSize(1);
    List<CombineResponseProto> results = cluster.run(claimed);
    cluster.servers.drains.put(home, DrainState.DRAINING);
    assertThat(cluster.commit(claimed, results).getRefusal())
        .contains("replicas on 1 servers that were heard lately and are not drained");
    assertEncoded(files);
    cluster.runAll();
    assertThat(releases()).singleElement().matches(t -> t.getState() == TransitionStateProto.DONE);
    assertThat(cluster.block(files.get(0), 0).hasStripeId()).isFalse();
    cluster.servers.kill(home);
    assertThat(cluster.live(files.get(0), 0)).hasSize(2);
    cluster.assertAllReadable();
  }

  /** A copy that an earlier attempt left may be deleted late, by its id alone. */
  @Test
  void serversOfEarlierAttemptsAreAvoidedWhileThereAreOthers() throws Exception {
    List<Long> files = encode(Codes.RS_FAST, 1, true);
    long file = files.get(0);
    String home = cluster.servers.serverOf(cluster.live(file, 0).get(0));
    List<String> others =
        cluster.servers.servers().stream().filter(s -> !s.equals(home)).sorted().toList();
    List<String> marked = others.subList(0, others.size() - 2);
    marked.forEach(server -> mark(file, server));
    release(Codes.RS_FAST, List.of(file));
    ClaimedTransitionProto claimed = cluster.claim(1).get(0);
    assertThat(copyServers(claimed)).doesNotContainAnyElementsOf(marked).hasSize(2);
    cluster.fail(claimed, "stopped");
    others.subList(others.size() - 2, others.size()).forEach(server -> mark(file, server));
    cluster.advance(120_000);
    assertThat(copyServers(cluster.claim(1).get(0))).as("there are no others").hasSize(2);
  }

  private Set<String> copyServers(ClaimedTransitionProto claimed) {
    Set<String> servers = new HashSet<>();
    claimed.getTransition().getOutputsList().stream()
        .filter(this::isCopy)
        .forEach(copy -> servers.add(cluster.servers.serverOf(copy.getStorageUuid())));
    return servers;
  }

  /** The mark of a copy that an attempt may have written to a server. */
  private void mark(long file, String server) {
    String disk =
        cluster.servers.disks().stream()
            .filter(d -> cluster.servers.serverOf(d).equals(server))
            .findFirst()
            .orElseThrow();
    try {
      long blockId = cluster.block(file, 0).getBlockId();
      cluster.store.transact(
          file,
          transaction -> {
            transaction.put(
                Tables.REPLICA,
                Tables.replica(file, blockId, disk),
                ReplicaRow.newBuilder()
                    .setState(ReplicaStateProto.CORRUPT)
                    .setGenerationStamp(1001)
                    .setLengthBytes(0)
                    .build());
            return null;
          });
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aLostBlockIsRepairedBeforeOthersLeave() throws Exception {
    List<Long> files = encode(Codes.RS_FAST, 1, true);
    release(Codes.RS_FAST, files);
    cluster.servers.failDisk(cluster.live(files.get(2), 0).get(0));
    cluster.runAll();
    assertThat(releases()).allMatch(t -> t.getState() == TransitionStateProto.DROPPED);
    cluster.runAll();
    assertThat(cluster.stripeList()).allMatch(s -> s.getLostPositionsCount() == 0);
    assertEncoded(files);
    cluster.assertConsistent();
  }

  @Test
  void anOperatorCancelsARelease() throws Exception {
    List<Long> files = encode(Codes.RS_FAST, 1, true);
    release(Codes.RS_FAST, files);
    ClaimedTransitionProto claimed = cluster.claim(1).get(0);
    List<CombineResponseProto> results = cluster.run(claimed);
    CancelRequestProto cancel =
        CancelRequestProto.newBuilder()
            .setTransitionId(claimed.getTransition().getId())
            .setReason("cancelled")
            .build();
    assertThat(cluster.coding.cancel(null, cancel).hasRefusal()).isFalse();
    assertThat(cluster.commit(claimed, results).getCommitted()).isFalse();
    assertThat(releases()).allMatch(t -> t.getState() == TransitionStateProto.FAILED);
    assertThat(cluster.stripeList()).noneMatch(s -> s.getStripe().hasTransitionId());
    assertEncoded(files);
    whole();
  }

  @Test
  void theFileTellsWhenItsBlocksLeft() throws Exception {
    List<Long> files = encode(Codes.RS_FAST, 1, true);
    assertThat(status(files.get(0)).hasReleasedMillis()).isFalse();
    long before = cluster.now();
    release(Codes.RS_FAST, files.subList(0, 1));
    cluster.runAll();
    FileStatusProto status = status(files.get(0));
    assertThat(status.getReleasedMillis()).isBetween(before, cluster.now());
    assertThat(status.getModifiedMillis()).isEqualTo(1);
    assertThat(status.getStripedBlocks()).isZero();
    assertThat(status.getReplicatedStoredBytes()).isEqualTo(3 * BLOCK);
    assertThat(status(files.get(1)).hasReleasedMillis()).isFalse();
  }

  private FileStatusProto status(long file) throws Exception {
    return cluster
        .coding
        .listFiles(null, ListFilesRequestProto.newBuilder().addInodeIds(file).build())
        .getFiles(0);
  }

  @Test
  void whatCannotLeaveIsRefusedWithTheReason() throws Exception {
    List<Long> files = encode(Codes.RS_FAST, 1, true);
    List<Long> stripes = cluster.stripeIds();
    assertThat(propose(files, List.of()).getRefusal())
        .contains("its client has not encoded it: name the stripes");
    assertThat(propose(List.of(), stripes).getRefusal()).contains("names 1 stripes and 0 files");
    assertThat(propose(files, List.of(7_777_777L)).getRefusal()).contains("does not exist");
    assertThat(propose(List.of(7_777_777L), stripes).getRefusal())
        .contains("has no block of these files");
    setReplication(files.get(0), 1);
    assertThat(propose(files.subList(0, 1), stripes))
        .matches(p -> p.getTransitionIdsCount() == 0)
        .matches(p -> p.getRefusal().contains("has replication 1"))
        .matches(p -> p.getRefusal().contains("-setrep"));
    ProposedProto others = propose(files, stripes);
    assertThat(others.getTransitionIdsCount()).isEqualTo(1);
    assertThat(others.getRefusal()).contains("has replication 1");
    assertThat(propose(files, stripes).getRefusal()).contains("is in transition");
    cluster.runAll();
    assertEncoded(files.subList(0, 1));
    assertReplicated(files.subList(1, 6));
    whole();
  }

  @Test
  void aReplicationThatIsLoweredMeanwhileKeepsTheBlockInItsStripe() throws Exception {
    List<Long> files = encode(Codes.RS_FAST, 1, true);
    release(Codes.RS_FAST, files.subList(0, 1));
    ClaimedTransitionProto claimed = cluster.claim(1).get(0);
    List<CombineResponseProto> results = cluster.run(claimed);
    setReplication(files.get(0), 1);
    assertThat(cluster.commit(claimed, results).getRefusal()).contains("has replication 1");
    cluster.runAll();
    assertThat(releases()).allMatch(t -> t.getState() == TransitionStateProto.DROPPED);
    assertEncoded(files);
    whole();
  }

  @Test
  void aBlockIsNotFreedFromAStripeThatHasLostOthers() throws Exception {
    List<Long> files = encode(Codes.RS_FAST, 1, true); // 6 blocks and 3 parities
    BlockRow block = cluster.block(files.get(0), 0);
    assertThat(cluster.coding.freer().obstacle(block)).isEmpty();
    for (int i = 1; i <= 4; i++) {
      cluster.servers.kill(cluster.servers.serverOf(cluster.live(files.get(i), 0).get(0)));
      boolean decodes = i <= 3;
      assertThat(cluster.coding.freer().obstacle(block))
          .get()
          .matches(obstacle -> obstacle.lasting() == !decodes)
          .matches(o -> o.reason().contains(decodes ? "are repaired" : "delete the files"));
      cluster.coding.freer().free(files.get(0), block);
      assertThat(releases()).isEmpty();
    }
    for (int i = 1; i <= 4; i++) {
      cluster.deleteFile(files.get(i));
    }
    assertThat(cluster.coding.freer().obstacle(block))
        .as("the live blocks are whole, so they are encoded anew")
        .get()
        .matches(obstacle -> !obstacle.lasting());
    cluster.runAll();
    BlockRow rescued = cluster.block(files.get(0), 0);
    assertThat(cluster.coding.freer().obstacle(rescued)).isEmpty();
    cluster.coding.freer().free(files.get(0), rescued);
    assertThat(releases()).hasSize(1);
  }

  /** A namenode that has just started knows of no live server; a client must not hear of a loss. */
  @Test
  void aStripeWhoseServersMayComeBackIsNoLastingObstacle() throws Exception {
    List<Long> files = encode(Codes.RS_FAST, 1, true); // 6 blocks and 3 parities
    BlockRow block = cluster.block(files.get(0), 0);
    List<String> lost = new ArrayList<>();
    for (int i = 0; i <= 4; i++) {
      lost.add(cluster.servers.serverOf(cluster.live(files.get(i), 0).get(0)));
    }
    lost.forEach(cluster.servers::kill);
    assertLasting(block, true);
    cluster.servers.setSafeMode(true);
    assertLasting(block, false);
    assertThat(cluster.coding.freer().obstacle(block))
        .get()
        .matches(EncodedBlocks.Obstacle::starting);
    cluster.servers.setSafeMode(false);
    assertLasting(block, true);
    cluster.servers.hibernating.add(lost.get(0));
    assertLasting(block, true); // four are too many without it, too
    cluster.servers.hibernating.add(lost.get(1));
    assertLasting(block, false);
    assertThat(cluster.coding.freer().obstacle(block).orElseThrow().reason())
        .contains("servers are awaited");
  }

  /** The server may be away for hours, and a client waits. */
  @Test
  void aStripeIsRepairedForATruncationThoughAServerOfItHibernates() throws Exception {
    List<Long> files = encode(Codes.RS_FAST, 1, true); // 6 blocks and 3 parities
    BlockRow block = cluster.block(files.get(0), 0);
    String away = cluster.servers.serverOf(cluster.live(files.get(1), 0).get(0));
    cluster.servers.kill(away);
    cluster.servers.hibernating.add(away);
    cluster.runAll();
    assertThat(cluster.live(files.get(1), 0)).as("it is awaited").isEmpty();
    cluster.servers.setSafeMode(true);
    assertThat(cluster.coding.freer().obstacle(block))
        .as("the stripe can be read")
        .get()
        .matches(obstacle -> !obstacle.starting());
    cluster.servers.setSafeMode(false);
    cluster.coding.freer().free(files.get(0), block);
    assertThat(releases()).isEmpty();
    cluster.runAll();
    assertThat(cluster.live(files.get(1), 0)).hasSize(1);
    cluster.coding.freer().free(files.get(0), block);
    assertThat(releases()).hasSize(1);
  }

  /** A cluster with one stripe that waits a minute for lost servers. */
  private CodingCluster delayed(List<Long> files) throws Exception {
    CodingCluster delayed =
        new CodingCluster(14, 6, 9, CodingCluster.SETTINGS.withRepairDelay(60_000));
    for (int i = 0; i < 6; i++) {
      files.add(delayed.createFile(1, BLOCK, true));
    }
    delayed.propose(TransitionKindProto.ENCODE, Codes.RS_FAST, files, List.of());
    delayed.runAll();
    return delayed;
  }

  @Test
  void aStripeWhoseDisksHaveFailedIsALastingObstacleAtOnce() throws Exception {
    List<Long> files = new ArrayList<>();
    CodingCluster delayed = delayed(files);
    BlockRow block = delayed.block(files.get(0), 0);
    List<String> disks = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      disks.add(delayed.live(files.get(i), 0).get(0));
    }
    long lostMillis = delayed.now();
    delayed.servers.lostSince = disk -> lostMillis;
    for (int i = 0; i < 4; i++) {
      delayed.servers.failDisk(disks.get(i));
      boolean decodes = i < 3;
      assertThat(delayed.coding.freer().obstacle(block))
          .get()
          .matches(obstacle -> obstacle.lasting() == !decodes);
    }
  }

  @Test
  void aStripeWhoseServersWereLostAMomentAgoIsNoLastingObstacle() throws Exception {
    List<Long> files = new ArrayList<>();
    CodingCluster delayed = delayed(files);
    BlockRow block = delayed.block(files.get(0), 0);
    for (int i = 0; i < 4; i++) {
      delayed.servers.kill(delayed.servers.serverOf(delayed.live(files.get(i), 0).get(0)));
    }
    long lostMillis = delayed.now();
    delayed.servers.lostSince = disk -> lostMillis;
    delayed.advance(59_999);
    assertThat(delayed.coding.freer().obstacle(block)).get().matches(o -> !o.lasting());
    delayed.advance(1);
    assertThat(delayed.coding.freer().obstacle(block)).get().matches(o -> o.lasting());
  }

  private void assertLasting(BlockRow block, boolean lasting) throws Exception {
    assertThat(cluster.coding.freer().obstacle(block))
        .get()
        .matches(obstacle -> obstacle.lasting() == lasting);
  }

  @Test
  void operatorsHearOfTruncationsThatDoNotGoOn() throws Exception {
    TruncationWaits waits = new TruncationWaits(new ManualClock(1_000));
    cluster.coding.bind(waits);
    assertThat(cluster.cluster().getStuckTruncations()).isZero();
    waits.note(7, new EncodedBlocks.Obstacle("stripe 77 does not decode", true));
    assertThat(cluster.cluster().getStuckTruncations()).isEqualTo(1);
    assertThat(cluster.cluster().getStuckTruncation())
        .isEqualTo("file 7: stripe 77 does not decode");
  }

  private ProposedProto propose(List<Long> files, List<Long> stripes) throws Exception {
    return cluster.propose(TransitionKindProto.RELEASE, Codes.RS_FAST, files, stripes);
  }

  private void setReplication(long file, int replication) throws IOException {
    cluster.store.transact(
        file,
        transaction -> {
          Row<InodeRow> row = FileRows.find(transaction, file).orElseThrow();
          transaction.put(
              Tables.INODE, row.key(), row.value().toBuilder().setReplication(replication).build());
          return null;
        });
  }
}
