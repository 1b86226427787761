package io.ebbfs.verify.measure;

import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;

/** The blocks and bytes that a transition reads and writes. */
public record TransitionCost(
    long blocksRead, long blocksWritten, long bytesRead, long bytesWritten) {
  static final TransitionCost NONE = new TransitionCost(0, 0, 0, 0);

  /** The cost that the chunk servers counted. */
  static TransitionCost measured(TransitionRow row) {
    return new TransitionCost(
        row.getBlocksRead(), row.getBlocksWritten(), row.getBytesRead(), row.getBytesWritten());
  }

  TransitionCost plus(TransitionCost other) {
    return new TransitionCost(
        blocksRead + other.blocksRead,
        blocksWritten + other.blocksWritten,
        bytesRead + other.bytesRead,
        bytesWritten + other.bytesWritten);
  }
}
