package io.ebbfs.namenode.rpc.coding;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.protocol.proto.ChunkProtos.CombineResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.raid.executor.TransitionOutcome;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** Of two things that want one stripe at once, one wins; the other starts over or is dropped. */
final class OneStripeAtOnceTest {
  private static final int BLOCK = 64;

  private final long seed = Long.getLong("ebbfs.seed", 20_261_121L);
  private CodingCluster cluster;

  private void encoded(String code, int files) throws Exception {
    System.out.println("OneStripeAtOnceTest seed " + seed);
    cluster = new CodingCluster(14, 6, seed);
    int blocks = Codes.byName(code).dataCount();
    for (int i = 0; i < files; i++) {
      cluster.createFile(blocks / files, BLOCK, true);
    }
    cluster.propose(TransitionKindProto.ENCODE, code, cluster.fileIds(), List.of());
    cluster.runAll();
    assertThat(cluster.stripeIds()).isNotEmpty();
  }

  private void whole() throws Exception {
    cluster.advance(1_000_000);
    cluster.runAll();
    cluster.assertConsistent();
    cluster.assertAllReadable();
    cluster.assertNoOrphans();
    cluster.assertSpaceExact();
    assertThat(cluster.active()).isEmpty();
  }

  /** Runs all at the same moment, each in its thread. */
  private static <T> List<T> atOnce(List<Callable<T>> calls) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(calls.size());
    try {
      CyclicBarrier start = new CyclicBarrier(calls.size());
      List<Future<T>> futures = new ArrayList<>();
      for (Callable<T> call : calls) {
        futures.add(
            threads.submit(
                () -> {
                  start.await();
                  return call.call();
                }));
      }
      List<T> results = new ArrayList<>();
      for (Future<T> future : futures) {
        results.add(future.get());
      }
      return results;
    } finally {
      threads.shutdownNow();
    }
  }

  @RepeatedTest(5)
  void twoConversionsAreProposed() throws Exception {
    encoded(Codes.PC_COMPACT, 1);
    List<Long> stripes = cluster.stripeIds();
    Callable<Integer> propose =
        () ->
            cluster
                .propose(TransitionKindProto.DOWNCODE, Codes.PC_FAST, List.of(), stripes)
                .getTransitionIdsCount();
    assertThat(atOnce(List.of(propose, propose, propose))).containsExactlyInAnyOrder(1, 0, 0);
    whole();
  }

  @RepeatedTest(5)
  void severalWorkersClaim() throws Exception {
    encoded(Codes.RS_COMPACT, 1);
    cluster.propose(TransitionKindProto.DOWNCODE, Codes.RS_FAST, List.of(), cluster.stripeIds());
    Callable<List<ClaimedTransitionProto>> claim = () -> cluster.claim(4);
    List<List<ClaimedTransitionProto>> claimed = atOnce(List.of(claim, claim, claim));
    assertThat(claimed.stream().mapToInt(List::size).sum()).isEqualTo(1);
    whole();
  }

  /** Each raid-node claims under its own name, in its own thread, until nothing is left. */
  @RepeatedTest(3)
  void severalRaidNodesShareTheTransitions() throws Exception {
    cluster = new CodingCluster(14, 6, seed);
    for (int i = 0; i < 12; i++) {
      long file = cluster.createFile(6, BLOCK, true);
      cluster.propose(TransitionKindProto.ENCODE, Codes.RS_FAST, List.of(file), List.of());
    }
    int planned = cluster.active().size();
    assertThat(planned).isGreaterThan(3);
    List<Callable<List<Long>>> raidNodes = new ArrayList<>();
    for (String name : List.of("raid-a", "raid-b", "raid-c")) {
      raidNodes.add(() -> committedBy(name));
    }
    List<Long> committed = atOnce(raidNodes).stream().flatMap(List::stream).toList();
    assertThat(committed).hasSize(planned).doesNotHaveDuplicates();
    whole();
  }

  private List<Long> committedBy(String raidNode) throws Exception {
    List<Long> committed = new ArrayList<>();
    for (List<ClaimedTransitionProto> claimed = cluster.claim(raidNode, 1);
        !claimed.isEmpty();
        claimed = cluster.claim(raidNode, 1)) {
      assertThat(cluster.execute(raidNode, claimed.get(0)).result())
          .isEqualTo(TransitionOutcome.Result.COMMITTED);
      committed.add(claimed.get(0).getTransition().getId());
    }
    return committed;
  }

  @RepeatedTest(5)
  void anExpiredAttemptAndItsSuccessorCommit() throws Exception {
    encoded(Codes.LRC_COMPACT, 1);
    cluster.propose(TransitionKindProto.DOWNCODE, Codes.LRC_FAST, List.of(), cluster.stripeIds());
    ClaimedTransitionProto first = cluster.claim(1).get(0);
    List<CombineResponseProto> ofFirst = cluster.run(first);
    cluster.advance(CodingCluster.LEASE_MILLIS + 1);
    cluster.coding.tick();
    cluster.advance(60_000);
    ClaimedTransitionProto second = cluster.claim(1).get(0);
    List<CombineResponseProto> ofSecond = cluster.run(second);
    List<Boolean> committed =
        atOnce(
            List.of(
                () -> cluster.commit(first, ofFirst).getCommitted(),
                () -> cluster.commit(second, ofSecond).getCommitted()));
    assertThat(committed).containsExactly(false, true);
    whole();
  }

  @RepeatedTest(10)
  void aConversionIsCommittedWhileAFileIsDeleted() throws Exception {
    encoded(Codes.PC_COMPACT, 3);
    cluster.propose(TransitionKindProto.DOWNCODE, Codes.PC_FAST, List.of(), cluster.stripeIds());
    ClaimedTransitionProto claimed = cluster.claim(1).get(0);
    List<CombineResponseProto> results = cluster.run(claimed);
    long deleted = cluster.fileIds().get(1);
    atOnce(
        List.of(
            () -> cluster.commit(claimed, results).getCommitted(),
            () -> {
              cluster.deleteFile(deleted);
              return true;
            }));
    whole();
    assertThat(cluster.fileIds()).hasSize(2);
    assertThat(cluster.stripeList())
        .allMatch(stripe -> stripe.getStripe().getCode().equals(Codes.PC_FAST));
  }

  @RepeatedTest(5)
  void aConversionIsCommittedWhileALossIsFound() throws Exception {
    encoded(Codes.PC_COMPACT, 1);
    long file = cluster.fileIds().get(0);
    cluster.propose(TransitionKindProto.DOWNCODE, Codes.PC_FAST, List.of(), cluster.stripeIds());
    ClaimedTransitionProto claimed = cluster.claim(1).get(0);
    List<CombineResponseProto> results = cluster.run(claimed);
    cluster.servers.failDisk(cluster.live(file, 3).get(0));
    atOnce(
        List.of(
            () -> cluster.commit(claimed, results).getCommitted(),
            () -> {
              cluster.coding.tick();
              return true;
            }));
    whole();
    assertThat(cluster.counter("transitions.REPAIR.DONE")).isPositive();
    assertThat(cluster.stripeList()).allMatch(s -> s.getLostPositionsCount() == 0);
  }

  @Test
  void aMemberIsDeletedWhileItIsRepaired() throws Exception {
    encoded(Codes.LRC_FAST, 2);
    long file = cluster.fileIds().get(0);
    cluster.servers.failDisk(cluster.live(file, 0).get(0));
    cluster.coding.tick();
    ClaimedTransitionProto repair = cluster.claim(1).get(0);
    List<CombineResponseProto> results = cluster.run(repair);
    cluster.deleteFile(file);
    // Its parities cover the tombstone: it is as good as before.
    assertThat(cluster.commit(repair, results).getCommitted()).isTrue();
    whole();
  }

  @Test
  void allOfAStripeIsDeletedWhileItIsRepaired() throws Exception {
    encoded(Codes.RS_FAST, 1);
    long file = cluster.fileIds().get(0);
    cluster.servers.failDisk(cluster.live(file, 0).get(0));
    cluster.coding.tick();
    ClaimedTransitionProto repair = cluster.claim(1).get(0);
    List<CombineResponseProto> results = cluster.run(repair);
    cluster.deleteFile(file);
    assertThat(cluster.commit(repair, results).getCommitted()).isFalse();
    whole();
    assertThat(cluster.transition(repair.getTransition().getId()).getState())
        .isEqualTo(TransitionStateProto.DROPPED);
    assertThat(cluster.stripeIds()).isEmpty();
  }

  @Test
  void aRewriteAndAConversionNeverHoldTheSameStripe() throws Exception {
    encoded(Codes.PC_COMPACT, 3);
    List<Long> files = cluster.fileIds();
    cluster.deleteFile(files.get(0));
    cluster.deleteFile(files.get(1));
    cluster.coding.tick();
    assertThat(
            cluster
                .propose(
                    TransitionKindProto.DOWNCODE, Codes.PC_FAST, List.of(), cluster.stripeIds())
                .getRefusal())
        .contains("is in transition");
    Set<Long> held = new HashSet<>();
    for (ClaimedTransitionProto claimed : cluster.claim(8)) {
      claimed
          .getTransition()
          .getStripesList()
          .forEach(stripe -> assertThat(held.add(stripe.getStripeId())).isTrue());
    }
    whole();
  }
}
