package io.ebbfs.namenode.replicas;

import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import java.io.IOException;

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
}
