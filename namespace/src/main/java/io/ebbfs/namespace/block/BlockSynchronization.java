package io.ebbfs.namespace.block;

import java.io.IOException;
import java.util.List;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;

/** What becomes of a block after its recovery: known to those who own files. Thread-safe. */
@FunctionalInterface
public interface BlockSynchronization {
  /**
   * The replicas of a block were brought to one length (see {@code
   * DatanodeProtocol.commitBlockSynchronization}).
   *
   * @param block as it was before
   * @param closeFile the file is to be closed with it
   * @param deleteBlock no replica has any bytes: the block goes
   * @param storageUuids where the recovered replicas are
   */
  void commit(
      ExtendedBlock block,
      long newGenerationStamp,
      long newLengthBytes,
      boolean closeFile,
      boolean deleteBlock,
      List<String> storageUuids)
      throws IOException;
}
