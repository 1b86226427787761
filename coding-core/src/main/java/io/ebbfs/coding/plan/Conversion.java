package io.ebbfs.coding.plan;

import io.ebbfs.coding.code.ErasureCode;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * How stripes of one code become stripes of another. Data blocks are always kept. Immutable.
 *
 * @param from the code of the source stripes
 * @param to the code of the resulting stripes
 * @param plans from blocks of the source stripes to blocks of the resulting stripes; at most one
 *     plan, and none if every parity can stay
 * @param kept every block that stays as it is, with its places before and after
 * @param dropped blocks of the source stripes that are in no resulting stripe; they are deleted
 *     after the commit
 * @param outputs the blocks that the plans write
 * @param reencoded why the new parities are encoded from all data again; empty if the codes allow a
 *     plan with fewer reads
 */
public record Conversion(
    ErasureCode from,
    ErasureCode to,
    List<CombinePlan> plans,
    List<Kept> kept,
    Set<BlockRef> dropped,
    List<BlockRef> outputs,
    Optional<String> reencoded) {
  /** A block that stays, with its place before and after the conversion. */
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
