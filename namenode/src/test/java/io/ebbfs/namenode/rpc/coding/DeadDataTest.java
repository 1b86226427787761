package io.ebbfs.namenode.rpc.coding;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.stripes.StripeState;
import io.ebbfs.namenode.tasks.plan.MergeGroup;
import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposedProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.SettingRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionOutputProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Subtractions and rewrites that are proposed, on real bytes. */
class DeadDataTest {
  private static final int BLOCK = 64;

  private final CodingCluster cluster;
  private List<Long> files = new ArrayList<>();

  DeadDataTest() throws Exception {
    cluster = new CodingCluster(14, 6, 9);
  }

  /** Full stripes of files of one block. */
  private void encode(String code, int stripes, boolean equal) throws Exception {
    int blocks = stripes * Codes.byName(code).dataCount();
    for (int i = 0; i < blocks; i++) {
      files.add(cluster.createFile(1, BLOCK, equal));
    }
    cluster.propose(TransitionKindProto.ENCODE, code, files, List.of());
    cluster.runAll();
  }

  /** Deletes so many blocks of each stripe, the first ones. */
  private void delete(int ofEachStripe) throws Exception {
    for (StripeStatusProto stripe : cluster.stripeList()) {
      ErasureCode code = Codes.byName(stripe.getStripe().getCode());
      List<Long> owners = new ArrayList<>();
      for (StripeMemberProto member : stripe.getStripe().getMembersList()) {
        if (member.getPosition() < code.dataCount()) {
          owners.add(member.getOwnerId());
        }
      }
      for (long owner : owners.subList(0, ofEachStripe)) {
        cluster.deleteFile(owner);
      }
    }
  }

  private ProposedProto propose(TransitionKindProto kind, String code, List<Long> stripes)
      throws Exception {
    return cluster.propose(kind, code, List.of(), stripes);
  }

  private void whole() throws Exception {
    cluster.assertConsistent();
    cluster.assertAllReadable();
    cluster.assertNoOrphans();
    cluster.assertSpaceExact();
  }

