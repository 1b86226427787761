package io.ebbfs.verify.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.namenode.placement.search.AnyTwoServers;
import io.ebbfs.verify.placement.PlacementSimulation.Result;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PlacementSimulationTest {
  private static final int DISK_BLOCKS = 40;
  private static final double FILL = 0.5;

  /** Code, servers, racks, and whether the compact stripe also survives the loss of any two. */
  @ParameterizedTest
  @CsvSource({
    "'PC(6x5)', 7, 1, true",
    "'PC(6x5)', 8, 1, true",
    "'PC(6x5)', 9, 1, true",
    "'PC(6x5)', 10, 5, true",
    "'PC(6x5)', 11, 1, true",
    "'PC(6x5)', 17, 5, true",
    "'PC(6x5)', 40, 8, true",
    "'PC(2x5)', 6, 1, false",
    "'PC(2x5)', 7, 1, true",
    "'PC(2x5)', 8, 1, true",
    "'PC(2x5)', 12, 4, true",
    "'PC(2x5)', 23, 6, true",
    "'LRC(12,2,2)', 9, 1, true",
    "'LRC(12,6,2)', 12, 1, true",
    "'RS(6,3)', 9, 1, false",
    "'RS(12,3)', 20, 5, true",
  })
  void tolerance(String name, int servers, int racks, boolean merged) {
    long seed = Long.getLong("ebbfs.seed", 20_261_121L);
    Result result =
        PlacementSimulation.run(Codes.byName(name), servers, racks, DISK_BLOCKS, FILL, seed);
    String as = "seed %d: %s".formatted(seed, result);
    assertThat(result.groupsLostWithServer()).as(as).isZero();
    assertThat(result.groupsLostWithRack()).as(as).isZero();
    assertThat(result.fatalPairs()).as(as).isZero();
    if (merged) {
      assertThat(result.fatalPairsMerged()).as(as).isZero();
    }
  }

  /**
   * No disk is fuller than 1.1 times the mean or 1.02 times the lower bound. Stripes survive the
   * loss of any server, and of any rack and any two servers if the cluster has enough of them.
   */
  @ParameterizedTest
  @CsvSource({
    "'PC(6x5)', 6, 1",
    "'PC(6x5)', 7, 1",
    "'PC(6x5)', 8, 1",
    "'PC(6x5)', 9, 1",
    "'PC(6x5)', 14, 1",
    "'PC(6x5)', 40, 10",
    "'PC(2x5)', 6, 1",
    "'PC(2x5)', 7, 1",
    "'PC(2x5)', 8, 1",
    "'PC(2x5)', 11, 1",
    "'PC(2x5)', 20, 5",
    "'LRC(12,2,2)', 6, 1",
    "'LRC(12,2,2)', 8, 1",
    "'LRC(12,2,2)', 13, 1",
    "'LRC(12,2,2)', 16, 4",
    "'LRC(12,6,2)', 6, 1",
    "'LRC(12,6,2)', 8, 1",
    "'LRC(12,6,2)', 10, 1",
    "'LRC(12,6,2)', 24, 6",
    "'RS(12,3)', 14, 1",
    "'RS(12,3)', 20, 5",
    "'RS(6,3)', 8, 1",
    "'RS(6,3)', 12, 1",
    "'RS(6,3)', 32, 8",
    "'RS(10,4)', 7, 1"
  })
  void balance(String name, int servers, int racks) {
    long seed = Long.getLong("ebbfs.seed", 20_261_121L);
    ErasureCode code = Codes.byName(name);
    Result result = PlacementSimulation.run(code, servers, racks, 200, FILL, seed);
    String as = "seed %d: %s".formatted(seed, result);
    assertThat(result.fullest())
        .as(as)
        .isGreaterThanOrEqualTo(result.forced())
        .isLessThanOrEqualTo(Math.max(1.1, result.forced() * 1.02));
    assertThat(result.isBalanced()).as(as).isTrue();
    assertThat((double) result.moves() / result.dataBlocks()).as(as).isLessThan(0.15);
    assertThat(result.groupsLostWithServer()).as(as).isZero();
    assertThat(result.groupsLostWithRack()).as(as).isZero();
    assertThat(result.fatalPairs() == 0).as(as).isEqualTo(AnyTwoServers.survives(code, servers));
    PlacementTable.mergesInto(code)
        .ifPresent(
            merged ->
                assertThat(result.fatalPairsMerged() == 0)
                    .as(as)
                    .isEqualTo(AnyTwoServers.survives(merged, servers)));
  }

  @Test
  void whatIsMissingIsNamed() {
    Result six = PlacementSimulation.run(Codes.byName("PC(2x5)"), 6, 1, 60, 0.1, 1);
    assertThat(six.missing()).isEqualTo("merged: 7 servers needed");
    Result racks = PlacementSimulation.run(Codes.byName("RS(12,3)"), 12, 4, 60, 0.1, 1);
    assertThat(racks.missing()).isEqualTo("pairs: 14 servers needed; rack: 5 racks needed");
    Result eight = PlacementSimulation.run(Codes.byName("LRC(12,6,2)"), 8, 1, 60, 0.1, 1);
    assertThat(eight.missing()).isEmpty();
  }

  /** Two racks are too few for a product stripe: every group says so and survives any server. */
  @ParameterizedTest
  @CsvSource({"'PC(6x5)', 12, 2", "'RS(12,3)', 16, 4"})
  void tooFewRacksAreNamed(String name, int servers, int racks) {
    Result result = PlacementSimulation.run(Codes.byName(name), servers, racks, 60, 0.1, 1);
    assertThat(result.groupsLostWithRack()).isEqualTo(result.groups());
    assertThat(result.groupsLostWithServer()).isZero();
  }
}
