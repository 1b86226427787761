package io.ebbfs.namenode.replicas;

import java.io.IOException;
import org.apache.hadoop.hdfs.protocol.BlockStoragePolicy;

/** Moves the replicas of single blocks to disks of the types that a storage policy wants. */
public interface TypeMover {
  /** Orders the moves of the replicas of a block, as far as servers are free. */
  TypeMoves.Ordered satisfy(long blockId, BlockStoragePolicy policy) throws IOException;

  /** Whether replicas that were ordered have not arrived yet, of whatever block. */
  boolean isReplicating();
}
