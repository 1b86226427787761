package io.ebbfs.namenode.rpc.coding;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.namenode.tasks.lifecycle.TransitionSettings.Verification;
import io.ebbfs.protocol.proto.CodingProtos.CheckProto;
import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionBlockProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.raid.executor.TransitionOutcome;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is planted between reading and writing is caught, and nothing of it is ever published. */
final class VerificationTest {
  private static final int BLOCK = 96;

  enum Fault {
    FLIPPED_COEFFICIENT,
    CORRUPT_SOURCE,
    WRONG_BLOCK,
    /** A bit flips in an output in memory, before the server checks it. */
    FLIPPED_OUTPUT,
    /** A bit flips on the way from the checked memory to the disk. The disk's checksums fit it. */
    FLIPPED_ON_THE_WAY
  }

  private final long seed = Long.getLong("ebbfs.seed", 20_261_121L);
  private final Random random = new Random(seed);
  private CodingCluster cluster;

  static Stream<Arguments> cases() {
    List<String[]> codes =
        List.of(
            new String[] {Codes.PC_FAST, Codes.PC_COMPACT},
            new String[] {Codes.LRC_FAST, Codes.LRC_COMPACT},
            new String[] {Codes.RS_FAST, Codes.RS_COMPACT});
    return codes.stream()
        .flatMap(
            pair ->
                Stream.of(TransitionKindProto.values())
                    .filter(kind -> kind != TransitionKindProto.MOVE) // see MoveTest
                    .flatMap(
                        kind ->
                            Stream.of(Fault.values())
                                .map(f -> Arguments.of(kind, pair[0], pair[1], f))));
  }

  @ParameterizedTest
  @MethodSource("cases")
  void isCaught(TransitionKindProto kind, String fast, String compact, Fault fault)
      throws Exception {
    cluster = new CodingCluster(14, 6, seed);
    ClaimedTransitionProto claimed = claimed(kind, fast, compact);
    List<StripeStatusProto> before = cluster.stripeList();
    long committed = done(kind);
    boolean[] planted = new boolean[1];
    switch (fault) {
      case FLIPPED_OUTPUT -> cluster.servers.outputFault = outputs -> planted[0] = flip(outputs);
      case FLIPPED_ON_THE_WAY -> cluster.servers.diskFault = outputs -> planted[0] = flip(outputs);
      default ->
          cluster.servers.combineFault =
              (request, sources, coefficients) -> planted[0] |= plant(fault, sources, coefficients);
    }
    TransitionOutcome outcome = cluster.execute(claimed);
    assertThat(planted[0]).as("seed %d", seed).isTrue();
    assertThat(outcome.result())
        .as("seed %d: %s", seed, outcome)
        .isEqualTo(TransitionOutcome.Result.FAILED);
    assertThat(outcome.detail()).contains("check of ", " failed: ", "block");
    assertThat(cluster.counter("verificationsFailed." + kind)).isEqualTo(1);
    assertThat(done(kind)).isEqualTo(committed);
    TransitionRow row = cluster.transition(claimed.getTransition().getId());
    assertThat(row.getState()).isEqualTo(TransitionStateProto.PLANNED);
    assertThat(row.getFailure()).isEqualTo(outcome.detail());
    assertThat(cluster.stripeList()).usingRecursiveComparison().isEqualTo(before);
    if (kind != TransitionKindProto.REPAIR) {
      cluster.assertAllReadable();
    }

    cluster.servers.combineFault = (request, sources, coefficients) -> {};
    cluster.servers.outputFault = outputs -> {};
    cluster.servers.diskFault = outputs -> {};
    // To the block manager a rebuilt block or a copy that no commit has told of is corrupt: it
    // goes.
    claimed
        .getTransition()
        .getOutputsList()
        .forEach(o -> cluster.servers.on(o.getStorageUuid()).remove(o.getBlockId()));
    cluster.advance(120_000);
    ClaimedTransitionProto again = cluster.claim(1).get(0);
    assertThat(cluster.execute(again).result()).isEqualTo(TransitionOutcome.Result.COMMITTED);
    assertReadsAreCountedApart(kind, again);
    cluster.runAll();
    cluster.assertAllReadable();
    cluster.assertConsistent();
    cluster.assertNoOrphans();
  }

