package io.ebbfs.namespace.transition;

import io.ebbfs.coding.ErasureCode;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;

/**
 * How a transition will be run this time.
 *
 * @param row the transition, brought up to date (blocks that are gone taken out, disks to keep,
 *     generations of stripes)
 * @param steps run in order
 * @param results the stripes as they will be, for the checks of what the steps have written
 */
record AttemptPlan(TransitionRow row, List<Step> steps, List<Result> results) {
  /** One combine. Coefficients row-major, a row per output. */
  record Step(List<Source> sources, List<Output> outputs, byte[] coefficients) {}

  /**
   * A stripe after the attempt. Its positions that are neither stored nor outputs of steps nor lost
   * are virtual zeros.
   *
   * @param stripeIndex as outputs name it
   * @param name for messages: "stripe 17"
   * @param stored blocks that are there before, by position; where one replica stays and the others
   *     are given up, that one alone
   * @param lost positions whose block stays lost
   * @param derivedFrom positions that the outputs are computed from, as far as they are of this
   *     stripe
   */
  record Result(
      int stripeIndex,
      String name,
      ErasureCode code,
      SortedMap<Integer, Source> stored,
      Set<Integer> lost,
      Set<Integer> derivedFrom) {}

  /** A block to read, and the disks that have it or, by an earlier step, will have it. */
  record Source(long blockId, long generationStamp, long lengthBytes, List<String> storageUuids) {}

  /**
   * A block to write.
   *
   * @param stripeIndex which of the resulting stripes
   * @param blockId 0 for a new block
   */
  record Output(
      int stripeIndex,
      int position,
      long blockId,
      long generationStamp,
      long lengthBytes,
      String storageUuid) {
    boolean isNew() {
      return blockId == 0;
    }
  }
}
