package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterIdentity;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.protocol.Block;
import org.apache.hadoop.hdfs.protocol.BlockListAsLongs;
import org.apache.hadoop.hdfs.protocol.BlockListAsLongs.BlockReportReplica;
import org.apache.hadoop.hdfs.protocol.DatanodeID;
import org.apache.hadoop.hdfs.server.common.HdfsServerConstants.NodeType;
import org.apache.hadoop.hdfs.server.common.HdfsServerConstants.ReplicaState;
import org.apache.hadoop.hdfs.server.common.StorageInfo;
import org.apache.hadoop.hdfs.server.protocol.BlockCommand;
import org.apache.hadoop.hdfs.server.protocol.BlockReportContext;
import org.apache.hadoop.hdfs.server.protocol.DatanodeCommand;
import org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol;
import org.apache.hadoop.hdfs.server.protocol.DatanodeRegistration;
import org.apache.hadoop.hdfs.server.protocol.DatanodeStorage;
import org.apache.hadoop.hdfs.server.protocol.HeartbeatResponse;
import org.apache.hadoop.hdfs.server.protocol.ReceivedDeletedBlockInfo;
import org.apache.hadoop.hdfs.server.protocol.ReceivedDeletedBlockInfo.BlockStatus;
import org.apache.hadoop.hdfs.server.protocol.StorageBlockReport;
import org.apache.hadoop.hdfs.server.protocol.StorageReceivedDeletedBlocks;
import org.apache.hadoop.hdfs.server.protocol.StorageReport;
import org.apache.hadoop.hdfs.server.protocol.VolumeFailureSummary;

/**
 * A chunk server without files: it knows the replicas on each of its disks and obeys commands. Its
 * reports wait until the test delivers them. Single-threaded.
 */
final class SimulatedServer {
  static final long CAPACITY = 1L << 30;

  /** Sees each replica that a command deletes. */
  interface Witness {
    void deleted(SimulatedServer server, String storage, Block block);
  }

  private interface Message {
    void deliver(DatanodeProtocol namenode) throws IOException;
  }

  final String uuid;
  final Map<String, Map<Long, Block>> disks = new LinkedHashMap<>();
  private final Set<Long> open = new HashSet<>();
  final Map<String, StorageType> types = new HashMap<>();
  boolean up = true;

  /** Whether copies from other servers do not arrive here. */
  boolean isUnreachable;

  int activeTransfers;
  private final int port;
  private final ClusterIdentity identity;
  private final Map<String, SimulatedServer> peers;
  private final Witness witness;
  private final Deque<Message> incremental = new ArrayDeque<>();
  private final Deque<Message> full = new ArrayDeque<>();
  private long reportId;

  SimulatedServer(
      int number,
      int diskCount,
      ClusterIdentity identity,
      Map<String, SimulatedServer> peers,
      Witness witness) {
    this.uuid = "server-%02d".formatted(number);
    this.port = 10_000 + number;
    this.identity = identity;
    this.peers = peers;
    this.witness = witness;
    for (int i = 0; i < diskCount; i++) {
      disks.put("DS-%02d-%d".formatted(number, i), new TreeMap<>());
    }
    peers.put(uuid, this);
  }

  DatanodeRegistration registration() {
    return new DatanodeRegistration(
        new DatanodeID("127.0.0.1", "localhost", uuid, port, 0, 0, port + 20_000),
        new StorageInfo(-57, identity.namespaceId(), identity.clusterId(), 0, NodeType.DATA_NODE),
        null,
        "3.5.0");
  }

  void register(DatanodeProtocol namenode) throws IOException {
    namenode.registerDatanode(registration());
    full.clear(); // what was made for the last registration was refused
    reportAll();
  }

  /** Makes a full report of every disk, to be delivered later. */
  void reportAll() {
    disks.keySet().forEach(this::report);
  }

  private void report(String storage) {
    BlockListAsLongs.Builder list = BlockListAsLongs.builder();
    for (Block block : disks.get(storage).values()) {
      BlockReportReplica replica = new BlockReportReplica(block);
      replica.setState(
          open.contains(block.getBlockId()) ? ReplicaState.RBW : ReplicaState.FINALIZED);
      list.add(replica);
    }
    StorageBlockReport[] reports = {
      new StorageBlockReport(new DatanodeStorage(storage), list.build())
    };
    BlockReportContext context = new BlockReportContext(1, 0, ++reportId, 1);
    full.add(
        namenode -> {
          if (disks.containsKey(storage)) {
            namenode.blockReport(registration(), identity.blockPoolId(), reports, context);
          }
        });
  }

  /** Sends a heartbeat and obeys the commands of the answer. */
  void heartbeat(DatanodeProtocol namenode) throws IOException {
    if (!up) {
      return;
    }
    StorageReport[] reports =
        disks.entrySet().stream()
            .map(
                disk -> {
                  long used = disk.getValue().values().stream().mapToLong(Block::getNumBytes).sum();
                  return new StorageReport(
                      new DatanodeStorage(
                          disk.getKey(),
                          DatanodeStorage.State.NORMAL,
                          types.getOrDefault(disk.getKey(), StorageType.DISK)),
                      false,
                      CAPACITY,
                      used,
                      CAPACITY - used,
                      used,
                      0);
                })
            .toArray(StorageReport[]::new);
    HeartbeatResponse answer =
        namenode.sendHeartbeat(
            registration(),
            reports,
            0,
            0,
            0,
            activeTransfers,
            0,
            new VolumeFailureSummary(new String[0], 0, 0),
            true,
            null,
            null);
    for (DatanodeCommand command : answer.getCommands()) {
      obey(command, namenode);
    }
  }

