package io.ebbfs.verify.simulator;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.protocol.Block;
import org.apache.hadoop.hdfs.protocol.DatanodeID;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo.DatanodeInfoBuilder;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.apache.hadoop.hdfs.security.token.block.ExportedBlockKeys;
import org.apache.hadoop.hdfs.server.common.HdfsServerConstants.NodeType;
import org.apache.hadoop.hdfs.server.common.StorageInfo;
import org.apache.hadoop.hdfs.server.protocol.BlockCommand;
import org.apache.hadoop.hdfs.server.protocol.BlockRecoveryCommand;
import org.apache.hadoop.hdfs.server.protocol.BlockRecoveryCommand.RecoveringBlock;
import org.apache.hadoop.hdfs.server.protocol.BlockReportContext;
import org.apache.hadoop.hdfs.server.protocol.DatanodeCommand;
import org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol;
import org.apache.hadoop.hdfs.server.protocol.DatanodeRegistration;
import org.apache.hadoop.hdfs.server.protocol.DatanodeStorage;
import org.apache.hadoop.hdfs.server.protocol.HeartbeatResponse;
import org.apache.hadoop.hdfs.server.protocol.NamespaceInfo;
import org.apache.hadoop.hdfs.server.protocol.ReceivedDeletedBlockInfo;
import org.apache.hadoop.hdfs.server.protocol.ReceivedDeletedBlockInfo.BlockStatus;
import org.apache.hadoop.hdfs.server.protocol.SlowDiskReports;
import org.apache.hadoop.hdfs.server.protocol.SlowPeerReports;
import org.apache.hadoop.hdfs.server.protocol.StorageBlockReport;
import org.apache.hadoop.hdfs.server.protocol.StorageReceivedDeletedBlocks;
import org.apache.hadoop.hdfs.server.protocol.StorageReport;

/** A simulated chunk server, as the namenode sees it through DatanodeProtocol. */
final class SimServer {
  /** Checks each deletion that the namenode has ordered, before it happens. */
  interface DeletionCheck {
    void check(SimDisk disk, SimBlock block);
  }

  /** A replica that was received or deleted, for an incremental report. */
  private record News(String storageUuid, Block block, BlockStatus status) {}

  private final int number;
  private final DatanodeID id;
  private final SimReplicaMap replicas;
  private final SimNetwork network;
  private final DeletionCheck deletions;
  private final PlantedBug bug;
  private final List<SimDisk> disks = new ArrayList<>();
  private final SimTransfers transfers = new SimTransfers(this);
  private final List<News> unsent = new ArrayList<>();
  private final List<News> lastSent = new ArrayList<>();
  private final List<DatanodeCommand> received = new ArrayList<>();
  private DatanodeRegistration registration;
  private boolean up = true;
  private boolean stalled;
  private boolean scanned = true;
  private long reportId = 1;
  private long deletionOrders;
  // A full report that is under way, or null.
  private List<StorageBlockReport> lateReport;
  private long lateReportMadeMillis;
  private long diskBytes;

  SimServer(
      int number,
      int diskCount,
      long diskBytes,
      SimReplicaMap replicas,
      SimNetwork network,
      DeletionCheck deletions,
      PlantedBug bug) {
    this.deletions = deletions;
    this.network = network;
    this.bug = bug;
    this.replicas = replicas;
    String host = host(number);
    this.number = number;
    this.diskBytes = diskBytes;
    id = new DatanodeID("127.0.0.1", host, host, 10_000 + number, 0, 0, 20_000 + number);
    for (int d = 0; d < diskCount; d++) {
      disks.add(new SimDisk(host + "-disk-" + d, host, replicas, diskBytes));
    }
  }

  static String host(int number) {
    return "server-" + number;
  }

  /** Gives all disks, present and future, this size. */
  void resizeDisks(long bytes) {
    diskBytes = bytes;
    disks.forEach(disk -> disk.resize(bytes));
  }

  int number() {
    return number;
  }

  String uuid() {
    return id.getDatanodeUuid();
  }

  DatanodeID id() {
    return id;
  }

  /** What clients write to this server. */
  SimTransfers transfers() {
    return transfers;
  }

  /** The number of orders to delete replicas that the server has received so far. */
  long deletionOrders() {
    return deletionOrders;
  }

  boolean isUp() {
    return up;
  }

  List<SimDisk> disks() {
    return disks;
  }

  /** The process dies. It forgets unsent news; the disks keep their blocks. */
  void crash() {
    up = false;
    stalled = false;
    registration = null;
    unsent.clear();
    lastSent.clear();
    received.clear();
    lateReport = null;
    transfers.crash();
  }

