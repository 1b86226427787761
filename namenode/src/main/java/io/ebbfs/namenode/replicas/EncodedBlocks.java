package io.ebbfs.namenode.replicas;

import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import java.io.IOException;
import java.util.Optional;

/** Frees blocks of files from stripes and transitions, so that their bytes may change. */
@FunctionalInterface
public interface EncodedBlocks {
  /**
   * Sees to it that a block leaves its stripe, or the transition that is about to encode it. The
   * block is free later, when its row says so: the caller asks again from time to time. Called
   * outside of transactions.
   *
   * @param fileId the file of the block
   */
  void free(long fileId, BlockRow block) throws IOException;

  /**
   * What keeps a block from becoming free.
   *
   * @param reason what is in the way, and what helps
   * @param lasting whether it stays so until somebody acts
   * @param starting whether the namenode cannot tell yet, because it is in safe mode and does not
   *     know enough live servers to read the stripe
   */
  record Obstacle(String reason, boolean lasting, boolean starting) {
    public Obstacle(String reason, boolean lasting) {
      this(reason, lasting, false);
    }
  }

  /** What is in the way of {@link #free} now; empty if the block becomes free by itself. */
  default Optional<Obstacle> obstacle(BlockRow block) throws IOException {
    return Optional.empty();
  }
}
