package io.ebbfs.verify.simulator;

import io.ebbfs.namenode.audit.MetadataChecker.Finding;
import io.ebbfs.protocol.CodingProtocol;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol;

/** The namenode, or several on one store, as the other processes reach them. */
interface SimNamenodes {
  /** The namenode that a chunk server follows. */
  DatanodeProtocol datanodes(SimServer server);

  /** The namenode that raid-nodes and the manager call. */
  CodingProtocol coding();

  SimClient.Namenode forClients();

  /** A client says that it has read wrong bytes from a replica. */
  void reportBadByClient(SimBlock block, String storageUuid) throws IOException;

  /** Whether a namenode that leads believes that a disk is in service. */
  boolean believesInService(String storageUuid);

  String blockPoolId();

  /** The contradictions of the rows. */
  List<Finding> check() throws IOException;

  /** Does all periodic work once. */
  void tick() throws IOException;
}
