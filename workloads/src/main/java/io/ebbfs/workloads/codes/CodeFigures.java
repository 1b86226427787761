package io.ebbfs.workloads.codes;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.plan.CombinePlan;
import io.ebbfs.coding.plan.Planner;
import io.ebbfs.coding.plan.ReadCost;
import io.ebbfs.coding.reliability.FatalShares;
import io.ebbfs.coding.reliability.MarkovModel;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * The costs and the tolerance of a code, computed from its generator matrix and the planner's
 * plans.
 *
 * @param overhead stored bytes per logical byte of a full stripe
 * @param repairReadsData blocks read to rebuild one lost data block, on average
 * @param repairReadsAverage the same over all blocks
 * @param repairReadsWorst the most for any block
 * @param movedPerLostDataBlock blocks read and written per lost data block, if all blocks are
 *     equally likely to be lost; parities are repaired along with data
 * @param tolerance the number of losses that are survived, whichever they are
 * @param fatalShareOfOneMore of all sets with one loss more, the share that loses data
 * @param meanTimeToLossYears of one stripe, by the Markov chain with the rates of the HACFS paper
 */
public record CodeFigures(
    String code,
    int dataBlocks,
    int parityBlocks,
    double overhead,
    double repairReadsData,
    double repairReadsAverage,
    int repairReadsWorst,
    double movedPerLostDataBlock,
    int tolerance,
    double fatalShareOfOneMore,
    double meanTimeToLossYears) {

  /** Computes the figures of one code, within milliseconds or, for large codes, seconds. */
  public static CodeFigures of(ErasureCode code) {
    int[] reads = IntStream.range(0, code.size()).map(p -> repairReads(code, p)).toArray();
    double average = IntStream.of(reads).average().orElseThrow();
    int beyond = code.tolerance() + 1;
    return new CodeFigures(
        code.name(),
        code.dataCount(),
        code.parityCount(),
        code.overhead(),
        repairReadsData(code),
        average,
        IntStream.of(reads).max().orElseThrow(),
        (average + 1) * code.size() / code.dataCount(),
        code.tolerance(),
        1
            - (double) FatalShares.countSurvived(code, beyond)
                / FatalShares.binomial(code.size(), beyond),
        MarkovModel.HACFS.meanTimeToLossYears(code));
  }

  /** Blocks read to rebuild one lost data block, on average. */
  private static double repairReadsData(ErasureCode code) {
    return IntStream.range(0, code.dataCount())
        .map(p -> repairReads(code, p))
        .average()
        .orElseThrow();
  }

  private static int repairReads(ErasureCode code, int position) {
    Set<Integer> all = positions(code.size());
    List<CombinePlan> plans =
        Planner.repair(code, all, Set.of(position), Set.of(), ReadCost.UNIFORM);
    return plans.stream().mapToInt(CombinePlan::reads).sum();
  }

  private static Set<Integer> positions(int count) {
    Set<Integer> positions = new HashSet<>();
    IntStream.range(0, count).forEach(positions::add);
    return positions;
  }
}