  /** The plan's reads stay the plan's; the checks' are their own figures. */
  private void assertReadsAreCountedApart(TransitionKindProto kind, ClaimedTransitionProto claimed)
      throws Exception {
    TransitionRow row = cluster.transition(claimed.getTransition().getId());
    int planned =
        claimed.getStepsList().stream().mapToInt(s -> s.getCombine().getSourcesCount()).sum();
    int decoded =
        claimed.getChecksList().stream()
            .filter(CheckProto::hasDecode)
            .mapToInt(c -> c.getDecode().getCombine().getSourcesCount())
            .sum();
    assertThat(row.getBlocksRead()).isEqualTo(planned);
    assertThat(row.getCheckBlocksRead()).isEqualTo(decoded);
    assertThat(row.getChecks()).isEqualTo(claimed.getChecksCount()).isPositive();
    assertThat(cluster.counter("verificationBlocksRead." + kind)).isEqualTo(decoded);
    assertThat(cluster.counter("verifications." + kind)).isEqualTo(row.getChecks());
    System.out.printf(
        "%s %s to %s: %d checks, the plan reads %d blocks, the checks %d%n",
        kind, row.getFromCode(), row.getToCode(), row.getChecks(), planned, decoded);
  }

  /** A transition of this kind, claimed; everything before it was committed without checks. */
  private ClaimedTransitionProto claimed(TransitionKindProto kind, String fast, String compact)
      throws Exception {
    int blocks = 2 * Codes.byName(compact).dataCount();
    long file = cluster.createFile(blocks / 2, BLOCK, true);
    long other = cluster.createFile(blocks / 2, BLOCK, true);
    boolean toCompact = kind == TransitionKindProto.DOWNCODE;
    String code = toCompact ? compact : fast;
    cluster.propose(TransitionKindProto.ENCODE, code, List.of(file, other), List.of());
    if (kind == TransitionKindProto.ENCODE) {
      return cluster.claim(1).get(0);
    }
    cluster.runAll();
    switch (kind) {
      case UPCODE -> cluster.propose(kind, compact, List.of(), cluster.stripeIds());
      case DOWNCODE -> cluster.propose(kind, fast, List.of(), cluster.stripeIds());
      case REPAIR -> {
        cluster.servers.failDisk(cluster.live(file, 0).get(0));
        cluster.coding.tick();
      }
      case SUBTRACT -> {
        deleteOf(compact, 1);
        cluster.propose(kind, compact, List.of(), cluster.stripeIds().subList(0, 1));
      }
      case RELEASE -> {
        deleteOf(compact, 1);
        cluster.propose(
            kind, compact, cluster.fileIds().subList(0, 3), cluster.stripeIds().subList(0, 1));
      }
      default -> {
        deleteOf(fast, 4);
        cluster.coding.tick();
      }
    }
    return cluster.claim(1).get(0);
  }

  /** Stripes of many small files, of which so many sixths are deleted. */
  private void deleteOf(String code, int sixths) throws Exception {
    for (long file : cluster.fileIds()) {
      cluster.deleteFile(file);
    }
    List<Long> files = new ArrayList<>();
    for (int i = 0; i < 2 * Codes.byName(code).dataCount(); i++) {
      files.add(cluster.createFile(1, BLOCK, true));
    }
    cluster.propose(TransitionKindProto.ENCODE, code, files, List.of());
    cluster.runAll();
    for (int i = 0; i < files.size(); i++) {
      if (i % 6 < sixths) {
        cluster.deleteFile(files.get(i));
      }
    }
  }

  private boolean flip(List<byte[]> outputs) {
    byte[] output = outputs.get(random.nextInt(outputs.size()));
    output[random.nextInt(output.length)] ^= (byte) (1 << random.nextInt(8));
    return true;
  }

  private long done(TransitionKindProto kind) throws Exception {
    return cluster.counter("transitions." + kind + ".DONE");
  }

