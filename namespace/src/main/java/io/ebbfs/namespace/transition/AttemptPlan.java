package io.ebbfs.namespace.transition;

import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.util.List;

/**
 * How a transition will be run this time.
 *
 * @param row the transition, brought up to date (blocks that are gone taken out, disks to keep,
 *     generations of stripes)
 * @param steps run in order
 */
record AttemptPlan(TransitionRow row, List<Step> steps) {
  /** One combine. Coefficients row-major, a row per output. */
  record Step(List<Source> sources, List<Output> outputs, byte[] coefficients) {}

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
