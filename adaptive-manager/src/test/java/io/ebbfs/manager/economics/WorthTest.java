package io.ebbfs.manager.economics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.ebbfs.coding.code.CodeRegistry;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class WorthTest {
  private static final PairCost PRODUCT = PairCost.of(CodeRegistry.builtIn().family("product"));
  private static final Worth USUAL = new Worth(PRODUCT, Prices.DEFAULT, Experience.NONE);

  /** The worked example of docs/policy.md. */
  @Test
  void weighsBothSidesInBlockMoves() {
    assertThat(USUAL.perRead()).isCloseTo(0.003 * 3 * 2, within(1e-9));
    assertThat(USUAL.perDay()).isCloseTo(0.1 * 0.4 - 0.003 * 3, within(1e-9));
    assertThat(USUAL.firstReads(30)).isCloseTo(78.5, within(0.05));
    assertThat(USUAL.first(78, 30).pays()).isFalse();
    assertThat(USUAL.first(79, 30).pays()).isTrue();
    assertThat(USUAL.firstReads(1)).isCloseTo(62.8, within(0.05));
    assertThat(USUAL.first(62, 1).pays()).isFalse();
    assertThat(USUAL.first(63, 1).pays()).isTrue();
    assertThat(USUAL.toFast(135, 0).pays()).isFalse();
    assertThat(USUAL.toFast(137, 0).pays()).isTrue();
    assertThat(USUAL.toFast(137, 0).costs()).isCloseTo(2.1333, within(1e-3));
    assertThat(USUAL.toCompact(0, 22).pays()).isFalse();
    assertThat(USUAL.toCompact(0, 23).pays()).isTrue();
  }

  /**
   * Replicas store 1.6 more than PC(6x5), and a read of an absent block copies one instead of 5.
   */
  @Test
  void dataStaysReplicatedWhileItIsReadOftenForItsAge() {
    double storage = 0.1 * 1.6 - 0.003 * (8.4 - 6);
    Worth.Sides sides = USUAL.stayReplicated(13, 2, 3);
    assertThat(sides.earns()).isCloseTo(13 * 0.003 * 4 * 2, within(1e-9));
    assertThat(sides.costs()).isCloseTo(2 * storage, within(1e-9));
    assertThat(sides.pays()).isTrue();
    assertThat(USUAL.stayReplicated(12, 2, 3).pays()).isFalse();
    assertThat(USUAL.stayReplicated(12, 2, 2).pays()).as("two replicas store less").isTrue();
    assertThat(USUAL.stayReplicated(0, 0.1, 3).pays()).isFalse();
    assertThat(USUAL.stayReplicated(65, 1_000, 3).pays()).as("the memory covers 10 days").isTrue();
  }

  /**
   * Who reads new data until it is encoded into the fast code, and then stops, makes the cluster
   * waste no more than the reads were worth that the replicas served.
   */
  @Test
  void newDataBecomesFastOnlyAfterReadsThatWereWorthIt() {
    long seed = Long.getLong("seed", new Random().nextLong());
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    for (int i = 0; i < 10_000; i++) {
      double age = random.nextDouble() * 100;
      Prices prices =
          new Prices(Math.exp(random.nextDouble() * 6 - 5), Math.exp(random.nextDouble() * 4 - 2));
      Worth worth = new Worth(PRODUCT, prices, Experience.NONE);
      double reads = Math.max(0, worth.firstReads(age));
      double waste = PRODUCT.extraStored() + PRODUCT.toCompact();
      double kept = Math.min(age, Experience.NONE.memoryDays());
      assertThat(worth.perRead() * reads - worth.perDay() * kept)
          .as("seed %d: age %s, %s", seed, age, prices)
          .isGreaterThanOrEqualTo(waste - 1e-9);
      assertThat(worth.first(reads + 1, age).pays()).isTrue();
      assertThat(reads > 1 && worth.first(reads - 1, age).pays()).isFalse();
    }
  }

  /** A wrong code costs a little each day; once that sum exceeds the conversion, it pays. */
  @Test
  void wasteAddsUpUntilItPaysForTheConversion() {
    double fourADay = 4 * Experience.NONE.memoryDays();
    assertThat(USUAL.toFast(fourADay, 50).pays()).isFalse();
    assertThat(USUAL.toFast(fourADay, 53).pays()).isTrue();
    assertThat(USUAL.toCompact(0.5, 24).pays()).as("opened now and then").isTrue();
  }

  @Test
  void fastDataYieldsOnlyToDataThatIsReadSoMuchMoreThatBothMovesPay() {
    assertThat(USUAL.swap(100, 50, 1, 0).pays()).isFalse();
    assertThat(USUAL.swap(200, 50, 1, 0).pays()).isTrue();
    assertThat(USUAL.swap(200, 50, 3, 0).pays()).isFalse();
    assertThat(USUAL.swap(100, 50, 1, 30).pays()).isTrue();
  }

  @Test
  void whereBlocksAreOftenLostTheFastCodeIsWorthItWithoutReads() {
    FailureRates often = FailureRates.PRIOR.plus(300, 60, 0);
    Worth worth =
        new Worth(
            PRODUCT,
            Prices.DEFAULT,
            new Experience(often, Experience.WEEK_MILLIS, 365, ReadCounts.NONE, Map.of()));
    assertThat(worth.toFast(0, 300).pays()).isTrue();
    assertThat(worth.toCompact(0, 300).pays()).isFalse();
  }

  /** That nobody has read data means little as long as nobody has counted. */
  @Test
  void nothingIsConvertedForReadsThatNobodyCounted() {
    Worth fresh = worth(0);
    assertThat(fresh.toCompact(0, 1_000).pays()).isFalse();
    assertThat(fresh.toFast(0, 1_000).pays()).isFalse();
    assertThat(fresh.first(0, 1).pays()).isFalse();
    assertThat(worth(22).toCompact(0, 1_000).pays()).isFalse();
    assertThat(worth(23).toCompact(0, 1_000).pays()).isTrue();
    assertThat(worth(1).toFast(1_000, 0).pays()).isTrue();
  }

  private static Worth worth(double countedDays) {
    return new Worth(
        PRODUCT,
        Prices.DEFAULT,
        new Experience(
            FailureRates.PRIOR, Experience.WEEK_MILLIS, countedDays, ReadCounts.NONE, Map.of()));
  }

  /** Whatever the prices and however long data has kept its code. */
  @Test
  void atMostOneDirectionPays() {
    long seed = 11;
    Random random = new Random(seed);
    for (int i = 0; i < 20_000; i++) {
      double reads = Math.exp(random.nextDouble() * 16 - 2);
      double days = random.nextDouble() * 1_000;
      Prices prices =
          new Prices(Math.exp(random.nextDouble() * 10 - 7), Math.exp(random.nextDouble() * 8 - 4));
      Worth worth =
          new Worth(
              PRODUCT,
              prices,
              new Experience(
                  FailureRates.PRIOR,
                  (long) (random.nextDouble() * 30 * Experience.DAY) + 1,
                  random.nextDouble() * 500,
                  ReadCounts.NONE,
                  Map.of()));
      assertThat(worth.toFast(reads, days).pays() && worth.toCompact(reads, days).pays())
          .as("seed %d: %s reads, %s days, %s", seed, reads, days, prices)
          .isFalse();
    }
  }
}
