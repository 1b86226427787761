package io.ebbfs.coding.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.ErasureCode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Dead blocks are subtracted from the parities of a stripe. */
class SubtractionTest {
  private final long seed = Long.getLong("ebbfs.seed", 20_261_126L);
  private final Random random = new Random(seed);

  private List<Integer> some(Set<Integer> data, int count) {
    List<Integer> shuffled = new ArrayList<>(data);
    Collections.shuffle(shuffled, random);
    return shuffled.subList(0, count);
  }

  /** Blocks of any lengths, full and short stripes, any dead blocks. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "PC(2x5)",
        "PC(6x5)",
        "LRC(12,6,2)",
        "LRC(12,2,2)",
        "RS(6,3)",
        "RS(12,3)",
        "XOR(2,1)"
      })
  void theStripeIsAsIfTheDeadBlocksHadNeverBeen(String name) {
    ErasureCode code = CodeRegistry.builtIn().byName(name);
    for (int i = 0; i < 40; i++) {
      int blocks = 2 + random.nextInt(code.dataCount() - 1);
      Set<Integer> data = new TreeSet<>(some(PlannerTest.range(0, code.dataCount()), blocks));
      List<Integer> dead = some(data, 1 + random.nextInt(blocks - 1));
      Map<Integer, byte[]> before = Bytes.randomStripe(code, data, random);
      Conversion subtraction = Planner.subtract(code, before.keySet(), dead);
      Map<Integer, byte[]> after = Bytes.convert(subtraction, List.of(before), 1).get(0);
      Set<Integer> live = new TreeSet<>(data);
      live.removeAll(dead);
      assertThat(after.keySet())
          .as("seed %d, %s of %s in %s", seed, dead, data, code)
          .isEqualTo(code.occupied(live));
      Bytes.assertConsistent(code, after);
      assertThat(subtraction.kept()).allMatch(kept -> kept.before().equals(kept.after()));
      assertThat(subtraction.dropped())
          .containsAll(dead.stream().map(d -> new BlockRef(0, d)).toList());
    }
  }

  /** The table of docs/policy.md: moves for each freed block, the mean over any d dead blocks. */
  @ParameterizedTest
  @CsvSource({
    "PC(2x5), 7.0 4.9 3.5",
    "PC(6x5), 7.0 5.7 5.1",
    "'LRC(12,6,2)', 7.0 4.6 3.5",
    "'LRC(12,2,2)', 7.0 4.5 3.5",
    "'RS(6,3)', 7.0 3.5 2.0",
    "'RS(12,3)', 7.0 4.0 3.0"
  })
  void anyDeadBlocksMoveWhatTheTableSays(String name, String prices) {
    ErasureCode code = CodeRegistry.builtIn().byName(name);
    Set<Integer> all = PlannerTest.range(0, code.dataCount());
    for (int d = 1; d <= 3; d++) {
      double moves = 0;
      double freed = 0;
      for (int i = 0; i < 40; i++) {
        Conversion subtraction = Planner.subtract(code, all, some(all, d));
        moves += subtraction.reads() + subtraction.writes();
        freed += subtraction.dropped().size() - subtraction.writes();
      }
      assertThat(moves / freed)
          .as("seed %d, %d dead", seed, d)
          .isCloseTo(Double.parseDouble(prices.split(" ")[d - 1]), within(0.45));
    }
  }

  /** Blocks moved, and blocks freed, by the first d data blocks. */
  @ParameterizedTest
  @CsvSource({
    "PC(2x5), 7 10 11, 1 2 3",
    "PC(6x5), 7 10 13, 1 2 3",
    "'LRC(12,6,2)', 7 6 9, 1 3 4",
    "'LRC(12,2,2)', 7 8 9, 1 2 3",
    "'RS(6,3)', 7 7 6, 1 2 3",
    "'RS(12,3)', 7 8 9, 1 2 3"
  })
  void movesAndFreesWhatTheTableSays(String name, String moves, String freed) {
    ErasureCode code = CodeRegistry.builtIn().byName(name);
    Set<Integer> all = PlannerTest.range(0, code.dataCount());
    for (int d = 1; d <= 3; d++) {
      Conversion subtraction = Planner.subtract(code, all, PlannerTest.range(0, d));
      assertThat(subtraction.reads() + subtraction.writes())
          .isEqualTo(Integer.parseInt(moves.split(" ")[d - 1]));
      assertThat(subtraction.dropped().size() - subtraction.writes())
          .isEqualTo(Integer.parseInt(freed.split(" ")[d - 1]));
    }
  }

  @Test
  void aColumnOfWhichAllIsDeadLosesItsParity() {
    ErasureCode code = CodeRegistry.builtIn().byName("PC(2x5)");
    Conversion subtraction = Planner.subtract(code, PlannerTest.range(0, 10), List.of(0, 5));
    assertThat(subtraction.dropped().size() - subtraction.writes()).isEqualTo(3);
    assertThat(subtraction.writes()).isEqualTo(3);
  }

  @Test
  void aStripeWithoutLiveDataIsRefused() {
    ErasureCode code = CodeRegistry.builtIn().byName("RS(6,3)");
    assertThatThrownBy(() -> Planner.subtract(code, Set.of(0, 1, 6, 7, 8), Set.of(0, 1)))
        .isInstanceOf(CannotPlanException.class)
        .hasMessageContaining("no data to convert; drop the stripe instead");
  }
}
