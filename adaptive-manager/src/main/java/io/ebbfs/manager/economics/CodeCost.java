package io.ebbfs.manager.economics;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.plan.CombinePlan;
import io.ebbfs.coding.plan.Planner;
import io.ebbfs.coding.plan.ReadCost;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * What it costs to keep a full stripe in a code, per data block, by the plans of {@link Planner}.
 * Immutable.
 *
 * @param stored blocks stored, parities included: 1.8 for PC(2x5)
 * @param repairMoves blocks read and written to rebuild each block of the stripe once, each while
 *     all others are there: 5.4 for PC(2x5)
 * @param degradedReads blocks read for one read of a data block that is not there: 2 for PC(2x5)
 */
public record CodeCost(double stored, double repairMoves, double degradedReads) {
  /** The cost of a code. Plans a repair and a degraded read of each position: some milliseconds. */
  public static CodeCost of(ErasureCode code) {
    int moves = IntStream.range(0, code.size()).map(lost -> repairMoves(code, lost)).sum();
    return new CodeCost(
        code.overhead(),
        (double) moves / code.dataCount(),
        IntStream.range(0, code.dataCount())
            .map(lost -> degradedReads(code, lost))
            .average()
            .orElseThrow());
  }

  /** The cost of replicas, each of which is copied from another one. */
  public static CodeCost replicated(double replicas) {
    return new CodeCost(replicas, 2 * replicas, 1);
  }

  private static int repairMoves(ErasureCode code, int lost) {
    return Planner.repair(code, all(code), Set.of(lost), Set.of(), ReadCost.UNIFORM).stream()
        .mapToInt(plan -> plan.reads() + plan.writes())
        .sum();
  }

  private static int degradedReads(ErasureCode code, int lost) {
    CombinePlan plan = Planner.readPlan(code, all(code), Set.of(lost), lost, ReadCost.UNIFORM);
    return plan.reads();
  }

  private static Set<Integer> all(ErasureCode code) {
    return IntStream.range(0, code.size()).boxed().collect(Collectors.toUnmodifiableSet());
  }
}
