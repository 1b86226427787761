package io.ebbfs.namenode.rpc.coding;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The namenode plans few rewrites of mostly dead stripes at a time. */
class RewriteLimitTest {
  private static final String CODE = "RS(6,3)";
  private static final int STRIPES = 70;
  private static final int MOST = 64;
  private static final long SEED = 21;

  private final CodingCluster cluster;

  RewriteLimitTest() throws Exception {
    cluster = new CodingCluster(14, 6, SEED);
  }

  /** Stripes of different policies are rewritten apart. Four of six blocks are deleted. */
  private void mostlyDeadStripesOfManyPolicies() throws Exception {
    List<Long> files = new ArrayList<>();
    for (int i = 0; i < 6 * STRIPES; i++) {
      files.add(cluster.createFile(8));
    }
    cluster.propose(TransitionKindProto.ENCODE, CODE, files, List.of());
    cluster.runAll();
    List<StripeStatusProto> stripes = cluster.stripeList();
    assertThat(stripes).hasSize(STRIPES);
    for (StripeStatusProto stripe : stripes) {
      List<Long> owners =
          stripe.getStripe().getMembersList().stream()
              .filter(member -> member.getPosition() < 6)
              .map(StripeMemberProto::getOwnerId)
              .toList();
      for (long owner : owners.subList(0, 4)) {
        cluster.deleteFile(owner);
      }
    }
    for (long id : cluster.stripeIds()) {
      cluster.store.transact(
          id,
          transaction -> {
            transaction.put(
                Tables.STRIPE,
                Tables.stripe(id),
                transaction.get(Tables.STRIPE, Tables.stripe(id)).orElseThrow().toBuilder()
                    .setPolicy("policy " + id)
                    .build());
            return null;
          });
    }
  }

  private long rewrites() throws Exception {
    return cluster.active().stream()
        .filter(transition -> transition.getKind() == TransitionKindProto.REWRITE)
        .count();
  }

  @Test
  void soManyArePlannedAtATimeAndTheOthersFollow() throws Exception {
    mostlyDeadStripesOfManyPolicies();
    for (int tick = 0; tick < 3; tick++) {
      cluster.coding.tick();
      assertThat(rewrites()).as("tick %d", tick).isEqualTo(MOST);
    }
    assertThat(cluster.runAll()).isEqualTo(STRIPES);
    assertThat(cluster.stripeList()).allMatch(stripe -> stripe.getDeadBytes() == 0);
    cluster.assertConsistent();
    cluster.assertAllReadable();
  }
}
