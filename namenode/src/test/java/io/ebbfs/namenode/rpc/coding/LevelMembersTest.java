package io.ebbfs.namenode.rpc.coding;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.replicas.MemberMove;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.stripes.StripeState;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Members of stripes move to level disks, and no stripe is less safe for it. */
class LevelMembersTest {
  private static final int POSITION = 2;

  private CodingCluster cluster;

  @BeforeEach
  void start() throws Exception {
    cluster = new CodingCluster(12, 3, 17, CodingCluster.SETTINGS);
    for (int i = 0; i < 12; i++) {
      cluster.createFile(1, 64, true);
    }
    cluster.propose(TransitionKindProto.ENCODE, "RS(6,3)", cluster.fileIds(), List.of());
    cluster.runAll();
    assertThat(cluster.stripeIds()).isNotEmpty();
    assertThat(cluster.counter("placementViolations")).isZero();
  }

  private Map<Integer, List<String>> places(long stripeId) throws Exception {
    return cluster.store.transact(
        stripeId,
        t ->
            StripeState.read(
                    t,
                    cluster.codes,
                    cluster.servers,
                    t.get(Tables.STRIPE, Tables.stripe(stripeId)).orElseThrow())
                .locations());
  }

  private String place(long stripeId) throws Exception {
    return places(stripeId).get(POSITION).get(0);
  }

  private Set<String> holders(long stripeId) throws Exception {
    return places(stripeId).values().stream()
        .flatMap(List::stream)
        .map(cluster.servers::serverOf)
        .collect(Collectors.toSet());
  }

  /** A disk of a server that has a block of the stripe already, or of one that has none. */
  private String disk(long stripeId, boolean ofHolder) throws Exception {
    Set<String> holders = holders(stripeId);
    Set<String> taken = new HashSet<>();
    // Also those of the stripe with which it will merge.
    for (long other : cluster.stripeIds()) {
      places(other).values().forEach(taken::addAll);
    }
    return cluster.servers.liveServers().stream()
        .filter(server -> holders.contains(server.uuid()) == ofHolder)
        .filter(server -> !server.uuid().equals(serverOfPosition(stripeId)))
        .map(Server::disks)
        .flatMap(List::stream)
        .map(Disk::storageUuid)
        .filter(disk -> !taken.contains(disk))
        .findFirst()
        .orElseThrow();
  }

  private String serverOfPosition(long stripeId) {
    try {
      return cluster.servers.serverOf(place(stripeId));
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private boolean wish(long stripeId, String... targets) throws Exception {
    return cluster.stripes.level(
        new MemberMove(stripeId, POSITION, place(stripeId), List.of(targets)));
  }

  /** Whether the wish waits, or has become a transition that has not ended. */
  private boolean isPending(long stripeId) throws Exception {
    return cluster.stripes.awaitsLevel(stripeId)
        || cluster.store.transact(stripeId, t -> cluster.stripes.isLevelling(t, stripeId));
  }

  private List<TransitionRow> moves() throws Exception {
    return cluster.transitions().stream()
        .filter(t -> t.getKind() == TransitionKindProto.MOVE)
        .toList();
  }

  @Test
  void aMemberMovesToTheFirstDiskWhereItIsAsSafe() throws Exception {
    for (long stripeId : cluster.stripeIds()) {
      String safe = disk(stripeId, false);
      assertThat(isPending(stripeId)).isFalse();
      assertThat(wish(stripeId, disk(stripeId, true), safe)).isTrue();
      assertThat(isPending(stripeId)).as("the wish waits").isTrue();
      cluster.coding.tick();
      assertThat(isPending(stripeId)).as("the transition is planned").isTrue();
      cluster.runAll();
      assertThat(isPending(stripeId)).as("the transition has ended").isFalse();
      assertThat(place(stripeId)).isEqualTo(safe);
    }
    assertThat(moves())
        .hasSameSizeAs(cluster.stripeIds())
        .allMatch(t -> t.getState() == TransitionStateProto.DONE)
        .allMatch(t -> t.getReason().startsWith("levels disks: from "));
    cluster.coding.tick();
    assertThat(cluster.counter("placementViolations")).isZero();
    cluster.assertConsistent();
    cluster.assertNoOrphans();
    cluster.assertAllReadable();
  }

  @Test
  void noMemberGoesWhereItWouldBeLessSafe() throws Exception {
    long stripeId = cluster.stripeIds().get(0);
    String before = place(stripeId);
    String full = disk(stripeId, false);
    cluster.servers.full.add(full);
    assertThat(wish(stripeId, disk(stripeId, true), full, "unknown")).isTrue();
    cluster.coding.tick();
    assertThat(moves()).isEmpty();
    assertThat(isPending(stripeId)).as("the rebalance sees that the wish is refused").isFalse();
    assertThat(place(stripeId)).isEqualTo(before);
  }

  /** Else wishes would wait, and hold up replicas, for as long as a drain takes. */
  @Test
  void noWishIsTakenUpWhileAsManyStripesAreRePlacedAsMayBe() throws Exception {
    long stripeId = cluster.stripeIds().get(0);
    String target = disk(stripeId, false);
    cluster.stripes.takeLevelWishes(0); // as the scanner does then
    assertThat(wish(stripeId, target)).isFalse();
    assertThat(cluster.stripes.awaitsLevel(stripeId)).isFalse();
    cluster.coding.tick();
    assertThat(wish(stripeId, target)).isTrue();
  }

  @Test
  void aWishThatIsTakenBackHasNoEffect() throws Exception {
    long stripeId = cluster.stripeIds().get(0);
    assertThat(wish(stripeId, disk(stripeId, false))).isTrue();
    assertThat(cluster.stripes.withdrawLevel(stripeId)).isTrue();
    assertThat(isPending(stripeId)).isFalse();
    assertThat(cluster.stripes.withdrawLevel(stripeId)).isFalse();
    cluster.coding.tick();
    assertThat(moves()).isEmpty();
  }

  @Test
  void aDiskThatFillsBeforeTheClaimGetsNothing() throws Exception {
    long stripeId = cluster.stripeIds().get(0);
    String before = place(stripeId);
    String target = disk(stripeId, false);
    assertThat(wish(stripeId, target)).isTrue();
    cluster.coding.tick();
    assertThat(moves()).hasSize(1);
    cluster.servers.full.add(target);
    cluster.runAll();
    assertThat(moves()).noneMatch(t -> t.getState() == TransitionStateProto.DONE);
    assertThat(place(stripeId)).isEqualTo(before);
    cluster.assertConsistent();
    cluster.assertAllReadable();
  }

  @Test
  void aStripeHasOneWishAtATimeAndADamagedStripeIsRepairedFirst() throws Exception {
    long stripeId = cluster.stripeIds().get(0);
    String target = disk(stripeId, false);
    assertThat(wish(stripeId, target)).isTrue();
    assertThat(wish(stripeId, target)).isFalse();
    cluster.servers.kill(cluster.servers.serverOf(places(stripeId).get(0).get(0)));
    cluster.coding.tick();
    assertThat(moves()).isEmpty();
    cluster.runAll();
    cluster.assertAllReadable();
  }
}