  /** The server follows another namenode. What waits for its execution is dropped. */
  void leaveNamenode() {
    registration = null;
    received.clear();
    lastSent.clear();
    lateReport = null;
  }

  /** The machine crashes, with what was not synced. */
  void losePower(Random random) {
    crash();
    disks.forEach(disk -> disk.losePower(random));
  }

  /** Syncs a block to its disk. */
  void sync(long blockId) {
    disks.forEach(disk -> disk.sync(blockId));
  }

  /** The process starts. It answers nobody until it has scanned its disks. */
  void start() {
    up = true;
    stalled = false;
    scanned = false;
  }

  /** The process knows what is on its disks. */
  void scan() {
    scanned = true;
  }

  /** Whether the process says that it is not ready yet. */
  boolean isScanning() {
    return up && !stalled && !scanned;
  }

  /** Whether the server leaves the bytes that a recovery should cut. */
  boolean keepsTails() {
    return bug == PlantedBug.KEEPS_TAILS;
  }

  /** Whether the server tells block recoveries that it has no replica, although it cannot know. */
  boolean deniesReplicas() {
    return bug == PlantedBug.RECOVERS_BEFORE_SCAN && isScanning();
  }

  /** Whether the server says that it has no block, although it cannot know. */
  boolean deniesEverything() {
    return bug == PlantedBug.ANSWERS_BEFORE_SCAN && isScanning();
  }

  boolean isStalled() {
    return stalled;
  }

  /** The process hangs or goes on. It forgets nothing and executes old commands when it goes on. */
  void stall(boolean stalls) {
    stalled = stalls;
  }

  /** Whether the server serves requests and sends heartbeats. */
  boolean answers() {
    return up && !stalled && scanned;
  }

  /** A disk fails with all its blocks, and the server reports it. */
  void failDisk(SimDisk disk) {
    disk.fail();
  }

  /** Replaces a failed disk by an empty one. */
  void replaceDisk(SimDisk failed, String newUuid) {
    failed.clear();
    disks.set(disks.indexOf(failed), new SimDisk(newUuid, uuid(), replicas, diskBytes));
  }

  /** Stores a finalized block. Its bytes are not synced to the disk. */
  void store(SimDisk disk, SimBlock block) {
    disk.putUnsynced(block);
    unsent.add(new News(disk.uuid, block.toBlock(), BlockStatus.RECEIVED_BLOCK));
  }

  /**
   * Writes the output of a combine. If any disk of the server has the block, nothing is written: a
   * server has a block only once. The caller has made room by {@link SimTransfers#makeRoomFor}.
   *
   * @return false if the server has the block with other content
   */
  boolean create(SimDisk disk, SimBlock block) {
    SimBlock existing = find(block.blockId());
    if (existing == null) {
      store(disk, block);
      disk.sync(block.blockId());
    }
    return existing == null || existing.equals(block);
  }

  /** Corrupts bytes of a block. */
  void corrupt(SimDisk disk, long blockId) {
    replicas.disturb(blockId);
    disk.put(disk.get(blockId).corrupted());
  }

  /** Reads all blocks and reports the corrupt ones. */
  void scrub(DatanodeProtocol namenode) throws IOException {
    if (registration == null || isAlone()) {
      return;
    }
    String pool = registration.getNamespaceInfo().getBlockPoolID();
    for (SimDisk disk : disks) {
      for (SimBlock block : disk.blocks()) {
        if (block.corrupt()) {
          DatanodeInfo me = new DatanodeInfoBuilder().setNodeID(id).build();
          namenode.reportBadBlocks(
              new LocatedBlock[] {
                new LocatedBlock(
                    new ExtendedBlock(pool, block.toBlock()),
                    new DatanodeInfo[] {me},
                    new String[] {disk.uuid},
                    new StorageType[] {StorageType.DISK})
              });
        }
      }
    }
  }

  /** Loses a single block without noticing it. */
  void loseQuietly(SimDisk disk, long blockId) {
    replicas.disturb(blockId);
    disk.remove(blockId);
  }

  /** Whether the server cannot reach the namenode. */
  private boolean isAlone() {
    return network.isCut(uuid(), SimNetwork.NAMENODE);
  }

  // ---- messages ---------------------------------------------------------------------------------

