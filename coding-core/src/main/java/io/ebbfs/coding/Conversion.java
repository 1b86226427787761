package io.ebbfs.coding;

import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * How stripes of one code become stripes of another. Data never moves: it is always kept.
 *
 * @param from the code of the source stripes
 * @param to the code of the resulting stripes
 * @param plans what to compute, in order; inputs are blocks of the source stripes, outputs of the
 *     resulting ones. At most one plan; none if every parity can stay
 * @param kept every block that stays as it is, and what it becomes
 * @param dropped blocks of the source stripes that no resulting stripe has: to be deleted after the
 *     commit
 * @param outputs the blocks that the plans write
 * @param reencoded why the new parities are encoded from the data again, all of it; empty if the
 *     codes allow a shortcut
 */
public record Conversion(
    ErasureCode from,
    ErasureCode to,
    List<CombinePlan> plans,
    List<Kept> kept,
    Set<BlockRef> dropped,
    List<BlockRef> outputs,
    Optional<String> reencoded) {
  /** A block that stays: which it was, and which it becomes. */
  public record Kept(BlockRef before, BlockRef after) {}

  /** The number of blocks read. */
  public int reads() {
    return plans.stream().mapToInt(CombinePlan::reads).sum();
  }

  /** How many of the blocks read are data. */
  public int dataReads() {
    return (int)
        plans.stream()
            .flatMap(plan -> plan.inputs().stream())
            .filter(ref -> from.position(ref.position()).isData())
            .count();
  }

  /** The number of blocks written. */
  public int writes() {
    return plans.stream().mapToInt(CombinePlan::writes).sum();
  }
}
