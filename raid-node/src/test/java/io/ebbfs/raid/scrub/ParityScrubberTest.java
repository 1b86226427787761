package io.ebbfs.raid.scrub;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.protocol.proto.ChunkProtos.BlockHealthProto;
import io.ebbfs.protocol.proto.CodingProtos.ScrubFindingProto;
import io.ebbfs.raid.FakeNamenode;
import io.ebbfs.raid.FakeStripes;
import io.ebbfs.raid.config.ScrubConfig;
import io.ebbfs.raid.executor.Throttle;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class ParityScrubberTest {
  private static final long PERIOD = 1_000;

  private final long seed = Long.getLong("seed", new Random().nextLong());
  private final Random random = new Random(seed);
  private final FakeStripes stripes = new FakeStripes();
  private final FakeNamenode namenode = new FakeNamenode();
  private long now = 5_000;

  private final Clock clock =
      new Clock() {
        @Override
        public ZoneId getZone() {
          return ZoneId.of("UTC");
        }

        @Override
        public Clock withZone(ZoneId zone) {
          return this;
        }

        @Override
        public Instant instant() {
          return Instant.ofEpochMilli(now);
        }
      };

  @BeforeEach
  void serve() {
    namenode.stripes = stripes;
    System.out.println("seed " + seed);
  }

  private ParityScrubber scrub(double decodeShare) {
    Throttle free = new Throttle(0, () -> 0, millis -> {});
    return new ParityScrubber(
        new ScrubConfig(PERIOD, 1, decodeShare),
        CodeRegistry.builtIn(),
        () -> namenode,
        stripes,
        free,
        free,
        clock);
  }

  /** Runs the next pass. */
  private void pass(ParityScrubber scrub) throws Exception {
    now += PERIOD;
    finish(scrub);
  }

  private void finish(ParityScrubber scrub) throws Exception {
    while (scrub.step() == 0) {
      now++;
    }
  }

  private void spoil(long block) {
    byte[] bytes = stripes.bytes.get(block);
    bytes[random.nextInt(bytes.length)] ^= 0x10;
  }

  @Test
  void aPassSeesEveryStripeOnceAndRestsUntilTheNextIsDue() throws Exception {
    for (int i = 1; i <= 70; i++) {
      stripes.add(i, i % 2 == 0 ? "PC(2x5)" : "LRC(12,2,2)", random);
    }
    ParityScrubber scrub = scrub(0);
    pass(scrub);
    assertThat(stripes.pages).isEqualTo(3);
    assertThat(stripes.findings()).isEmpty();
    assertThat(stripes.counters).containsEntry("stripes", 70L).containsEntry("passes", 1L);
    assertThat(stripes.counters.keySet()).doesNotContain("dataBytes", "uncheckedEquations");
    assertThat(stripes.status.getEndedStripes()).isEqualTo(70);
    assertThat(stripes.status.getPass()).isEqualTo(1);
    assertThat(scrub.step()).isBetween(1L, PERIOD);
    assertThat(stripes.pages).isEqualTo(3);
    pass(scrub);
    assertThat(stripes.counters).containsEntry("stripes", 140L);
    assertThat(stripes.status.getPass()).isEqualTo(2);
  }

  @Test
  void aPassThatWasAskedForBeginsAtOnceAndOnce() throws Exception {
    stripes.add(1, "PC(2x5)", random);
    ParityScrubber scrub = scrub(0);
    pass(scrub);
    assertThat(scrub.step()).isPositive();
    stripes.status = stripes.status.toBuilder().setRequestedPass(2).build();
    finish(scrub);
    assertThat(stripes.status.getPass()).isEqualTo(2);
    assertThat(stripes.counters).containsEntry("stripes", 2L);
    assertThat(scrub.step()).isPositive();
    assertThat(stripes.status.getPass()).isEqualTo(2);
  }

  @Test
  void anotherProcessGoesOnWhereTheFirstStood() throws Exception {
    for (int i = 1; i <= 70; i++) {
      stripes.add(i, "PC(2x5)", random);
    }
    assertThat(scrub(0).step()).isZero();
    assertThat(stripes.status.getPassStripes()).isEqualTo(32);
    finish(scrub(0));
    assertThat(stripes.counters).containsEntry("stripes", 70L).containsEntry("passes", 1L);
  }

  @Test
  void aParityThatIsWrongIsToldWithItsGeneration() throws Exception {
    stripes.add(7, "PC(2x5)", random);
    stripes.add(8, "PC(2x5)", random);
    int global = 17;
    spoil(700 + global);
    pass(scrub(0));
    assertThat(stripes.findings()).hasSize(1);
    ScrubFindingProto finding = stripes.findings().get(0);
    assertThat(finding.getStripeId()).isEqualTo(7);
    assertThat(finding.getGeneration()).isEqualTo(1);
    assertThat(finding.getBad().getBlock().getBlockId()).isEqualTo(700 + global);
    assertThat(finding.getBad().getReason()).contains("stripe 7");
    assertThat(stripes.counters).containsEntry("wrongParities", 1L);
    assertThat(stripes.status.getEndedFindings()).isEqualTo(1);
    assertThat(stripes.status.getSuspectsList()).isEmpty();
  }

  @Test
  void dataIsNeverTold() throws Exception {
    stripes.add(7, "PC(2x5)", random);
    stripes.add(8, "LRC(12,2,2)", random);
    stripes.add(9, "RS(6,3)", random);
    ParityScrubber scrub = scrub(1);
    byte[] right = stripes.bytes.get(700L).clone();
    spoil(700);
    spoil(800);
    spoil(900);
    pass(scrub);
    pass(scrub);
    assertThat(stripes.findings()).isEmpty();
    assertThat(stripes.counters).containsEntry("suspectStripes", 3L);
    assertThat(stripes.status.getSuspectsList()).hasSize(3);
    assertThat(stripes.status.getSuspects(0).getPositionsList()).containsExactly(0);
    // A stripe that was repaired or deleted is no longer a suspect.
    stripes.bytes.put(700L, right);
    stripes.stripes.remove(8L);
    pass(scrub);
    assertThat(stripes.status.getSuspectsList())
        .singleElement()
        .satisfies(s -> assertThat(s.getStripeId()).isEqualTo(9));
  }

  /** The local parity fails. Only the global parities can tell that the data is right. */
  @Test
  void aLocalParityIsTakenForWrongAfterTheGlobalsAreLookedAt() throws Exception {
    stripes.add(8, "LRC(12,2,2)", random);
    spoil(812);
    pass(scrub(0));
    assertThat(stripes.combines).isPositive();
    assertThat(stripes.findings())
        .singleElement()
        .satisfies(f -> assertThat(f.getBad().getBlock().getBlockId()).isEqualTo(812));
  }

  @Test
  void otherParitiesHaveTheirTurn() throws Exception {
    for (int i = 1; i <= 8; i++) {
      stripes.add(i, "RS(6,3)", random);
    }
    spoil(308);
    ParityScrubber scrub = scrub(0.25);
    pass(scrub);
    assertThat(stripes.combines).isBetween(2, 4);
    for (int i = 0; i < 3; i++) {
      pass(scrub);
    }
    assertThat(stripes.findings())
        .singleElement()
        .satisfies(f -> assertThat(f.getBad().getBlock().getBlockId()).isEqualTo(308));
    assertThat(stripes.combines).isEqualTo(9);
  }

  @Test
  void whatChangesMeanwhileIsForgotten() throws Exception {
    stripes.add(7, "PC(2x5)", random);
    spoil(710);
    stripes.beforeSecondLook = () -> stripes.raiseGeneration(7);
    ParityScrubber scrub = scrub(0);
    pass(scrub);
    assertThat(stripes.findings()).isEmpty();
    assertThat(stripes.counters).containsEntry("changedMeanwhile", 1L);
    stripes.beforeSecondLook = () -> stripes.stripes.remove(7L);
    pass(scrub);
    assertThat(stripes.findings()).isEmpty();
  }

  @Test
  void aMemberThatItsServerFindsBadIsToldAndTheRestJudgedWithoutIt() throws Exception {
    stripes.add(7, "PC(2x5)", random);
    stripes.bad.put(700L, BlockHealthProto.BLOCK_CORRUPT);
    stripes.bytes.put(711L, new byte[1]);
    pass(scrub(0));
    assertThat(stripes.findings())
        .extracting(f -> f.getBad().getBlock().getBlockId())
        .containsExactlyInAnyOrder(700L, 711L);
    assertThat(stripes.counters).containsEntry("badMembers", 2L).containsKey("uncheckedEquations");
  }

  @Test
  void aMemberOfWhichItsServerCannotTellIsNotBad() throws Exception {
    stripes.add(7, "PC(2x5)", random);
    stripes.bad.put(700L, BlockHealthProto.BLOCK_UNKNOWN);
    pass(scrub(0));
    assertThat(stripes.findings()).isEmpty();
    assertThat(stripes.counters).containsKey("uncheckedEquations");
  }

  @Test
  void serversThatAreDownMakeNothingBad() throws Exception {
    stripes.addFull(7, "PC(2x5)", random);
    spoil(717);
    for (int server = 0; server < 5; server++) {
      stripes.down.add(server);
    }
    pass(scrub(0));
    assertThat(stripes.findings()).isEmpty();
    assertThat(stripes.counters).containsEntry("uncheckedEquations", 8L);
  }
}