  /** False if this combine has nothing where the fault would matter. */
  private boolean plant(Fault fault, List<byte[]> sources, byte[] coefficients) {
    int width = sources.size();
    return switch (fault) {
      case FLIPPED_COEFFICIENT -> {
        coefficients[random.nextInt(coefficients.length)] ^= (byte) (1 << random.nextInt(8));
        yield true;
      }
      case CORRUPT_SOURCE -> {
        int s = random.nextInt(width);
        byte[] slice = sources.get(s).clone();
        for (int i = slice.length / 2; i < slice.length; i++) {
          slice[i] ^= (byte) (1 + random.nextInt(255));
        }
        sources.set(s, slice);
        yield true;
      }
      case WRONG_BLOCK -> swap(sources, coefficients);
      default -> throw new IllegalArgumentException(fault + " is planted in outputs");
    };
  }

  private static boolean swap(List<byte[]> sources, byte[] coefficients) {
    int width = sources.size();
    for (int a = 0; a < width; a++) {
      for (int b = a + 1; b < width; b++) {
        for (int row = 0; row < coefficients.length; row += width) {
          if (coefficients[row + a] != coefficients[row + b]
              && !Arrays.equals(sources.get(a), sources.get(b))) {
            byte[] first = sources.set(a, sources.get(b));
            sources.set(b, first);
            return true;
          }
        }
      }
    }
    // A plain sum does not care for the order: another block stands in for the first.
    sources.set(0, sources.get(width - 1));
    return width > 1;
  }

  // ---- the replica that stays -------------------------------------------------------------------

  @ParameterizedTest
  @ValueSource(strings = {Codes.PC_FAST, Codes.LRC_COMPACT, Codes.RS_FAST})
  void noReplicaIsGivenUpForOneThatIsGone(String code) throws Exception {
    cluster = new CodingCluster(14, 6, seed);
    long file = cluster.createFile(Codes.byName(code).dataCount(), BLOCK, true);
    cluster.propose(TransitionKindProto.ENCODE, code, List.of(file), List.of());
    ClaimedTransitionProto claimed = cluster.claim(1).get(0);
    List<TransitionBlockProto> blocks = claimed.getTransition().getBlocksList();
    TransitionBlockProto lost = blocks.get(random.nextInt(blocks.size()));
    cluster.servers.on(lost.getKeepStorageUuid()).remove(lost.getBlockId());

    TransitionOutcome outcome = cluster.execute(claimed);

    assertThat(outcome.result())
        .as("seed %d: %s", seed, outcome)
        .isEqualTo(TransitionOutcome.Result.FAILED);
    assertThat(outcome.detail()).contains("no checksum of block " + lost.getBlockId());
    assertThat(cluster.live(file, lost.getOwnerIndex())).hasSizeGreaterThanOrEqualTo(2);
    cluster.advance(120_000);
    cluster.runAll();
    assertThat(cluster.stripeIds()).hasSize(1);
    cluster.assertAllReadable();
    cluster.assertNoOrphans();
  }

  // ---- settings ---------------------------------------------------------------------------------

  @Test
  void offAsksForNothingAndChecksumsReadNoData() throws Exception {
    for (Verification verification : Verification.values()) {
      cluster =
          new CodingCluster(14, 6, seed, CodingCluster.SETTINGS.with(0.5, verification, false));
      long file = cluster.createFile(12, BLOCK, true);
      cluster.propose(TransitionKindProto.ENCODE, Codes.LRC_FAST, List.of(file), List.of());
      List<CheckProto> checks = cluster.claim(1).get(0).getChecksList();
      switch (verification) {
        case ON, CHECKSUMS -> {
          assertThat(checks).filteredOn(CheckProto::hasCombined).hasSize(1);
          assertThat(checks).noneMatch(CheckProto::hasDecode).hasSizeGreaterThanOrEqualTo(7);
        }
        default -> assertThat(checks).isEmpty();
      }
    }
  }