  private static Map<Integer, Long> blockIds(StripeRow stripe) {
    Map<Integer, Long> ids = new TreeMap<>();
    stripe.getMembersList().forEach(m -> ids.put(m.getPosition(), m.getBlockId()));
    return ids;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"PC(2x5)", "PC(6x5)", "LRC(12,6,2)", "LRC(12,2,2)", "RS(6,3)", "RS(12,3)"})
  void aSubtractionFreesTheTombstonesAndKeepsTheStripe(String name) throws Exception {
    encode(name, 2, false);
    delete(1);
    List<StripeStatusProto> before = cluster.stripeList();
    assertThat(before).allMatch(s -> s.getDeadBytes() > 0);
    assertThat(
            propose(TransitionKindProto.SUBTRACT, name, cluster.stripeIds())
                .getTransitionIdsCount())
        .isEqualTo(before.size());
    cluster.runAll();
    whole();
    for (StripeStatusProto old : before) {
      StripeStatusProto now =
          cluster.stripeList().stream()
              .filter(s -> s.getStripe().getId() == old.getStripe().getId())
              .findFirst()
              .orElseThrow();
      assertThat(now.getDeadBytes()).isZero();
      assertThat(now.getLiveBytes()).isEqualTo(old.getLiveBytes());
      assertThat(now.getStripe().getGeneration()).isEqualTo(old.getStripe().getGeneration() + 1);
      assertThat(now.getStripe().getGroupId()).isEqualTo(old.getStripe().getGroupId());
      ErasureCode code = CodeRegistry.builtIn().byName(name);
      Map<Integer, Long> ids = blockIds(old.getStripe());
      Set<Integer> replaced = new TreeSet<>();
      blockIds(now.getStripe())
          .forEach(
              (position, id) -> {
                if (!ids.get(position).equals(id)) {
                  replaced.add(position);
                }
              });
      int dead =
          old.getStripe().getMembersList().stream()
              .filter(StripeMemberProto::getTombstone)
              .findFirst()
              .orElseThrow()
              .getPosition();
      Set<Integer> covering = new TreeSet<>();
      for (int p = code.dataCount(); p < code.size(); p++) {
        if (code.generator().get(p, dead) != 0) {
          covering.add(p);
        }
      }
      assertThat(replaced).as("only parities that covered the block").isEqualTo(covering);
    }
    for (TransitionRow row : subtractions()) {
      assertThat(row.getBlocksRead() + row.getBlocksWritten()).isEqualTo(7);
    }
  }

  private List<TransitionRow> subtractions() throws Exception {
    return cluster.transitions().stream()
        .filter(t -> t.getKind() == TransitionKindProto.SUBTRACT)
        .toList();
  }

  /** Versions without SUBTRACT cannot parse its row, so they are to refuse the store. */
  @Test
  void theFirstSubtractionRaisesTheFormatOfTheStore() throws Exception {
    encode(Codes.RS_COMPACT, 1, true);
    delete(2);
    assertThat(format()).isEmpty();
    propose(TransitionKindProto.SUBTRACT, Codes.RS_COMPACT, cluster.stripeIds());
    assertThat(format()).contains("3");
  }

  private Optional<String> format() throws IOException {
    Key key = Tables.named("storeFormat");
    return cluster.store.transact(
        key.partition(), t -> t.get(Tables.SETTING, key).map(SettingRow::getValue));
  }

  @Test
  void theDataThatIsLeftSurvivesWhatTheCodeTolerates() throws Exception {
    encode(Codes.RS_COMPACT, 1, true);
    delete(2);
    propose(TransitionKindProto.SUBTRACT, Codes.RS_COMPACT, cluster.stripeIds());
    cluster.runAll();
    for (int i = 0; i < 3; i++) {
      cluster.servers.failDisk(cluster.live(cluster.fileIds().get(i), 0).get(0));
    }
    cluster.assertAllReadable();
    cluster.runAll();
    whole();
  }

  @Test
  void aDeletionDuringASubtractionRefusesItsCommitAndTheNextAttemptFreesBoth() throws Exception {
    encode(Codes.LRC_COMPACT, 1, true);
    delete(1);
    propose(TransitionKindProto.SUBTRACT, Codes.LRC_COMPACT, cluster.stripeIds());
    ClaimedTransitionProto claimed = cluster.claim(1).get(0);
    var results = cluster.run(claimed);
    cluster.deleteFile(cluster.fileIds().get(3));
    assertThat(cluster.commit(claimed, results).getRefusal()).contains("changed while");
    cluster.assertAllReadable();
    cluster.assertSpaceAccounted();
    cluster.runAll();
    assertThat(cluster.stripeList()).singleElement().matches(s -> s.getDeadBytes() == 0);
    assertThat(subtractions()).singleElement().matches(t -> t.getAttempt() == 2);
    whole();
  }

  @Test
  void aCommitThatIsSentAgainChangesNothing() throws Exception {
    encode(Codes.PC_COMPACT, 1, true);
    delete(2);
    propose(TransitionKindProto.SUBTRACT, Codes.PC_COMPACT, cluster.stripeIds());
    ClaimedTransitionProto claimed = cluster.claim(1).get(0);
    var results = cluster.run(claimed);
    assertThat(cluster.commit(claimed, results).getCommitted()).isTrue();
    List<StripeStatusProto> after = cluster.stripeList();
    assertThat(cluster.commit(claimed, results).getCommitted()).isTrue();
    assertThat(cluster.stripeList()).isEqualTo(after);
    whole();
  }

  @Test
  void newParitiesGoElsewhereIfTheDisksOfTheOldOnesAreFull() throws Exception {
    encode(Codes.LRC_COMPACT, 1, true);
    delete(1);
    Map<Integer, String> before = parityDisks();
    cluster.servers.full.addAll(before.values());
    propose(TransitionKindProto.SUBTRACT, Codes.LRC_COMPACT, cluster.stripeIds());
    cluster.runAll();
    assertThat(subtractions()).allMatch(t -> t.getState() == TransitionStateProto.DONE);
    Map<Integer, String> after = parityDisks();
    assertThat(after.keySet()).isEqualTo(before.keySet());
    assertThat(after).isNotEqualTo(before);
    whole();
  }

  @Test
  void newParitiesGoElsewhereIfAServerOfTheOldOnesIsDrained() throws Exception {
    encode(Codes.LRC_COMPACT, 1, true);
    delete(1);
    String server = cluster.servers.serverOf(parityDisks().values().iterator().next());
    cluster.servers.startDrain(server);
    propose(TransitionKindProto.SUBTRACT, Codes.LRC_COMPACT, cluster.stripeIds());
    cluster.runAll();
    assertThat(subtractions()).allMatch(t -> t.getState() == TransitionStateProto.DONE);
    assertThat(parityDisks().values())
        .isNotEmpty()
        .noneMatch(disk -> cluster.servers.serverOf(disk).equals(server));
    whole();
  }

  /**
   * Fifteen blocks on four servers: one server has four of them, one more than RS(12,3) may lose.
   */
  @Test
  void aSubtractionThatItsCommitWouldRefuseIsNotBegun() throws Exception {
    CodingCluster small = new CodingCluster(5, 9, 9);
    for (int i = 0; i < 12; i++) {
      files.add(small.createFile(1, BLOCK, true));
    }
    small.propose(TransitionKindProto.ENCODE, Codes.RS_COMPACT, files, List.of());
    small.runAll();
    small.servers.kill(small.servers.servers().get(0));
    small.runAll();
    small.deleteFile(files.get(0));
    small.propose(TransitionKindProto.SUBTRACT, Codes.RS_COMPACT, List.of(), small.stripeIds());
    assertThat(small.claim(1)).isEmpty();
    assertThat(small.active())
        .singleElement()
        .matches(t -> t.getFailure().contains("would not survive the loss of server"));
  }

  @Test
  void theGroupOfAStripeCountsTheNewParitiesOfItsOtherStripes() throws Exception {
    encode(Codes.PC_FAST, 3, true);
    delete(1);
    List<StripeRow> group =
        cluster.stripeList().stream().map(StripeStatusProto::getStripe).toList();
    cluster.servers.full.addAll(parityDisks().values());
    propose(TransitionKindProto.SUBTRACT, Codes.PC_FAST, List.of(group.get(0).getId()));
    TransitionRow claimed = cluster.claim(1).get(0).getTransition();
    MergeGroup seen =
        cluster.store.transact(
            0,
            transaction ->
                MergeGroup.read(
                    transaction,
                    cluster.codes,
                    cluster.servers,
                    StripeState.read(transaction, cluster.codes, cluster.servers, group.get(1))));
    assertThat(claimed.getOutputsList()).isNotEmpty();
    for (TransitionOutputProto output : claimed.getOutputsList()) {
      assertThat(seen.others().get(0).locations().get(output.getPosition()))
          .containsExactly(output.getStorageUuid());
    }
  }

  private Map<Integer, String> parityDisks() throws Exception {
    StripeRow row = cluster.stripeList().get(0).getStripe();
    Map<Integer, String> disks = new TreeMap<>();
    for (StripeMemberProto member : row.getMembersList()) {
      if (member.getPosition() >= Codes.byName(row.getCode()).dataCount()) {
        for (String disk : cluster.servers.disks()) {
          if (cluster.servers.on(disk).containsKey(member.getBlockId())) {
            disks.put(member.getPosition(), disk);
          }
        }
      }
    }
    return disks;
  }

  /** Six stripes, of each of which a sixth is dead, become five full stripes. */
  @ParameterizedTest
  @ValueSource(strings = {"LRC(12,2,2)", "LRC(12,6,2)", "PC(2x5)"})
  void aRewriteFillsNewStripesWithTheLiveBlocksOfAll(String name) throws Exception {
    ErasureCode code = Codes.byName(name);
    encode(name, 6, true);
    delete(code.dataCount() / 6);
    ProposedProto proposed = propose(TransitionKindProto.REWRITE, name, cluster.stripeIds());
    assertThat(proposed.getTransitionIdsList()).hasSize(1);
    cluster.runAll();
    whole();
    List<StripeStatusProto> after = cluster.stripeList();
    int live = cluster.fileIds().size();
    assertThat(after).hasSize((live + code.dataCount() - 1) / code.dataCount());
    assertThat(after).allMatch(s -> s.getDeadBytes() == 0);
    int together = cluster.codes.stripesPerGroup(code);
    for (StripeStatusProto stripe : after) {
      StripeRow row = stripe.getStripe();
      if (together > 1) {
        assertThat(row.getGroupSlot()).isLessThan(together);
        assertThat(row.getId()).isEqualTo(row.getGroupId() + row.getGroupSlot());
      }
    }
    if (cluster.codes.mergesInto(code).isPresent()) {
      assertMerge(cluster.codes.mergesInto(code).orElseThrow().name());
    }
  }

  /** The groups of a rewrite merge as those of an encoding do. */
  private void assertMerge(String compact) throws Exception {
    ProposedProto proposed = propose(TransitionKindProto.UPCODE, compact, cluster.stripeIds());
    assertThat(proposed.hasRefusal()).as(proposed.getRefusal()).isFalse();
    cluster.runAll();
    whole();
    assertThat(cluster.stripeList()).allMatch(s -> s.getStripe().getCode().equals(compact));
  }

  @Test
  void aRewriteThatFailsGoesOnWithHalfOfItsStripes() throws Exception {
    encode(Codes.RS_COMPACT, 5, true);
    delete(4);
    List<Long> stripes = cluster.stripeIds();
    propose(TransitionKindProto.REWRITE, Codes.RS_COMPACT, stripes);
    for (int left : List.of(3, 2, 1, 1)) {
      ClaimedTransitionProto claimed = cluster.claim(1).get(0);
      var results = cluster.run(claimed);
      cluster.deleteFile(ownerOfLast(stripes.get(0)));
      assertThat(cluster.commit(claimed, results).getCommitted()).isFalse();
      assertThat(cluster.active()).singleElement().matches(t -> t.getStripesCount() == left);
      assertThat(cluster.stripeList().stream().filter(s -> s.getStripe().hasTransitionId()))
          .hasSize(left);
      cluster.assertConsistent();
      cluster.assertAllReadable();
      cluster.advance(60_000);
    }
    propose(TransitionKindProto.REWRITE, Codes.RS_COMPACT, stripes.subList(1, 5));
    cluster.runAll();
    whole();
    assertThat(cluster.stripeList()).allMatch(s -> s.getDeadBytes() == 0);
    assertThat(cluster.active()).isEmpty();
  }

  private long ownerOfLast(long stripeId) throws Exception {
    return cluster.stripeList().stream()
        .map(StripeStatusProto::getStripe)
        .filter(stripe -> stripe.getId() == stripeId)
        .flatMap(stripe -> stripe.getMembersList().stream())
        .filter(member -> member.getOwnerId() != stripeId)
        .reduce((first, last) -> last)
        .orElseThrow()
        .getOwnerId();
  }

  @Test
  void whatCannotBeFreedIsRefusedWithTheReason() throws Exception {
    encode(Codes.RS_COMPACT, 1, true);
    List<Long> stripes = cluster.stripeIds();
    assertThat(propose(TransitionKindProto.SUBTRACT, Codes.RS_COMPACT, stripes).getRefusal())
        .contains("stripe " + stripes.get(0) + " has no deleted block");
    delete(1);
    assertThat(propose(TransitionKindProto.SUBTRACT, Codes.RS_FAST, stripes).getRefusal())
        .contains("is in RS(12,3), not in RS(6,3)");
    assertThat(propose(TransitionKindProto.SUBTRACT, Codes.RS_COMPACT, List.of()).getRefusal())
        .contains("names no stripe");
    assertThat(propose(TransitionKindProto.SUBTRACT, Codes.RS_COMPACT, List.of(7_777_777L)))
        .matches(p -> p.getRefusal().contains("stripe 7777777 does not exist"));
    List<Long> many = new ArrayList<>();
    for (long id = 1; id <= 17; id++) {
      many.add(id);
    }
    assertThat(propose(TransitionKindProto.REWRITE, Codes.RS_COMPACT, many).getRefusal())
        .contains("17 stripes", "send at most 16");
    propose(TransitionKindProto.SUBTRACT, Codes.RS_COMPACT, stripes);
    assertThat(propose(TransitionKindProto.REWRITE, Codes.RS_COMPACT, stripes).getRefusal())
        .contains("is in transition");
    cluster.runAll();
    cluster.deleteFile(cluster.fileIds().get(0));
    cluster.servers.failDisk(cluster.live(cluster.fileIds().get(0), 0).get(0));
    assertThat(propose(TransitionKindProto.SUBTRACT, Codes.RS_COMPACT, stripes).getRefusal())
        .contains("they are repaired first");
  }

  /** The file of a group names its stripe, so no transition may put another one in its place. */
  @Test
  void theStripeOfABlockGroupIsNeitherConvertedNorRewritten() throws Exception {
    encode("RS(6,3)", 1, true);
    long stripe = cluster.stripeIds().get(0);
    cluster.store.transact(
        stripe,
        transaction -> {
          Key key = Tables.stripe(stripe);
          StripeRow row = transaction.get(Tables.STRIPE, key).orElseThrow();
          transaction.put(Tables.STRIPE, key, row.toBuilder().setGroupFileId(77).build());
          return null;
        });
    Map<TransitionKindProto, String> asked =
        Map.of(
            TransitionKindProto.UPCODE, "RS(12,3)",
            TransitionKindProto.REWRITE, "RS(6,3)",
            TransitionKindProto.SUBTRACT, "RS(6,3)");
    for (Map.Entry<TransitionKindProto, String> one : asked.entrySet()) {
      ProposedProto answer = propose(one.getKey(), one.getValue(), List.of(stripe));
      assertThat(answer.getTransitionIdsCount()).isZero();
      assertThat(answer.toString()).contains("is a block group of file 77");
    }
  }
}
