package io.ebbfs.coding.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.code.ErasureCodeTest;
import io.ebbfs.coding.code.Position;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

public class PlannerTest {
  public static Set<Integer> range(int from, int to) {
    return IntStream.range(from, to).boxed().collect(Collectors.toCollection(TreeSet::new));
  }

  private static Set<Integer> all(ErasureCode code) {
    return range(0, code.size());
  }

  private static CombinePlan single(ErasureCode code, int position) {
    List<CombinePlan> plans =
        Planner.repair(code, all(code), Set.of(position), Set.of(), ReadCost.UNIFORM);
    assertThat(plans).hasSize(1);
    return plans.get(0);
  }

  @ParameterizedTest
  @CsvSource({
    "PC(2x5), 2, 2",
    "PC(6x5), 5, 5",
    "'LRC(12,6,2)', 2, 3.0",
    "'LRC(12,2,2)', 6, 6.75",
    "'RS(6,3)', 6, 6",
    "'RS(12,3)', 12, 12",
    "'RS(10,4)', 10, 10"
  })
  void repairsOneBlockAtTheKnownCost(String name, int ofData, double average) {
    ErasureCode code = Codes.byName(name);
    double sum = 0;
    for (Position position : code.positions()) {
      CombinePlan plan = single(code, position.index());
      assertThat(plan.outputPositions()).containsExactly(position.index());
      assertThat(plan.inputPositions()).doesNotContain(position.index());
      sum += plan.reads();
      if (position.isData()) {
        assertThat(plan.reads()).isEqualTo(ofData);
        CombinePlan read =
            Planner.readPlan(
                code, all(code), Set.of(position.index()), position.index(), ReadCost.UNIFORM);
        assertThat(read).isEqualTo(plan);
      }
    }
    // The row and global parities of PC(2x5) have a cheaper equation of their own.
    assertThat(sum / code.size()).isEqualTo(average);
  }

  @ParameterizedTest
  @ValueSource(strings = {"PC(2x5)", "PC(6x5)", "LRC(12,6,2)", "LRC(12,2,2)", "RS(10,4)"})
  void encodeReadsEachDataBlockOnce(String name) {
    ErasureCode code = Codes.byName(name);
    CombinePlan plan = Planner.encode(code, range(0, code.dataCount()));
    assertThat(plan.inputPositions()).containsExactlyElementsOf(range(0, code.dataCount()));
    assertThat(plan.outputPositions())
        .containsExactlyElementsOf(range(code.dataCount(), code.size()));
  }

  @Test
  void encodeLeavesOutParitiesOverVirtualZeros() {
    ErasureCode code = Codes.byName("PC(6x5)");
    CombinePlan plan = Planner.encode(code, Set.of(0, 1, 2));
    assertThat(plan.reads()).isEqualTo(3);
    assertThat(plan.outputPositions()).containsExactly(30, 36, 37, 38, 41);
    assertThatThrownBy(() -> Planner.encode(code, Set.of()))
        .isInstanceOf(CannotPlanException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"LRC(12,2,2)", "RS(6,3)"})
  void repairsEveryPatternThatDecodesAndRefusesTheOthers(String name) {
    ErasureCode code = Codes.byName(name);
    for (int count = 2; count <= 4; count++) {
      ErasureCodeTest.forEachSubset(code.size(), count, lost -> repairs(code, lost));
    }
  }

  private static void repairs(ErasureCode code, List<Integer> lost) {
    Set<Integer> positions = new TreeSet<>(lost);
    if (!code.decodes(lost)) {
      assertThatThrownBy(
              () -> Planner.repair(code, all(code), positions, Set.of(), ReadCost.UNIFORM))
          .isInstanceOf(CannotPlanException.class);
      return;
    }
    List<CombinePlan> plans =
        Planner.repair(code, all(code), positions, Set.of(), ReadCost.UNIFORM);
    Set<Integer> missing = new TreeSet<>(positions);
    int reads = 0;
    for (CombinePlan plan : plans) {
      // Each plan has passed the symbolic check; here: that it reads only what is there by then.
      assertThat(missing).doesNotContainAnyElementsOf(plan.inputPositions());
      assertThat(missing).containsAll(plan.outputPositions());
      missing.removeAll(plan.outputPositions());
      reads += plan.reads();
    }
    assertThat(missing).isEmpty();
    assertThat(reads).isLessThanOrEqualTo(lost.size() * code.dataCount());
  }

