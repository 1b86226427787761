package io.ebbfs.namenode.rpc.coding;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.protocol.proto.ChunkProtos.CombineRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What has no place ends under a name that says what is missing, and can be proposed again. */
final class NamedEndsTest {
  private static final int BLOCK = 96;

  @Test
  void aDowncodeWithoutSpaceSaysHowManyBytesAreMissing() throws Exception {
    CodingCluster cluster = new CodingCluster(14, 6, 1);
    long file = cluster.createFile(30, BLOCK, true);
    cluster.propose(TransitionKindProto.ENCODE, Codes.PC_COMPACT, List.of(file), List.of());
    cluster.runAll();
    cluster.servers.capacityBytes = BLOCK - 1;
    TransitionRow row = ended(cluster, TransitionKindProto.DOWNCODE, Codes.PC_FAST, List.of());
    assertThat(row.getState()).isEqualTo(TransitionStateProto.NO_SPACE);
    // Empty disks lack one byte each; those with a block lack it and the space of another.
    assertThat(row.getFailure())
        .contains("84 of 84 disks", "less than the 96 bytes free", "delete data, or add disks");
    assertThat(row.getMissingBytes()).isPositive();
    assertThat(row.getClusterDisks()).isEqualTo(84);
    assertThat(cluster.counter("transitions.DOWNCODE.NO_SPACE")).isEqualTo(1);
    assertThat(cluster.active()).isEmpty();
    cluster.assertAllReadable();
    cluster.assertConsistent();

    cluster.servers.capacityBytes = 10 * BLOCK;
    cluster.propose(TransitionKindProto.DOWNCODE, Codes.PC_FAST, List.of(), cluster.stripeIds());
    assertThat(cluster.runAll()).isEqualTo(1);
    assertThat(cluster.stripeList()).allMatch(s -> s.getStripe().getCode().equals(Codes.PC_FAST));
    cluster.assertNoOrphans();
  }

  @Test
  void disksThatFillUpWhileTheyAreWrittenAreALackOfSpace() throws Exception {
    CodingCluster cluster = new CodingCluster(14, 6, 1);
    long file = cluster.createFile(30, BLOCK, true);
    cluster.propose(TransitionKindProto.ENCODE, Codes.PC_COMPACT, List.of(file), List.of());
    cluster.runAll();
    long id =
        cluster
            .propose(TransitionKindProto.DOWNCODE, Codes.PC_FAST, List.of(), cluster.stripeIds())
            .getTransitionIds(0);
    for (int attempt = 0; attempt < 20 && !cluster.active().isEmpty(); attempt++) {
      for (ClaimedTransitionProto claimed : cluster.claim(1)) {
        // In the first attempts, all outputs but the last are written.
        String last = lastDisk(claimed);
        boolean late = attempt < 2;
        cluster.servers.fillsUp = disk -> !late || disk.equals(last);
        cluster.execute(claimed);
      }
      cluster.assertAllReadable();
      cluster.advance(120_000);
    }
    TransitionRow row = cluster.transition(id);
    assertThat(row.getState()).isEqualTo(TransitionStateProto.NO_SPACE);
    assertThat(row.getAttempt()).isEqualTo(6);
    assertThat(row.getFailure())
        .contains("NO_SPACE: ", "filled up while blocks were written", "delete data, or add disks");
    assertThat(row.getMissingBytes()).isPositive();
    assertThat(row.getClusterDisks()).isEqualTo(84);
    assertThat(cluster.counter("transitions.DOWNCODE.NO_SPACE")).isEqualTo(1);
    cluster.assertConsistent();

    cluster.servers.fillsUp = disk -> false;
    cluster.propose(TransitionKindProto.DOWNCODE, Codes.PC_FAST, List.of(), cluster.stripeIds());
    assertThat(cluster.runAll()).isEqualTo(1);
    assertThat(cluster.stripeList()).allMatch(s -> s.getStripe().getCode().equals(Codes.PC_FAST));
    cluster.assertAllReadable();
    cluster.assertNoOrphans();
  }

  /** Where the last output goes. */
  private static String lastDisk(ClaimedTransitionProto claimed) {
    CombineRequestProto last = claimed.getSteps(claimed.getStepsCount() - 1).getCombine();
    return last.getTargets(last.getTargetsCount() - 1).getLocation().getStorageUuid();
  }

  @Test
  void aDiskThatFilledUpOnceIsNoLackOfSpace() throws Exception {
    CodingCluster cluster = new CodingCluster(14, 6, 1);
    long file = cluster.createFile(10, BLOCK, true);
    long id =
        cluster
            .propose(TransitionKindProto.ENCODE, Codes.PC_FAST, List.of(file), List.of())
            .getTransitionIds(0);
    cluster.servers.fillsUp = disk -> true;
    cluster.execute(cluster.claim(1).get(0));
    assertThat(cluster.transition(id).getState()).isEqualTo(TransitionStateProto.PLANNED);
    assertThat(cluster.transition(id).hasMissingBytes()).isFalse();
    cluster.servers.fillsUp = disk -> false;
    assertThat(cluster.runAll()).isEqualTo(1);
    assertThat(cluster.transition(id).getState()).isEqualTo(TransitionStateProto.DONE);
    cluster.assertNoOrphans();
  }

  @Test
  void anEncodingWithoutFailureDomainsSaysHowManyServersWouldDo() throws Exception {
    CodingCluster cluster = new CodingCluster(3, 8, 1);
    long file = cluster.createFile(12, BLOCK, true);
    TransitionRow row =
        ended(cluster, TransitionKindProto.ENCODE, Codes.LRC_COMPACT, List.of(file));
    assertThat(row.getState()).isEqualTo(TransitionStateProto.NO_DOMAINS);
    assertThat(row.getFailure()).contains("3 servers with 24 disks", "more, with 8 disks each");
    assertThat(row.getMissingBytes()).isZero();
    assertThat(row.getClusterServers()).isEqualTo(3);
    assertThat(cluster.block(file, 0).hasTransitionId()).isFalse();
    cluster.assertAllReadable();
    cluster.assertConsistent();
  }

  @Test
  void theRemedyOfMissingServersIsEnough() throws Exception {
    CodingCluster small = new CodingCluster(3, 8, 1);
    TransitionRow row =
        ended(
            small,
            TransitionKindProto.ENCODE,
            Codes.LRC_COMPACT,
            List.of(small.createFile(12, BLOCK, true)));
    String more = row.getFailure().replaceAll("(?s).*in service; (\\d+) more.*", "$1");
    CodingCluster larger = new CodingCluster(3 + Integer.parseInt(more), 8, 1);
    long file = larger.createFile(12, BLOCK, true);
    larger.propose(TransitionKindProto.ENCODE, Codes.LRC_COMPACT, List.of(file), List.of());
    assertThat(larger.runAll()).isEqualTo(1);
  }

  /** Proposed, and claimed until it has ended. */
  private static TransitionRow ended(
      CodingCluster cluster, TransitionKindProto kind, String toCode, List<Long> files)
      throws Exception {
    long id =
        cluster
            .propose(kind, toCode, files, files.isEmpty() ? cluster.stripeIds() : List.of())
            .getTransitionIds(0);
    for (int round = 0; round < 20 && !cluster.active().isEmpty(); round++) {
      assertThat(cluster.claim(1)).isEmpty();
      cluster.advance(120_000);
    }
    return cluster.transition(id);
  }
}