  /**
   * Both rebuilt blocks are shorter than their siblings: the combine does not read its sources to
   * their ends, so their checksums do not say whether it has read them right. One plain sum covers
   * both blocks.
   */
  @Test
  void whatACombineCannotCheckIsDecodedAfterwards() throws Exception {
    for (Verification verification : List.of(Verification.ON, Verification.CHECKSUMS)) {
      cluster =
          new CodingCluster(14, 6, seed, CodingCluster.SETTINGS.with(0.5, verification, false));
      long shorter = cluster.createFile(2, BLOCK / 2, true);
      long file = cluster.createFile(4, BLOCK, true);
      cluster.propose(TransitionKindProto.ENCODE, Codes.RS_FAST, List.of(shorter, file), List.of());
      cluster.runAll();
      for (int index = 0; index < 2; index++) {
        cluster.servers.failDisk(cluster.live(shorter, index).get(0));
      }
      cluster.coding.tick();
      ClaimedTransitionProto claimed = cluster.claim(1).get(0);
      assertThat(claimed.getTransition().getKind()).isEqualTo(TransitionKindProto.REPAIR);
      long decodes = claimed.getChecksList().stream().filter(CheckProto::hasDecode).count();
      assertThat(decodes).isEqualTo(verification == Verification.ON ? 1 : 0);
      assertThat(cluster.execute(claimed).result()).isEqualTo(TransitionOutcome.Result.COMMITTED);
    }
  }

  // ---- versions ---------------------------------------------------------------------------------

  @Test
  void aChunkServerThatDoesNotKnowTheCheckPublishesNothing() throws Exception {
    cluster = new CodingCluster(14, 6, seed);
    cluster.servers.ignoresOutputChecks = true;
    long file = cluster.createFile(12, BLOCK, true);
    cluster.propose(TransitionKindProto.ENCODE, Codes.LRC_FAST, List.of(file), List.of());
    ClaimedTransitionProto claimed = cluster.claim(1).get(0);
    assertThat(cluster.commit(claimed, cluster.run(claimed)).getRefusal())
        .contains("0 of 1 combines", "give chunk servers and raid-nodes the namenode's version");
    TransitionOutcome outcome = cluster.execute(claimed);
    assertThat(outcome.result()).isEqualTo(TransitionOutcome.Result.FAILED);
    assertThat(outcome.detail()).contains("did not check its outputs", "namenode's version");
    assertThat(cluster.stripeIds()).isEmpty();
  }

  /** It takes a check that it does not know for a sum of the members. */
  @Test
  void aRaidNodeThatDoesNotKnowTheCheckPublishesNothing() throws Exception {
    cluster = new CodingCluster(14, 6, seed);
    long file = cluster.createFile(12, BLOCK, true);
    cluster.propose(TransitionKindProto.ENCODE, Codes.LRC_FAST, List.of(file), List.of());
    ClaimedTransitionProto claimed = cluster.claim(1).get(0);
    ClaimedTransitionProto.Builder unknown = claimed.toBuilder();
    unknown.getChecksBuilderList().forEach(CheckProto.Builder::clearCombined);
    TransitionOutcome outcome = cluster.execute(unknown.build());
    assertThat(outcome.result()).isEqualTo(TransitionOutcome.Result.FAILED);
    assertThat(outcome.detail()).contains("check of ", " failed: ");
    assertThat(cluster.stripeIds()).isEmpty();
  }

  @Test
  void aCommitWithoutItsChecksIsRefused() throws Exception {
    cluster = new CodingCluster(14, 6, seed);
    long file = cluster.createFile(10, BLOCK, true);
    cluster.propose(TransitionKindProto.ENCODE, Codes.PC_FAST, List.of(file), List.of());
    ClaimedTransitionProto claimed = cluster.claim(1).get(0);
    ClaimedTransitionProto fewer = claimed.toBuilder().removeChecks(0).build();
    var refused = cluster.commit(fewer, cluster.run(claimed));
    assertThat(refused.getCommitted()).isFalse();
    assertThat(refused.getRefusal()).contains("checks", "run all of them");
    assertThat(cluster.stripeIds()).isEmpty();
    assertThat(cluster.commit(claimed, cluster.run(claimed)).getCommitted()).isTrue();
  }
}
