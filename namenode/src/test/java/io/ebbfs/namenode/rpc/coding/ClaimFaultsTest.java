package io.ebbfs.namenode.rpc.coding;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A transition that cannot be planned fails by itself, and the others of its claim are given. */
class ClaimFaultsTest {
  private static final String CODE = "RS(6,3)";
  private static final long SEED = 22;

  private final CodingCluster cluster;

  ClaimFaultsTest() throws Exception {
    cluster = new CodingCluster(14, 6, SEED);
  }

  private List<Long> files() throws Exception {
    List<Long> files = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      files.add(cluster.createFile(64));
    }
    return files;
  }

  private long proposed(TransitionKindProto kind, String code, List<Long> files, List<Long> stripes)
      throws Exception {
    return cluster.propose(kind, code, files, stripes).getTransitionIds(0);
  }

  /** The first transition is claimed with three others, and fails after all attempts. */
  private void firstFailsAlone(long first, String reason) throws Exception {
    List<Long> others = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      others.add(proposed(TransitionKindProto.ENCODE, CODE, files(), List.of()));
    }
    List<ClaimedTransitionProto> claimed = cluster.claim(16);
    assertThat(claimed)
        .extracting(one -> one.getTransition().getId())
        .containsExactlyInAnyOrderElementsOf(others);
    for (ClaimedTransitionProto one : claimed) {
      assertThat(cluster.commit(one, cluster.run(one)).getCommitted()).isTrue();
    }
    for (int attempt = 0; attempt < CodingCluster.SETTINGS.maxAttempts(); attempt++) {
      cluster.advance(1_000_000);
      assertThat(cluster.claim(16)).isEmpty();
    }
    TransitionRow failed = cluster.transition(first);
    assertThat(failed.getState()).isEqualTo(TransitionStateProto.FAILED);
    assertThat(failed.getFailure()).contains(reason);
  }

  /** As after a user-defined code was taken out of the configuration. */
  @Test
  void aTransitionToAnUnknownCode() throws Exception {
    long first = proposed(TransitionKindProto.ENCODE, CODE, files(), List.of());
    cluster.store.transact(
        first,
        transaction -> {
          TransitionRow row =
              transaction.get(Tables.TRANSITION, Tables.transition(first)).orElseThrow();
          transaction.put(
              Tables.TRANSITION,
              Tables.transition(first),
              row.toBuilder().setToCode("OURS(4,2)").build());
          return null;
        });
    firstFailsAlone(first, "OURS(4,2)");
  }

  /** The row of the stripe lacks a parity, which a subtraction has to read. */
  @Test
  void aTransitionOfADamagedStripe() throws Exception {
    List<Long> files = files();
    proposed(TransitionKindProto.ENCODE, CODE, files, List.of());
    cluster.runAll();
    cluster.deleteFile(files.get(0));
    long damaged = cluster.stripeIds().get(0);
    long first = proposed(TransitionKindProto.SUBTRACT, CODE, List.of(), List.of(damaged));
    cluster.store.transact(
        damaged,
        transaction -> {
          StripeRow row = transaction.get(Tables.STRIPE, Tables.stripe(damaged)).orElseThrow();
          List<StripeMemberProto> members =
              row.getMembersList().stream().filter(member -> member.getPosition() != 7).toList();
          transaction.put(
              Tables.STRIPE,
              Tables.stripe(damaged),
              row.toBuilder().clearMembers().addAllMembers(members).build());
          return null;
        });
    firstFailsAlone(first, "its planning fails");
  }
}