  private void obey(DatanodeCommand command, DatanodeProtocol namenode) throws IOException {
    if (command.getAction() == DatanodeProtocol.DNA_REGISTER) {
      register(namenode);
      heartbeat(namenode);
    } else if (command.getAction() == DatanodeProtocol.DNA_INVALIDATE) {
      for (Block block : ((BlockCommand) command).getBlocks()) {
        delete(block);
      }
    } else if (command.getAction() == DatanodeProtocol.DNA_TRANSFER) {
      BlockCommand transfer = (BlockCommand) command;
      for (int i = 0; i < transfer.getBlocks().length; i++) {
        SimulatedServer target = peers.get(transfer.getTargets()[i][0].getDatanodeUuid());
        send(transfer.getBlocks()[i], target, transfer.getTargetStorageIDs()[i][0]);
      }
    } else {
      throw new AssertionError("order " + command.getAction() + " was not expected");
    }
  }

  /** Moves a replica to another disk of this server. */
  private void relocate(Block block, String storage) {
    for (Map.Entry<String, Map<Long, Block>> disk : disks.entrySet()) {
      if (!disk.getKey().equals(storage) && same(disk.getValue().get(block.getBlockId()), block)) {
        disk.getValue().remove(block.getBlockId());
        write(storage, block);
        tell(disk.getKey(), block, BlockStatus.DELETED_BLOCK);
        return;
      }
    }
  }

  private void send(Block block, SimulatedServer target, String storage) {
    if (target == this) {
      relocate(block, storage);
      return;
    }
    boolean here =
        disks.values().stream().anyMatch(disk -> same(disk.get(block.getBlockId()), block));
    boolean there =
        target.disks.values().stream().anyMatch(disk -> disk.containsKey(block.getBlockId()));
    if (here && !there && target.accepts(storage)) {
      target.write(storage, block);
    }
  }

  private boolean accepts(String storage) {
    return up && !isUnreachable && disks.containsKey(storage);
  }

  private static boolean same(Block one, Block other) {
    return one != null && one.getGenerationStamp() == other.getGenerationStamp();
  }

  private void delete(Block block) {
    disks.forEach(
        (storage, replicas) -> {
          if (same(replicas.get(block.getBlockId()), block)) {
            witness.deleted(this, storage, block);
            replicas.remove(block.getBlockId());
            tell(storage, block, BlockStatus.DELETED_BLOCK);
          }
        });
  }

  /** A replica was written here. */
  void write(String storage, Block block) {
    writeFor(storage, block, null);
  }

  /** A balancer moved a replica here from another server, whose uuid is given; null for none. */
  void writeFor(String storage, Block block, String otherUuid) {
    open.remove(block.getBlockId());
    disks.get(storage).put(block.getBlockId(), new Block(block));
    tell(storage, block, BlockStatus.RECEIVED_BLOCK, otherUuid);
  }

  /** A replica was written here, and the server died before it reported the replica. */
  void writeQuietly(String storage, Block block) {
    disks.get(storage).put(block.getBlockId(), new Block(block));
  }

  /** A writer went away here: the replica is on the disk and was never finalized. */
  void leaveOpen(String storage, Block block) {
    writeQuietly(storage, block);
    open.add(block.getBlockId());
  }

  private void tell(String storage, Block block, BlockStatus status) {
    tell(storage, block, status, null);
  }

  private void tell(String storage, Block block, BlockStatus status, String hint) {
    StorageReceivedDeletedBlocks[] news = {
      new StorageReceivedDeletedBlocks(
          new DatanodeStorage(storage),
          new ReceivedDeletedBlockInfo[] {
            new ReceivedDeletedBlockInfo(new Block(block), status, hint)
          })
    };
    incremental.add(
        namenode -> {
          if (disks.containsKey(storage)) {
            namenode.blockReceivedAndDeleted(registration(), identity.blockPoolId(), news);
          }
        });
  }

  boolean hasIncremental() {
    return up && !incremental.isEmpty();
  }

  boolean hasFull() {
    return up && !full.isEmpty();
  }

  /** Delivers the next incremental report, perhaps twice. An unregistered server keeps it. */
  void deliverIncremental(DatanodeProtocol namenode, boolean twice) throws IOException {
    Message message = incremental.peek();
    message.deliver(namenode);
    if (twice) {
      message.deliver(namenode);
    }
    incremental.remove();
  }

  void deliverFull(DatanodeProtocol namenode) throws IOException {
    full.remove().deliver(namenode);
  }

  /** The process is killed: its disks stay, its messages are lost. */
  void kill() {
    up = false;
    incremental.clear();
    full.clear();
  }

  List<String> storages() {
    return new ArrayList<>(disks.keySet());
  }
}
