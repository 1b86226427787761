package io.ebbfs.namenode.tasks.plan;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.plan.BlockRef;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;

/**
 * The plan of one attempt of a transition.
 *
 * @param row the transition, brought up to date: without deleted blocks, with the disks of the
 *     replicas that stay, and with the generations of the stripes as they were read
 * @param steps the combines, in the order in which they run
 * @param results the stripes after the attempt, from which the checks of the outputs follow
 * @param dead data that the parities cover before the attempt and not afterwards
 */
public record AttemptPlan(
    TransitionRow row, List<Step> steps, List<Result> results, Set<BlockRef> dead) {
  /** A plan after which the parities cover the same data as before. */
  public AttemptPlan(TransitionRow row, List<Step> steps, List<Result> results) {
    this(row, steps, results, Set.of());
  }

  /**
   * One combine.
   *
   * @param code of the stripes of the sources
   * @param places of the sources in these stripes. The data of these stripes, in order, is the data
   *     of the results, in order
   * @param coefficients row-major, with a row for each output
   * @param gather present if the sources are data blocks of a block group, which enter by their
   *     cells
   */
  public record Step(
      ErasureCode code,
      List<BlockRef> places,
      List<Source> sources,
      List<Output> outputs,
      byte[] coefficients,
      Optional<Gather> gather) {
    /** A step whose sources enter from their first bytes on. */
    public Step(
        ErasureCode code,
        List<BlockRef> places,
        List<Source> sources,
        List<Output> outputs,
        byte[] coefficients) {
      this(code, places, sources, outputs, coefficients, Optional.empty());
    }

    /** The same with other outputs. */
    public Step writing(List<Output> others) {
      return new Step(code, places, sources, others, coefficients, gather);
    }
  }

  /**
   * How data blocks of a block group enter the outputs of a step: each output is a part of the data
   * of the group. The index of a source in the group is its position.
   *
   * @param units the data blocks of a full group
   * @param startBytes where the outputs begin in the data of the group
   */
  public record Gather(int cellBytes, int units, long startBytes) {}

  /**
   * A stripe after the attempt. A position that is not stored, no output and not lost is a virtual
   * zero.
   *
   * @param stripeIndex the index by which outputs name the stripe
   * @param name for messages: "stripe 17"
   * @param stored by position: the blocks that exist before the attempt; if the commit deletes all
   *     replicas but one, only with the disk of the replica that stays
   * @param lost positions whose block stays lost
   * @param derivedFrom positions of this stripe from which the outputs are computed
   */
  public record Result(
      int stripeIndex,
      String name,
      ErasureCode code,
      SortedMap<Integer, Source> stored,
      Set<Integer> lost,
      Set<Integer> derivedFrom) {}

  /** A block to read, and the disks that hold it or will hold it after an earlier step. */
  public record Source(
      long blockId, long generationStamp, long lengthBytes, List<String> storageUuids) {}

  /**
   * A block to write.
   *
   * @param stripeIndex the index of the stripe among the results
   * @param blockId 0 for a new block
   */
  public record Output(
      int stripeIndex,
      int position,
      long blockId,
      long generationStamp,
      long lengthBytes,
      String storageUuid) {
    public boolean isNew() {
      return blockId == 0;
    }
  }
}
