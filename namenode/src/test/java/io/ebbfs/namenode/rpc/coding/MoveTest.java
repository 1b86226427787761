package io.ebbfs.namenode.rpc.coding;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.raid.executor.TransitionOutcome;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MoveTest {
  private static final int BLOCK = 64;

  /** Stripes on few servers, then the others join. */
  private static CodingCluster grown(String code, int servers, int atFirst, int blocks)
      throws Exception {
    CodingCluster cluster =
        new CodingCluster(servers, 12, 17, CodingCluster.SETTINGS.withRePlacement(true));
    List<String> later = cluster.servers.servers().subList(atFirst, servers);
    later.forEach(cluster.servers::kill);
    for (int i = 0; i < blocks; i++) {
      cluster.createFile(1, BLOCK, true);
    }
    cluster.propose(TransitionKindProto.ENCODE, code, cluster.fileIds(), List.of());
    cluster.runAll();
    assertThat(cluster.stripeIds()).isNotEmpty();
    later.forEach(cluster.servers::revive);
    cluster.coding.tick();
    assertThat(cluster.counter("placementViolations")).isPositive();
    return cluster;
  }

  private static List<TransitionRow> moves(CodingCluster cluster) throws Exception {
    return cluster.transitions().stream()
        .filter(t -> t.getKind() == TransitionKindProto.MOVE)
        .toList();
  }

  @ParameterizedTest
  @CsvSource({
    "'RS(6,3)', 5, 10, 36",
    "'LRC(12,2,2)', 6, 10, 48",
    "'PC(6x5)', 6, 12, 60",
    "'PC(2x5)', 4, 9, 60"
  })
  void violationsGoToZeroWhenServersJoin(String code, int atFirst, int servers, int blocks)
      throws Exception {
    CodingCluster cluster = grown(code, servers, atFirst, blocks);
    assertThat(cluster.counter("placementViolations")).isPositive();
    assertThat(cluster.counter("placementViolations.beingMended")).isBetween(1L, 8L);
    cluster.runAll();
    cluster.coding.tick();
    assertThat(cluster.counter("placementViolations")).as(moves(cluster).toString()).isZero();
    assertThat(cluster.counter("placementViolations.beingMended")).isZero();
    assertThat(moves(cluster)).isNotEmpty();
    assertThat(moves(cluster)).allMatch(t -> t.getState() == TransitionStateProto.DONE);
    cluster.assertConsistent();
    cluster.assertNoOrphans();
    cluster.assertAllReadable();
  }

  @Test
  void nothingMovesToDisksThatErr() throws Exception {
    CodingCluster cluster = grown("RS(6,3)", 10, 5, 36);
    List<String> erring =
        cluster.servers.disks().stream()
            .filter(disk -> cluster.servers.serverOf(disk).equals("server-09"))
            .toList();
    erring.forEach(disk -> cluster.servers.recentErrors.put(disk, 1.0));
    cluster.runAll();
    cluster.coding.tick();
    assertThat(cluster.counter("placementViolations")).as(moves(cluster).toString()).isZero();
    assertThat(erring).isNotEmpty().allMatch(disk -> cluster.servers.on(disk).isEmpty());
  }

  @Test
  void aMoveWhoseWorkerDiesIsMadeAgainAndLosesNothing() throws Exception {
    CodingCluster cluster = grown("RS(6,3)", 10, 5, 12);
    ClaimedTransitionProto claimed = cluster.claim(1).get(0);
    assertThat(claimed.getTransition().getKind()).isEqualTo(TransitionKindProto.MOVE);
    assertThat(claimed.getChecksList()).hasSize(claimed.getTransition().getOutputsCount());
    cluster.run(claimed);
    cluster.fail(claimed, "the worker died");
    cluster.assertAllReadable();
    cluster.runAll();
    cluster.coding.tick();
    assertThat(cluster.counter("placementViolations")).isZero();
    cluster.assertConsistent();
    cluster.assertAllReadable();
  }

  @Test
  void aWrongCopyIsNotPublished() throws Exception {
    CodingCluster cluster = grown("RS(6,3)", 10, 5, 12);
    ClaimedTransitionProto claimed = cluster.claim(1).get(0);
    cluster.servers.combineFault =
        (request, sources, coefficients) -> {
          byte[] slice = sources.get(0).clone();
          slice[slice.length / 2] ^= 1;
          sources.set(0, slice);
        };
    TransitionOutcome outcome = cluster.execute(claimed);
    assertThat(outcome.result()).isEqualTo(TransitionOutcome.Result.FAILED);
    assertThat(outcome.detail()).contains("check of the copy of ", " failed: ");
    assertThat(cluster.counter("verificationsFailed.MOVE")).isEqualTo(1);
    assertThat(cluster.counter("placementViolations")).isPositive();
    cluster.assertAllReadable();
  }

  @Test
  void aLostBlockIsRepairedBeforeOthersAreMoved() throws Exception {
    // Of stripes that will merge one at a time is mended: these are several groups.
    CodingCluster cluster = grown("RS(6,3)", 10, 5, 48);
    assertThat(moves(cluster)).isNotEmpty();
    cluster.servers.kill(cluster.servers.servers().get(0));
    cluster.runAll();
    assertThat(moves(cluster)).anyMatch(t -> t.getState() == TransitionStateProto.DROPPED);
    cluster.assertConsistent();
    cluster.assertAllReadable();
    assertThat(cluster.counter("placementViolations")).isZero();
  }
}
