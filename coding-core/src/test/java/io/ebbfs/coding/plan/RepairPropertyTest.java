package io.ebbfs.coding.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.gf.GfMatrix;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What holds of every repair plan, on random losses; each failure names its seed. */
class RepairPropertyTest {
  private static final int DEAR = 1_000;
  private static final int ROUNDS = 150;

  static Stream<ErasureCode> codes() {
    ErasureCode grid = Codes.byName("PC(2x3)");
    List<byte[]> rows = new ArrayList<>();
    for (int p = grid.dataCount(); p < grid.size(); p++) {
      rows.add(grid.generator().row(p));
    }
    return Stream.concat(
        Codes.builtIn().stream(),
        Stream.of(
            Codes.byName("LRC(16,4,3)"),
            Codes.byName("XOR(5,1)"),
            // Known to the planner by its rows alone.
            Codes.ofRows("grid-by-rows", 3, rows)));
  }

  /** A stripe with holes, some losses in it, and what it costs to read the rest. */
  private record Case(Set<Integer> occupied, Set<Integer> lost, Set<Integer> dear) {
    static Case of(ErasureCode code, Random random) {
      Set<Integer> data = new TreeSet<>();
      int percent = random.nextInt(3) == 0 ? 30 + random.nextInt(70) : 100;
      while (data.isEmpty()) {
        for (int d = 0; d < code.dataCount(); d++) {
          if (random.nextInt(100) < percent) {
            data.add(d);
          }
        }
      }
      Set<Integer> occupied = code.occupied(data);
      List<Integer> shuffled = new ArrayList<>(occupied);
      Collections.shuffle(shuffled, random);
      int losses = Math.min(shuffled.size(), 1 + random.nextInt(Math.min(4, code.parityCount())));
      int dear = Math.min(shuffled.size() - losses, random.nextInt(code.parityCount() + 1));
      return new Case(
          occupied,
          new TreeSet<>(shuffled.subList(0, losses)),
          new TreeSet<>(shuffled.subList(losses, losses + dear)));
    }

    long cost(CombinePlan plan) {
      return plan.inputPositions().stream().mapToLong(p -> dear.contains(p) ? DEAR : 1).sum();
    }

    ReadCost readCost() {
      return p -> dear.contains(p) ? DEAR : 1;
    }

    /** Whether the lost blocks follow from what is cheap: asked of the rank of the generator. */
    boolean followsFromCheap(ErasureCode code) {
      List<byte[]> cheap = new ArrayList<>();
      for (int p : occupied) {
        if (!lost.contains(p) && !dear.contains(p)) {
          cheap.add(PlanVerifier.project(code.generator().row(p), occupied));
        }
      }
      int rank = GfMatrix.ofRows(cheap, code.dataCount()).rank();
      lost.forEach(p -> cheap.add(PlanVerifier.project(code.generator().row(p), occupied)));
      return GfMatrix.ofRows(cheap, code.dataCount()).rank() == rank;
    }
  }

  @ParameterizedTest
  @MethodSource("codes")
  void aDearBlockIsNotReadIfTheCheapOnesDo(ErasureCode code) {
    int avoidable = 0;
    for (long seed = 1; seed <= ROUNDS; seed++) {
      Case some = Case.of(code, new Random(seed));
      if (some.dear.isEmpty() || !some.followsFromCheap(code)) {
        continue;
      }
      avoidable++;
      for (CombinePlan plan :
          Planner.repair(code, some.occupied, some.lost, Set.of(), some.readCost())) {
        assertThat(plan.inputPositions())
            .as("%s, seed %d, %s: %s", code, seed, some, plan)
            .doesNotContainAnyElementsOf(some.dear);
      }
    }
    assertThat(avoidable).isGreaterThan(code.parityCount() > 1 ? ROUNDS / 20 : -1);
  }

  @ParameterizedTest
  @MethodSource("codes")
  void theJointPlanNeverCostsMoreThanTheSeparateOnes(ErasureCode code) {
    int joint = 0;
    for (long seed = 1; seed <= ROUNDS; seed++) {
      Case some = Case.of(code, new Random(seed));
      if (some.lost.size() < 2 || !code.decodes(some.lost, some.occupied)) {
        continue;
      }
      joint++;
      long together =
          Planner.repair(code, some.occupied, some.lost, Set.of(), some.readCost()).stream()
              .mapToLong(some::cost)
              .sum();
      long separate = 0;
      for (int position : some.lost) {
        Set<Integer> others = new HashSet<>(some.lost);
        others.remove(position);
        separate +=
            some.cost(Planner.readPlan(code, some.occupied, others, position, some.readCost()));
      }
      assertThat(together).as("%s, seed %d, %s", code, seed, some).isLessThanOrEqualTo(separate);
    }
    assertThat(joint).isGreaterThan(code.parityCount() > 1 ? ROUNDS / 20 : -1);
  }

  static Stream<ErasureCode> smallCodes() {
    return Stream.of("PC(2x2)", "PC(1x3)", "LRC(6,3,2)", "RS(4,3)", "RS-LRC(6,2,2)", "XOR(4,1)")
        .map(Codes::byName);
  }

  /** Against all sets of readable blocks. */
  @ParameterizedTest
  @MethodSource("smallCodes")
  void noSetOfBlocksRebuildsOneForLess(ErasureCode code) {
    for (long seed = 1; seed <= 40; seed++) {
      Random random = new Random(seed);
      int[] costs = random.ints(code.size(), 1, 6).toArray();
      int wanted = random.nextInt(code.size());
      CombinePlan plan =
          Planner.readPlan(
              code, PlannerTest.range(0, code.size()), Set.of(wanted), wanted, p -> costs[p]);
      long cost = plan.inputPositions().stream().mapToLong(p -> costs[p]).sum();
      assertThat(cost)
          .as("%s, seed %d, position %d: %s", code, seed, wanted, plan)
          .isEqualTo(leastCost(code, wanted, costs));
    }
  }

  private static long leastCost(ErasureCode code, int wanted, int[] costs) {
    long least = Long.MAX_VALUE;
    for (int set = 1; set < 1 << code.size(); set++) {
      long cost = 0;
      List<byte[]> rows = new ArrayList<>();
      for (int p = 0; p < code.size(); p++) {
        if ((set >> p & 1) != 0) {
          cost += costs[p];
          rows.add(code.generator().row(p));
        }
      }
      if ((set >> wanted & 1) == 0 && cost < least) {
        int rank = GfMatrix.ofRows(rows, code.dataCount()).rank();
        rows.add(code.generator().row(wanted));
        if (GfMatrix.ofRows(rows, code.dataCount()).rank() == rank) {
          least = cost;
        }
      }
    }
    return least;
  }
}
