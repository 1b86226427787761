package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView.Server;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;

/** Asks the server of a replica to read the replica. Thread-safe; a call may take a minute. */
@FunctionalInterface
public interface ReplicaVerifier {
  /** What a server says about its replica. */
  enum Health {
    /** The server has read the replica: its bytes fit its checksums, and its length is right. */
    GOOD,
    /** The server has read the replica, and its bytes do not fit its checksums. */
    BAD,
    /** The server has no such replica. */
    MISSING,
    /** No answer, or an answer that says nothing: the server is not ready, or its disk failed. */
    UNKNOWN,
    /** The server never verifies a replica for others: it is a stock DataNode. */
    UNABLE
  }

  /** Knows nothing about any replica. */
  ReplicaVerifier NONE = (server, block) -> Health.UNKNOWN;

  /**
   * Has a replica verified.
   *
   * @param block id, generation stamp and length of the replica
   */
  Health verify(Server server, ExtendedBlock block);
}
