package io.ebbfs.coding.packing;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The expected figures are computed by hand, from RS(6,3) and LRC(12,2,2) as their names say. */
class PackingCostTest {
  private static final ErasureCode RS = Codes.byName(Codes.RS_FAST);
  private static final Set<Integer> SIX = Set.of(0, 1, 2, 3, 4, 5);

  @Test
  void fullStripeOfEqualBlocksCostsItsCodeOnly() {
    assertThat(PackingCost.of(RS, SIX, 600, 0, 300)).isEqualTo(new PackingCost(600, 300, 0, 0, 0));
  }

  /** Blocks of 100, 100, 100, 100, 100 and 40: three parities of 100 instead of 90 each. */
  @Test
  void shortBlockIsPadding() {
    assertThat(PackingCost.of(RS, SIX, 540, 0, 300)).isEqualTo(new PackingCost(540, 270, 30, 0, 0));
  }

  /** Four of six blocks of 100: three parities, of which 200 bytes would be the share of 400. */
  @Test
  void emptyPositionsAreUnfilled() {
    assertThat(PackingCost.of(RS, Set.of(0, 1, 2, 3), 400, 0, 300))
        .isEqualTo(new PackingCost(400, 200, 0, 100, 0));
  }

  /** One of six blocks of 100 was deleted: its 100 bytes and its 50 of the parities are dead. */
  @Test
  void tombstoneKeepsItsShareOfTheParities() {
    PackingCost cost = PackingCost.of(RS, SIX, 500, 100, 300);
    assertThat(cost).isEqualTo(new PackingCost(500, 250, 0, 0, 150));
    assertThat(cost.perLiveByte(cost.deadBytes())).isEqualTo(0.3);
  }

  /**
   * 100, 100, 60 and a deleted 40 under three parities of 100. Equal blocks of 75 would need 225;
   * full stripes 150 for all of it and 130 for what lives.
   */
  @Test
  void allAtOnce() {
    PackingCost cost = PackingCost.of(RS, Set.of(0, 1, 2, 3), 260, 40, 300);
    assertThat(cost).isEqualTo(new PackingCost(260, 130, 75, 75, 60));
    assertThat(cost.moreBytes()).isEqualTo(210);
    assertThat(cost.storedBytes()).isEqualTo(260 + 40 + 300);
  }

  /** Two blocks of 60 in the first local group: its parity and the two global ones, not four. */
  @Test
  void parityOfVirtualZerosIsNotThere() {
    ErasureCode lrc = Codes.byName(Codes.LRC_COMPACT);
    assertThat(PackingCost.of(lrc, Set.of(0, 1), 120, 0, 180))
        .isEqualTo(new PackingCost(120, 40, 0, 140, 0));
  }

  @Test
  void onlyTombstonesOrNothingAtAll() {
    PackingCost dead = PackingCost.of(RS, Set.of(0), 0, 100, 300);
    assertThat(dead).isEqualTo(new PackingCost(0, 0, 0, 250, 150));
    assertThat(dead.perLiveByte(dead.deadBytes())).isZero();
    assertThat(PackingCost.of(RS, Set.of(), 0, 0, 0)).isEqualTo(PackingCost.NONE);
  }

  @Test
  void addsUpToWhatIsStored() {
    long seed = Long.getLong("ebbfs.seed", 20_261_121L);
    Random random = new Random(seed);
    PackingCost sum = PackingCost.NONE;
    long stored = 0;
    for (ErasureCode code : Codes.builtIn()) {
      for (int round = 0; round < 200; round++) {
        Map<Integer, Long> lengths = new TreeMap<>();
        for (int i = random.nextInt(code.dataCount()); i >= 0; i--) {
          lengths.put(random.nextInt(code.dataCount()), 1 + random.nextLong(1L << 40));
        }
        long dead = random.nextBoolean() ? 0 : lengths.values().iterator().next();
        long live = lengths.values().stream().mapToLong(Long::longValue).sum() - dead;
        long parity = 0;
        for (int p = code.dataCount(); p < code.size(); p++) {
          parity += code.lengthBytes(p, d -> lengths.getOrDefault(d, 0L));
        }
        PackingCost cost = PackingCost.of(code, lengths.keySet(), live, dead, parity);
        assertThat(cost.storedBytes())
            .as("seed %d, %s, %s", seed, code, lengths)
            .isEqualTo(live + dead + parity);
        assertThat(cost.unfilledBytes()).as("seed %d, %s", seed, code).isNotNegative();
        sum = sum.plus(cost);
        stored += live + dead + parity;
      }
    }
    assertThat(sum.storedBytes()).as("seed %d", seed).isEqualTo(stored);
  }
}