  @Test
  void joinsRepairsThatShareReads() {
    ErasureCode code = Codes.byName("LRC(12,6,2)");
    List<CombinePlan> globals =
        Planner.repair(code, all(code), Set.of(18, 19), Set.of(), ReadCost.UNIFORM);
    assertThat(globals).hasSize(1);
    assertThat(globals.get(0).reads()).isEqualTo(12);
    List<CombinePlan> mixed =
        Planner.repair(code, all(code), Set.of(0, 18), Set.of(), ReadCost.UNIFORM);
    assertThat(mixed).hasSize(1);
    assertThat(mixed.get(0).reads()).isEqualTo(12);
  }

  @Test
  void keepsIndependentRepairsApart() {
    ErasureCode code = Codes.byName("PC(2x5)");
    List<CombinePlan> plans =
        Planner.repair(code, all(code), Set.of(0, 1), Set.of(), ReadCost.UNIFORM);
    assertThat(plans).hasSize(2);
    assertThat(plans).allSatisfy(plan -> assertThat(plan.reads()).isEqualTo(2));
  }

  @Test
  void takesTheCheapestEquationThatCanBeRead() {
    ErasureCode fast = Codes.byName("PC(2x5)");
    // The column partner is unreadable: the row it is.
    assertThat(Planner.readPlan(fast, all(fast), Set.of(0, 5), 0, ReadCost.UNIFORM).reads())
        .isEqualTo(5);
    // Remote blocks of the column cost more than a local row.
    ReadCost rowIsLocal = position -> position < 5 || position == 10 ? 1 : 10;
    assertThat(Planner.readPlan(fast, all(fast), Set.of(0), 0, rowIsLocal).inputPositions())
        .containsExactly(1, 2, 3, 4, 10);
    // Row and column both broken: around the corner, not all of the stripe.
    ErasureCode compact = Codes.byName("PC(6x5)");
    CombinePlan corner =
        Planner.readPlan(compact, all(compact), Set.of(0, 1, 5), 0, ReadCost.UNIFORM);
    assertThat(corner.reads()).isEqualTo(10);
    assertThatThrownBy(
            () -> Planner.readPlan(fast, all(fast), Set.of(0, 1, 5, 6), 0, ReadCost.UNIFORM))
        .isInstanceOf(CannotPlanException.class)
        .hasMessageContaining("PC(2x5)");
  }

  @Test
  void virtualZerosMakeRepairCheaper() {
    ErasureCode code = Codes.byName("PC(6x5)");
    Set<Integer> occupied = code.occupied(Set.of(0, 1));
    CombinePlan plan = Planner.readPlan(code, occupied, Set.of(0), 0, ReadCost.UNIFORM);
    assertThat(plan.inputPositions()).containsExactly(36);
    assertThatThrownBy(() -> Planner.readPlan(code, occupied, Set.of(), 2, ReadCost.UNIFORM))
        .hasMessageContaining("virtual zero");
  }

  @Test
  void aWrongPlanDoesNotPassTheCheck() {
    ErasureCode code = Codes.byName("PC(2x5)");
    CombinePlan wrong =
        new CombinePlan(
            List.of(new BlockRef(0, 5), new BlockRef(0, 13)),
            List.of(new BlockRef(0, 0)),
            new byte[] {1, 1});
    assertThatThrownBy(() -> PlanVerifier.verify(code, all(code), wrong))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("PC(2x5)");
    CombinePlan readsNothing =
        new CombinePlan(List.of(new BlockRef(0, 5)), List.of(new BlockRef(0, 12)), new byte[] {1});
    assertThatThrownBy(() -> PlanVerifier.verify(code, Set.of(0, 10, 12, 17), readsNothing))
        .hasMessageContaining("virtual zero");
  }
}
