package io.ebbfs.namenode.replicas;

import java.io.IOException;
import java.util.List;

/** Applies the result of a block recovery to the file of the block. Thread-safe. */
@FunctionalInterface
public interface BlockSynchronization {
  /**
   * The recovery has brought the replicas of a block to one length (see {@code
   * DatanodeProtocol.commitBlockSynchronization}).
   *
   * @param closeFile whether the file is closed too
   * @param deleteBlock whether the block is removed, because no replica has any bytes
   * @param storageUuids the disks of the recovered replicas
   */
  void commit(
      long blockId,
      long newGenerationStamp,
      long newLengthBytes,
      boolean closeFile,
      boolean deleteBlock,
      List<String> storageUuids)
      throws IOException;
}
