package io.ebbfs.namespace.simulation;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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
  /** Asked before a replica is deleted by order; the namenode must not order what it needs. */
  interface DeletionCheck {
    void mayDelete(SimDisk disk, SimBlock block);
  }

  /** News about a replica that has not been sent yet. */
  private record News(String storageUuid, Block block, BlockStatus status) {}

  private final int number;
  private final DatanodeID id;
  private final Copies copies;
  private final Bug bug;
  private final List<SimDisk> disks = new ArrayList<>();
  private final List<News> unsent = new ArrayList<>();
  private final List<News> lastSent = new ArrayList<>();
  private final List<DatanodeCommand> received = new ArrayList<>();
  private DatanodeRegistration registration;
  private boolean up = true;
  private boolean stalled;
  private long reportId = 1;
  private long diskBytes;

  SimServer(int number, int diskCount, long diskBytes, Copies copies, Bug bug) {
    this.bug = bug;
    this.copies = copies;
    String host = host(number);
    this.number = number;
    this.diskBytes = diskBytes;
    id = new DatanodeID("127.0.0.1", host, host, 10_000 + number, 0, 0, 20_000 + number);
    for (int d = 0; d < diskCount; d++) {
      disks.add(new SimDisk(host + "-disk-" + d, host, copies, diskBytes));
    }
  }

  static String host(int number) {
    return "server-" + number;
  }

  /** From now on, its disks are of this size. */
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

  boolean isUp() {
    return up;
  }

  List<SimDisk> disks() {
    return disks;
  }

  /** The process dies: what was not sent is forgotten, the disks keep what they have. */
  void crash() {
    up = false;
    stalled = false;
    registration = null;
    unsent.clear();
    lastSent.clear();
    received.clear();
  }

  void start() {
    up = true;
    stalled = false;
  }

  boolean isStalled() {
    return stalled;
  }

  /** Hangs: says and does nothing, forgets nothing; old orders are carried out once it goes on. */
  void stall(boolean stalls) {
    stalled = stalls;
  }

  boolean answers() {
    return up && !stalled;
  }

  /** Everything on a disk is gone and the server says so. */
  void failDisk(SimDisk disk) {
    disk.fail();
  }

  /** A new, empty disk takes the place of a failed one. */
  void replaceDisk(SimDisk failed, String newUuid) {
    failed.clear();
    disks.set(disks.indexOf(failed), new SimDisk(newUuid, uuid(), copies, diskBytes));
  }

  /** A block was written whole. */
  void store(SimDisk disk, SimBlock block) {
    disk.put(block);
    unsent.add(new News(disk.uuid, block.toBlock(), BlockStatus.RECEIVED_BLOCK));
  }

  /**
   * Writes the output of a combine. A server has a block once: where it is already, on whatever
   * disk, nothing is written.
   *
   * @return false if it is there already with other bytes
   */
  boolean create(SimDisk disk, SimBlock block) {
    SimBlock existing = find(block.blockId());
    if (existing == null) {
      store(disk, block);
    }
    return existing == null || existing.equals(block);
  }

  /** Bytes of a block rot. */
  void corrupt(SimDisk disk, long blockId) {
    disk.put(disk.get(blockId).corrupted());
  }

  /** Reads everything that it has, and tells what is corrupt. */
  void scrub(DatanodeProtocol namenode) throws IOException {
    if (registration == null) {
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
    disk.remove(blockId);
  }

  // ---- what it sends
  // -----------------------------------------------------------------------------

  /** One heartbeat; the answer's commands wait until {@link #obey}. */
  void heartbeat(DatanodeProtocol namenode) throws IOException {
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

  /** All blocks of all working disks. */
  void fullReport(DatanodeProtocol namenode) throws IOException {
    if (registration == null) {
      return;
    }
    incrementalReport(namenode); // news go first, as from the chunk server
    List<StorageBlockReport> reports = new ArrayList<>();
    for (SimDisk disk : disks) {
      if (!disk.hasFailed()) {
        reports.add(new StorageBlockReport(storage(disk), disk.report()));
      }
    }
    namenode.blockReport(
        registration,
        registration.getNamespaceInfo() == null
            ? ""
            : registration.getNamespaceInfo().getBlockPoolID(),
        reports.toArray(StorageBlockReport[]::new),
        new BlockReportContext(1, 0, reportId++, 0));
  }

  /** The news so far; they are kept until the namenode has taken them. */
  void incrementalReport(DatanodeProtocol namenode) throws IOException {
    if (registration == null || unsent.isEmpty()) {
      return;
    }
    lastSent.clear();
    lastSent.addAll(unsent);
    send(namenode);
    unsent.clear();
  }

  /** The last news once more: a message that arrives twice. */
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

  // ---- what it is told
  // ---------------------------------------------------------------------------

  boolean hasOrders() {
    return !received.isEmpty();
  }

  /** Carries out the commands received so far. */
  void obey(SimCluster cluster, DeletionCheck check) {
    for (DatanodeCommand command : received) {
      if (command instanceof BlockCommand blocks) {
        if (command.getAction() == DatanodeProtocol.DNA_INVALIDATE) {
          invalidate(blocks, check);
        } else if (command.getAction() == DatanodeProtocol.DNA_TRANSFER) {
          transfer(blocks, cluster);
        }
      }
    }
    received.clear();
  }

  private void invalidate(BlockCommand command, DeletionCheck check) {
    for (Block block : command.getBlocks()) {
      for (SimDisk disk : disks) {
        SimBlock known = disk.get(block.getBlockId());
        if (known != null && known.generationStamp() <= block.getGenerationStamp()) {
          check.mayDelete(disk, known);
          disk.remove(known.blockId());
          unsent.add(new News(disk.uuid, known.toBlock(), BlockStatus.DELETED_BLOCK));
          if (bug == Bug.DELETES_TOO_MUCH && !disk.isEmpty()) {
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
            && !disk.hasFailed()
            && disk.free() >= block.lengthBytes()
            && !target.holds(block.blockId())) {
          target.store(disk, block);
        }
      }
    }
  }

  boolean holds(long blockId) {
    return find(blockId) != null;
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
