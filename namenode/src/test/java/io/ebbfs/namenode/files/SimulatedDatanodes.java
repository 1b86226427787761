package io.ebbfs.namenode.files;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.protocol.Block;
import org.apache.hadoop.hdfs.protocol.BlockListAsLongs;
import org.apache.hadoop.hdfs.protocol.BlockListAsLongs.BlockReportReplica;
import org.apache.hadoop.hdfs.protocol.DatanodeID;
import org.apache.hadoop.hdfs.server.common.HdfsServerConstants.NodeType;
import org.apache.hadoop.hdfs.server.common.HdfsServerConstants.ReplicaState;
import org.apache.hadoop.hdfs.server.common.StorageInfo;
import org.apache.hadoop.hdfs.server.protocol.BlockReportContext;
import org.apache.hadoop.hdfs.server.protocol.DatanodeCommand;
import org.apache.hadoop.hdfs.server.protocol.DatanodeRegistration;
import org.apache.hadoop.hdfs.server.protocol.DatanodeStorage;
import org.apache.hadoop.hdfs.server.protocol.HeartbeatResponse;
import org.apache.hadoop.hdfs.server.protocol.ReceivedDeletedBlockInfo;
import org.apache.hadoop.hdfs.server.protocol.ReceivedDeletedBlockInfo.BlockStatus;
import org.apache.hadoop.hdfs.server.protocol.StorageBlockReport;
import org.apache.hadoop.hdfs.server.protocol.StorageReceivedDeletedBlocks;
import org.apache.hadoop.hdfs.server.protocol.StorageReport;
import org.apache.hadoop.hdfs.server.protocol.VolumeFailureSummary;

/** Simulated chunk servers with one empty disk each; a test decides what they report. */
final class SimulatedDatanodes {
  static final long CAPACITY = 1L << 40;

  private final NamespaceFixture real;
  private final List<String> storages = new ArrayList<>();
  private final Map<String, StorageType> types = new HashMap<>();
  private final Set<String> failed = new HashSet<>();

  SimulatedDatanodes(NamespaceFixture real, int count) throws IOException {
    this.real = real;
    for (int i = 0; i < count; i++) {
      start(i);
    }
  }

  private DatanodeRegistration registration(int index) {
    return new DatanodeRegistration(
        new DatanodeID(
            "127.0.0.1", "localhost", "server-" + index, 1000 + index, 0, 0, 2000 + index),
        new StorageInfo(
            -57, real.identity.namespaceId(), real.identity.clusterId(), 0, NodeType.DATA_NODE),
        null,
        "3.5.0");
  }

  private void start(int index) throws IOException {
    String storage = "disk-" + index;
    storages.add(storage);
    real.datanodes.registerDatanode(registration(index));
    heartbeat(storage);
    reportFully(storage);
  }

  /** The server of a disk has restarted: it registers, and has not scanned its disk yet. */
  void registerAgain(String disk) throws IOException {
    real.datanodes.registerDatanode(registration(storages.indexOf(disk)));
  }

  /** The server of a disk sends a heartbeat; returns the commands of the answer. */
  List<DatanodeCommand> heartbeat(String disk) throws IOException {
    int index = storages.indexOf(disk);
    HeartbeatResponse answer =
        real.datanodes.sendHeartbeat(
            registration(index),
            new StorageReport[] {
              new StorageReport(storage(disk), failed.contains(disk), CAPACITY, 0, CAPACITY, 0, 0)
            },
            0,
            0,
            0,
            0,
            0,
            new VolumeFailureSummary(new String[0], 0, 0),
            true,
            null,
            null);
    return List.of(answer.getCommands());
  }

  private DatanodeStorage storage(String disk) {
    return new DatanodeStorage(
        disk, DatanodeStorage.State.NORMAL, types.getOrDefault(disk, StorageType.DISK));
  }

  /** The server of a disk tells its type. */
  void type(String disk, StorageType type) throws IOException {
    types.put(disk, type);
    heartbeat(disk);
  }

  /** The server of a disk tells that it has failed. */
  void fail(String disk) throws IOException {
    failed.add(disk);
    heartbeat(disk);
  }

  /** A full report of a disk with these finalized replicas. */
  void reportFully(String disk, Block... replicas) throws IOException {
    int index = storages.indexOf(disk);
    BlockListAsLongs.Builder list = BlockListAsLongs.builder();
    for (Block block : replicas) {
      BlockReportReplica replica = new BlockReportReplica(block);
      replica.setState(ReplicaState.FINALIZED);
      list.add(replica);
    }
    real.datanodes.blockReport(
        registration(index),
        real.identity.blockPoolId(),
        new StorageBlockReport[] {new StorageBlockReport(new DatanodeStorage(disk), list.build())},
        new BlockReportContext(1, 0, index + 1, 1));
  }

  /** The disks report that they have received a block. */
  void report(Block block, String[] disks) throws IOException {
    for (String disk : disks) {
      real.datanodes.blockReceivedAndDeleted(
          registration(storages.indexOf(disk)),
          real.identity.blockPoolId(),
          new StorageReceivedDeletedBlocks[] {
            new StorageReceivedDeletedBlocks(
                new DatanodeStorage(disk),
                new ReceivedDeletedBlockInfo[] {
                  new ReceivedDeletedBlockInfo(block, BlockStatus.RECEIVED_BLOCK, null)
                })
          });
    }
  }

  void reportAnywhere(Block block) throws IOException {
    report(block, new String[] {storages.get(0)});
  }
}
