package io.ebbfs.namespace.prove;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.Codes;
import io.ebbfs.namespace.prove.PlacementSimulation.Result;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PlacementSimulationTest {
  private static final int DISK_BLOCKS = 40;
  private static final double FILL = 0.5;

  /** The code, the servers, the racks, and whether the compact stripe survives any two, too. */
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
    assertThat(result.weakServers()).as(as).isZero();
    assertThat(result.weakRacks()).as(as).isZero();
    assertThat(result.weakPairs()).as(as).isZero();
    if (merged) {
      assertThat(result.weakPairsMerged()).as(as).isZero();
    }
  }

  /** Where tolerance leaves the choice, no disk is fuller than 1.1 times the mean. */
  @ParameterizedTest
  @CsvSource({
    "'PC(6x5)', 7",
    "'PC(6x5)', 9",
    "'PC(2x5)', 10",
    "'PC(6x5)', 14",
    "'PC(2x5)', 20",
    "'LRC(12,2,2)', 13",
    "'RS(6,3)', 16",
    "'PC(6x5)', 40"
  })
  void balance(String name, int servers) {
    long seed = Long.getLong("ebbfs.seed", 20_261_121L);
    Result result = PlacementSimulation.run(Codes.byName(name), servers, 1, 200, FILL, seed);
    String as = "seed %d: %s".formatted(seed, result);
    assertThat(result.fullest()).as(as).isLessThan(1.1 * result.attainable());
    assertThat((double) result.moves() / result.dataBlocks()).as(as).isLessThan(0.12);
  }

  /** Two racks cannot carry a product stripe: the answer says so, and servers are safe. */
  @ParameterizedTest
  @CsvSource({"'PC(6x5)', 12, 2", "'RS(12,3)', 16, 4"})
  void tooFewRacksAreNamed(String name, int servers, int racks) {
    Result result = PlacementSimulation.run(Codes.byName(name), servers, racks, 60, 0.1, 1);
    assertThat(result.weakRacks()).isEqualTo(result.groups());
    assertThat(result.weakServers()).isZero();
  }
}