  /** Sends a heartbeat. The commands of the answer wait for {@link #executeCommands}. */
  void heartbeat(DatanodeProtocol namenode) throws IOException {
    if (isAlone()) {
      return;
    }
    boolean isNew = registration == null;
    if (isNew) {
      register(namenode);
    }
    List<StorageReport> reports = new ArrayList<>();
    for (SimDisk disk : disks) {
      long used = disk.used();
      reports.add(
          new StorageReport(
              storage(disk), disk.hasFailed(), disk.capacity(), used, disk.free(), used, 0));
    }
    HeartbeatResponse response =
        namenode.sendHeartbeat(
            registration,
            reports.toArray(StorageReport[]::new),
            0,
            0,
            0,
            0,
            0,
            null,
            false,
            SlowPeerReports.EMPTY_REPORT,
            SlowDiskReports.EMPTY_REPORT);
    if (isNew) {
      fullReport(namenode);
    }
    for (DatanodeCommand command : response.getCommands()) {
      if (command == null) {
        continue;
      }
      if (command.getAction() == DatanodeProtocol.DNA_REGISTER) {
        register(namenode);
        fullReport(namenode);
        continue;
      }
      if (command.getAction() == DatanodeProtocol.DNA_INVALIDATE) {
        // The server drops the replica from its map at once, and from the disk later.
        deletionOrders += ((BlockCommand) command).getBlocks().length;
        if (bug == PlantedBug.FORGETS_ORDERS) {
          received.add(command);
        } else {
          invalidate((BlockCommand) command);
        }
      } else {
        received.add(command);
      }
    }
  }

  private void register(DatanodeProtocol namenode) throws IOException {
    NamespaceInfo info = namenode.versionRequest();
    DatanodeRegistration mine =
        new DatanodeRegistration(
            id,
            new StorageInfo(
                info.getLayoutVersion(),
                info.getNamespaceID(),
                info.getClusterID(),
                0,
                NodeType.DATA_NODE),
            new ExportedBlockKeys(),
            "3.5.0");
    mine.setNamespaceInfo(info);
    registration = namenode.registerDatanode(mine);
  }

  /** Reports all blocks of all working disks. */
  void fullReport(DatanodeProtocol namenode) throws IOException {
    if (registration == null || isAlone()) {
      return;
    }
    // Like the real chunk server: the news first.
    incrementalReport(namenode);
    send(namenode, allReplicas());
  }

  private List<StorageBlockReport> allReplicas() {
    List<StorageBlockReport> reports = new ArrayList<>();
    for (SimDisk disk : disks) {
      if (!disk.hasFailed()) {
        reports.add(new StorageBlockReport(storage(disk), disk.report()));
      }
    }
    return reports;
  }

  /** Makes a full report that is long under way: other messages overtake it. */
  void makeLateReport(long nowMillis) {
    if (registration != null) {
      lateReport = allReplicas();
      lateReportMadeMillis = nowMillis;
    }
  }

  /** The late report arrives, if it is not older than any report may be. */
  boolean sendLateReport(DatanodeProtocol namenode, long nowMillis, long mostMillis)
      throws IOException {
    List<StorageBlockReport> late = lateReport;
    lateReport = null;
    if (late == null || registration == null || nowMillis - lateReportMadeMillis > mostMillis) {
      return false;
    }
    send(namenode, late);
    return true;
  }

  private void send(DatanodeProtocol namenode, List<StorageBlockReport> reports)
      throws IOException {
    namenode.blockReport(
        registration,
        registration.getNamespaceInfo() == null
            ? ""
            : registration.getNamespaceInfo().getBlockPoolID(),
        reports.toArray(StorageBlockReport[]::new),
        new BlockReportContext(1, 0, reportId++, 0));
  }

  /** Sends the news. They are kept until the namenode has accepted them. */
  void incrementalReport(DatanodeProtocol namenode) throws IOException {
    if (registration == null || unsent.isEmpty() || isAlone()) {
      return;
    }
    lastSent.clear();
    lastSent.addAll(unsent);
    send(namenode);
    unsent.clear();
  }

  /** Sends the last news again, like a message that arrives twice. */
  void repeatIncrementalReport(DatanodeProtocol namenode) throws IOException {
    if (registration != null && !lastSent.isEmpty()) {
      send(namenode);
    }
  }

