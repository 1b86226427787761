package io.ebbfs.coding.packing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.plan.Conversion;
import io.ebbfs.coding.plan.Planner;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ReclaimTest {
  private static final long MIB = 1 << 20;

  private static ErasureCode code(String name) {
    return CodeRegistry.builtIn().byName(name);
  }

  private static Map<Integer, Long> full(ErasureCode code) {
    Map<Integer, Long> lengths = new TreeMap<>();
    for (int d = 0; d < code.dataCount(); d++) {
      lengths.put(d, MIB);
    }
    return lengths;
  }

  private static Set<Integer> first(int count) {
    Set<Integer> positions = new TreeSet<>();
    for (int p = 0; p < count; p++) {
      positions.add(p);
    }
    return positions;
  }

  /** The forecast frees what the plan frees, and moves no less than the plan. */
  @ParameterizedTest
  @ValueSource(
      strings = {"PC(2x5)", "PC(6x5)", "LRC(12,6,2)", "LRC(12,2,2)", "RS(6,3)", "RS(12,3)"})
  void aSubtractionMovesAtMostItsForecast(String name) {
    ErasureCode code = code(name);
    Random random = new Random(5);
    for (int i = 0; i < 20; i++) {
      List<Integer> data = new ArrayList<>(full(code).keySet());
      Collections.shuffle(data, random);
      Set<Integer> dead = new TreeSet<>(data.subList(0, 1 + random.nextInt(code.dataCount() / 2)));
      Conversion plan = Planner.subtract(code, full(code).keySet(), dead);
      Reclaim forecast = Reclaim.subtract(code, full(code), dead);
      assertThat(forecast.freedBytes()).isEqualTo((plan.dropped().size() - plan.writes()) * MIB);
      assertThat(forecast.movedBytes())
          .isGreaterThanOrEqualTo((plan.reads() + plan.writes()) * MIB)
          .isLessThanOrEqualTo((dead.size() + 2L * plan.writes()) * MIB);
    }
  }

  /** A long dead block made the parities long: they shrink. */
  @Test
  void paritiesShrinkWithTheLongestBlock() {
    ErasureCode code = code("RS(6,3)");
    Reclaim reclaim = Reclaim.subtract(code, Map.of(0, 10 * MIB, 1, MIB), Set.of(0));
    assertThat(reclaim.freedBytes()).isEqualTo((10 + 3 * 9) * MIB);
    assertThat(reclaim.movedBytes()).isEqualTo((10 + 3 * 10 + 3) * MIB);
  }

  /** The table of docs/policy.md: blocks moved for each freed block, if d of k blocks are dead. */
  @ParameterizedTest
  @CsvSource({
    "PC(2x5), 1, 9",
    "PC(2x5), 2, 4",
    "PC(6x5), 1, 29",
    "PC(6x5), 5, 5",
    "PC(6x5), 6, 4",
    "'LRC(12,2,2)', 1, 11",
    "'LRC(12,2,2)', 2, 5",
    "'RS(6,3)', 1, 5",
    "'RS(12,3)', 3, 3"
  })
  void aRewriteAmongManyMovesTheLiveShareOfWhatItFrees(String name, int dead, double price) {
    ErasureCode code = code(name);
    int live = code.dataCount() - dead;
    Reclaim one =
        Reclaim.rewriteAmongMany(
            code, live, live * MIB, dead * MIB, (long) code.parityCount() * MIB);
    assertThat(one.price()).isCloseTo(price, within(1e-5));
    // As many stripes together as fill new ones exactly come to the same.
    List<Long> lengths = Collections.nCopies(live * code.dataCount(), MIB);
    Reclaim together = Reclaim.rewrite(code, lengths, (long) code.size() * code.dataCount() * MIB);
    assertThat(together.price()).isCloseTo(price, within(1e-5));
  }

  @Test
  void aRewriteThatStoresMoreHasNoPrice() {
    Reclaim reclaim = Reclaim.rewrite(code("RS(6,3)"), List.of(MIB), MIB);
    assertThat(reclaim.freedBytes()).isNegative();
    assertThat(reclaim.price()).isInfinite();
  }

  @Test
  void aBatchIsAsLongAsFillsNewStripes() {
    ErasureCode code = code("PC(6x5)");
    RewriteBatch.Part part =
        new RewriteBatch.Part(1, Collections.nCopies(24, MIB), (long) code.size() * MIB);
    RewriteBatch.Choice choice = RewriteBatch.best(code, Collections.nCopies(8, part));
    assertThat(choice.parts()).isEqualTo(5);
    assertThat(choice.reclaim().freedBytes()).isEqualTo(42 * MIB);
    assertThat(RewriteBatch.best(code, List.of(part)).reclaim().freedBytes())
        .isLessThan(42 / 5 * MIB);
  }

  @Test
  void aBatchIsBoundedAndNeverEmpty() {
    ErasureCode code = code("XOR(2,1)");
    RewriteBatch.Part half = new RewriteBatch.Part(1, List.of(MIB), 3 * MIB);
    assertThat(RewriteBatch.best(code, Collections.nCopies(40, half)).parts())
        .isEqualTo(RewriteBatch.MOST_STRIPES);
    RewriteBatch.Part huge = new RewriteBatch.Part(20, Collections.nCopies(400, MIB), 1L << 40);
    assertThat(RewriteBatch.best(code, List.of(huge, half)).parts()).isEqualTo(1);
  }
}
