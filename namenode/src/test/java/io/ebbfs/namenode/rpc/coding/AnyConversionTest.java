package io.ebbfs.namenode.rpc.coding;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.protocol.proto.CodingProtos.ProposedProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Whatever the planner can convert, the namenode does, there and back, with blocks of any length
 * and stripes that are not full; each conversion passes its checks.
 */
final class AnyConversionTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "PC(2x5); PC(6x5)",
        "PC(2x5); PC(4x5)",
        "PC(2x3); PC(4x3)",
        "PC(3x4); PC(6x4)",
        "LRC(12,6,2); LRC(12,2,2)",
        "LRC(12,6,2); LRC(12,3,2)",
        "RS(6,3); RS(12,3)",
        "RS(4,2); RS(12,2)",
        "RS(10,4); RS(30,4)",
        "RS-LRC(6,1,2); RS-LRC(12,2,2)",
        "RS(6,3); LRC(12,2,2)",
        "PC(2x5); RS(10,4)",
        "LRC(12,6,2); RS(12,3)",
        "XOR(2,1); XOR(4,1)"
      })
  void thereAndBack(String one, String other) throws Exception {
    int converted = 0;
    for (int round = 0; round < 4; round++) {
      long seed = Long.getLong("ebbfs.seed", 20_261_121L) + round;
      try {
        converted += thereAndBack(Codes.byName(one), Codes.byName(other), seed);
      } catch (Exception | AssertionError e) {
        throw new AssertionError("seed %d: %s".formatted(seed, e.getMessage()), e);
      }
    }
    assertThat(converted).as("%s and %s", one, other).isPositive();
  }

  /** How many conversions were committed. */
  private static int thereAndBack(ErasureCode fast, ErasureCode compact, long seed)
      throws Exception {
    Random random = new Random(seed);
    CodingCluster cluster = new CodingCluster(14, 6, seed);
    int full = Math.max(fast.dataCount(), compact.dataCount());
    int blocks = full / 2 + 1 + random.nextInt(full);
    while (blocks > 0) {
      int some = 1 + random.nextInt(blocks);
      cluster.createFile(some, 60, random.nextBoolean());
      blocks -= some;
    }
    // The blocks that are too short for the others may stay out of the stripes.
    cluster.propose(TransitionKindProto.ENCODE, fast.name(), cluster.fileIds(), List.of());
    cluster.runAll();
    int there = convert(cluster, TransitionKindProto.UPCODE, compact);
    if (random.nextBoolean()) {
      cluster.deleteFile(cluster.fileIds().get(0));
    }
    int back = convert(cluster, TransitionKindProto.DOWNCODE, fast);
    cluster.assertNoOrphans();
    return there + back;
  }

  private static int convert(CodingCluster cluster, TransitionKindProto kind, ErasureCode to)
      throws Exception {
    ProposedProto proposed = cluster.propose(kind, to.name(), List.of(), cluster.stripeIds());
    assertThat(cluster.runAll()).isBetween(0, 100);
    cluster.assertConsistent();
    cluster.assertAllReadable();
    int done = 0;
    for (long id : proposed.getTransitionIdsList()) {
      TransitionRow row = cluster.transition(id);
      if (row.getState() == TransitionStateProto.DONE) {
        done++;
        assertThat(row.getChecks()).isGreaterThanOrEqualTo(row.getOutputsCount() > 0 ? 1 : 0);
      } else {
        // Stripes of no group may lie so that they cannot become one.
        assertThat(row.getState()).isEqualTo(TransitionStateProto.NO_DOMAINS);
        assertThat(row.getFailure()).contains("would not survive the loss of server");
      }
    }
    return done;
  }

  @Test
  void whatCannotBeConvertedIsRefusedWithTheReason() throws Exception {
    CodingCluster cluster = new CodingCluster(14, 6, 1);
    long file = cluster.createFile(12, 60, true);
    cluster.propose(TransitionKindProto.ENCODE, Codes.RS_FAST, List.of(file), List.of());
    cluster.runAll();
    List<Long> stripes = cluster.stripeIds();
    assertThat(refusal(cluster, TransitionKindProto.UPCODE, "RS(10,4)", stripes))
        .contains("neither is a multiple");
    assertThat(refusal(cluster, TransitionKindProto.DOWNCODE, "RS(12,3)", stripes))
        .contains("it would store less; propose a conversion to compact (UPCODE)");
    assertThat(refusal(cluster, TransitionKindProto.UPCODE, Codes.RS_FAST, stripes))
        .contains("is in RS(6,3) already");
  }

  private static String refusal(
      CodingCluster cluster, TransitionKindProto kind, String to, List<Long> stripes)
      throws Exception {
    ProposedProto proposed = cluster.propose(kind, to, List.of(), stripes);
    assertThat(proposed.getTransitionIdsList()).isEmpty();
    return proposed.getRefusal();
  }

  @Test
  void stripesOfNoGroupAreMergedInTheOrderGiven() throws Exception {
    CodingCluster cluster = new CodingCluster(14, 6, 3);
    long file = cluster.createFile(12, 60, true);
    cluster.propose(TransitionKindProto.ENCODE, "RS(4,2)", List.of(file), List.of());
    assertThat(cluster.runAll()).isEqualTo(3);
    cluster.propose(TransitionKindProto.UPCODE, "RS(12,2)", List.of(), cluster.stripeIds());
    cluster.runAll();
    assertThat(cluster.stripeList())
        .extracting(StripeStatusProto::getStripe)
        .allSatisfy(stripe -> assertThat(stripe.getCode()).isIn("RS(12,2)", "RS(4,2)"));
    cluster.assertAllReadable();
    cluster.assertConsistent();
  }
}