  private void send(DatanodeProtocol namenode) throws IOException {
    Map<String, List<ReceivedDeletedBlockInfo>> byDisk = new TreeMap<>();
    for (News news : lastSent) {
      byDisk
          .computeIfAbsent(news.storageUuid(), uuid -> new ArrayList<>())
          .add(new ReceivedDeletedBlockInfo(news.block(), news.status(), null));
    }
    List<StorageReceivedDeletedBlocks> blocks = new ArrayList<>();
    byDisk.forEach(
        (uuid, list) ->
            blocks.add(
                new StorageReceivedDeletedBlocks(
                    new DatanodeStorage(uuid, DatanodeStorage.State.NORMAL, StorageType.DISK),
                    list.toArray(ReceivedDeletedBlockInfo[]::new))));
    namenode.blockReceivedAndDeleted(
        registration,
        registration.getNamespaceInfo() == null
            ? ""
            : registration.getNamespaceInfo().getBlockPoolID(),
        blocks.toArray(StorageReceivedDeletedBlocks[]::new));
  }

  // ---- commands ---------------------------------------------------------------------------------

  /** Whether the server has the order to lead a block recovery. */
  boolean isToRecover() {
    return received.stream().anyMatch(BlockRecoveryCommand.class::isInstance);
  }

  /** Executes the commands received so far. */
  void executeCommands(SimCluster cluster, DatanodeProtocol namenode) {
    List<DatanodeCommand> commands = List.copyOf(received);
    received.clear();
    for (DatanodeCommand command : commands) {
      if (command instanceof BlockRecoveryCommand recoveries) {
        for (RecoveringBlock recovering : recoveries.getRecoveringBlocks()) {
          recover(cluster, namenode, recovering);
        }
      } else if (command instanceof BlockCommand blocks) {
        if (command.getAction() == DatanodeProtocol.DNA_TRANSFER) {
          transfer(blocks, cluster);
        } else if (command.getAction() == DatanodeProtocol.DNA_INVALIDATE) {
          invalidate(blocks);
        }
      }
    }
  }

  /** A recovery that the namenode refuses is over: the namenode orders another. */
  private void recover(SimCluster cluster, DatanodeProtocol namenode, RecoveringBlock recovering) {
    if (isAlone()) {
      return;
    }
    try {
      new SimBlockRecovery(cluster, uuid(), recovering).run(namenode);
    } catch (IOException e) {
      cluster.events().add("fault block recovery refused");
    }
  }

  private void invalidate(BlockCommand command) {
    for (Block block : command.getBlocks()) {
      for (SimDisk disk : disks) {
        SimOpenReplica open = disk.open(block.getBlockId());
        if (open != null && open.generationStamp() <= block.getGenerationStamp()) {
          disk.remove(open);
          transfers.forget(block.getBlockId());
          unsent.add(
              new News(
                  disk.uuid,
                  new Block(open.blockId, open.lengthBytes(), open.generationStamp()),
                  BlockStatus.DELETED_BLOCK));
        }
        SimBlock known = disk.get(block.getBlockId());
        if (known != null && known.generationStamp() <= block.getGenerationStamp()) {
          deletions.check(disk, known);
          disk.remove(known.blockId());
          unsent.add(new News(disk.uuid, known.toBlock(), BlockStatus.DELETED_BLOCK));
          if (bug == PlantedBug.DELETES_TOO_MUCH && !disk.isEmpty()) {
            disk.remove(disk.blockIds().iterator().next());
          }
        }
      }
    }
  }

  private void transfer(BlockCommand command, SimCluster cluster) {
    for (int b = 0; b < command.getBlocks().length; b++) {
      SimBlock block = find(command.getBlocks()[b].getBlockId());
      boolean readable = block != null && !block.corrupt();
      for (int t = 0; readable && t < command.getTargets()[b].length; t++) {
        SimServer target = cluster.server(command.getTargets()[b][t].getDatanodeUuid());
        SimDisk disk = target == null ? null : target.disk(command.getTargetStorageIDs()[b][t]);
        if (disk != null
            && target.answers()
            && !network.isCut(uuid(), target.uuid())
            && !disk.hasFailed()
            && disk.free() >= block.lengthBytes()
            && !target.holds(block.blockId())) {
          target.store(disk, block);
        }
      }
    }
  }

  boolean holds(long blockId) {
    return find(blockId) != null || disks.stream().anyMatch(disk -> disk.open(blockId) != null);
  }

  SimBlock find(long blockId) {
    for (SimDisk disk : disks) {
      SimBlock block = disk.get(blockId);
      if (block != null) {
        return block;
      }
    }
    return null;
  }

  SimDisk disk(String storageUuid) {
    return disks.stream().filter(d -> d.uuid.equals(storageUuid)).findFirst().orElse(null);
  }

  private static DatanodeStorage storage(SimDisk disk) {
    return new DatanodeStorage(
        disk.uuid,
        disk.hasFailed() ? DatanodeStorage.State.FAILED : DatanodeStorage.State.NORMAL,
        StorageType.DISK);
  }
}
