package io.ebbfs.namenode;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.protocol.Block;
import org.apache.hadoop.hdfs.protocol.BlockListAsLongs;
import org.apache.hadoop.hdfs.protocol.DatanodeID;
import org.apache.hadoop.hdfs.protocolPB.DatanodeProtocolClientSideTranslatorPB;
import org.apache.hadoop.hdfs.security.token.block.ExportedBlockKeys;
import org.apache.hadoop.hdfs.server.common.HdfsServerConstants.NodeType;
import org.apache.hadoop.hdfs.server.common.StorageInfo;
import org.apache.hadoop.hdfs.server.protocol.BlockRecoveryCommand;
import org.apache.hadoop.hdfs.server.protocol.BlockRecoveryCommand.RecoveringBlock;
import org.apache.hadoop.hdfs.server.protocol.BlockReportContext;
import org.apache.hadoop.hdfs.server.protocol.DatanodeCommand;
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
import org.apache.hadoop.hdfs.server.protocol.VolumeFailureSummary;

/**
 * Chunk servers without bytes, of any namenode that speaks HDFS's protocol: they send heartbeats,
 * and report the blocks that a test names.
 */
public final class ReportingServers implements AutoCloseable {
  private static final long CAPACITY = 1L << 40;

  static final List<StorageType> ONE_DISK = List.of(StorageType.DISK);

  /** Waits until all reports are applied: HDFS's NameNode answers a report before that. */
  interface Applied {
    void await() throws IOException;
  }

  private final DatanodeProtocolClientSideTranslatorPB namenode;
  private final NamespaceInfo namespace;
  private final Applied reports;
  private final List<StorageType> types;
  private final List<DatanodeRegistration> servers = new ArrayList<>();
  private final Queue<RecoveringBlock> recoveries = new ConcurrentLinkedQueue<>();
  private final ScheduledExecutorService heartbeats = Executors.newSingleThreadScheduledExecutor();

  ReportingServers(InetSocketAddress address, Applied reports, int count, List<StorageType> types)
      throws IOException {
    this(address, reports, IntStream.range(50_000, 50_000 + count).boxed().toList(), types);
  }

  /**
   * Servers of EbbFS's namenode.
   *
   * @param ports of data transfer, one for each server
   */
  public ReportingServers(InetSocketAddress address, List<Integer> ports) throws IOException {
    this(address, () -> {}, ports, ONE_DISK);
  }

  private ReportingServers(
      InetSocketAddress address, Applied reports, List<Integer> ports, List<StorageType> types)
      throws IOException {
    this.reports = reports;
    this.types = types;
    namenode = new DatanodeProtocolClientSideTranslatorPB(address, new Configuration());
    namespace = namenode.versionRequest();
    for (int i = 0; i < ports.size(); i++) {
      DatanodeRegistration server =
          new DatanodeRegistration(
              new DatanodeID(
                  "127.0.0.1", "localhost", "server-" + i, ports.get(i), 50_100 + i, 0, 50_200 + i),
              new StorageInfo(
                  namespace.getLayoutVersion(),
                  namespace.getNamespaceID(),
                  namespace.getClusterID(),
                  namespace.getCTime(),
                  NodeType.DATA_NODE),
              ExportedBlockKeys.DUMMY_KEYS,
              "3.5.0");
      DatanodeRegistration registered = namenode.registerDatanode(server);
      registered.setNamespaceInfo(namespace);
      servers.add(registered);
      beat(i);
      namenode.blockReport(
          servers.get(i),
          namespace.getBlockPoolID(),
          disks(i).stream()
              .map(disk -> new StorageBlockReport(disk, BlockListAsLongs.EMPTY))
              .toArray(StorageBlockReport[]::new),
          new BlockReportContext(1, 0, i + 1, 0));
    }
    heartbeats.scheduleWithFixedDelay(this::beatAll, 1, 1, TimeUnit.SECONDS);
  }

  /** The disk whose replicas a server reports. */
  private DatanodeStorage disk(int server) {
    return disks(server).get(0);
  }

  private List<DatanodeStorage> disks(int server) {
    return types.stream()
        .map(
            type ->
                new DatanodeStorage(
                    "disk-%d-%s".formatted(server, type), DatanodeStorage.State.NORMAL, type))
        .toList();
  }

  private void beatAll() {
    for (int i = 0; i < servers.size(); i++) {
      try {
        beat(i);
      } catch (IOException e) {
        return; // the namenode has ended
      }
    }
  }

  private void beat(int server) throws IOException {
    HeartbeatResponse answer =
        namenode.sendHeartbeat(
            servers.get(server),
            disks(server).stream()
                .map(disk -> new StorageReport(disk, false, CAPACITY, 0, CAPACITY, 0, 0))
                .toArray(StorageReport[]::new),
            0,
            0,
            0,
            0,
            0,
            new VolumeFailureSummary(new String[0], 0, 0),
            false,
            SlowPeerReports.EMPTY_REPORT,
            SlowDiskReports.EMPTY_REPORT);
    for (DatanodeCommand command : answer.getCommands()) {
      if (command instanceof BlockRecoveryCommand recovery) {
        recoveries.addAll(recovery.getRecoveringBlocks());
      }
    }
  }

  /** Beats until the namenode has ordered a recovery, and takes the order. */
  RecoveringBlock awaitRecovery() throws IOException {
    long deadline = System.nanoTime() + 20_000_000_000L;
    while (recoveries.isEmpty()) {
      if (System.nanoTime() > deadline) {
        throw new IOException("no recovery was ordered");
      }
      for (int i = 0; i < servers.size(); i++) {
        beat(i);
      }
    }
    return recoveries.remove();
  }

  /** The next recovery that the namenode has ordered, if there is one. */
  public Optional<RecoveringBlock> takeRecovery() throws IOException {
    for (int i = 0; i < servers.size() && recoveries.isEmpty(); i++) {
      beat(i);
    }
    return Optional.ofNullable(recoveries.poll());
  }

  /** All servers have cut their replicas, and one of them tells the namenode. */
  void recovered(RecoveringBlock order) throws IOException {
    recovered(order, order.getNewBlock().getNumBytes());
  }

  /**
   * All servers have brought their replicas to this length, and one of them tells the namenode. A
   * block without bytes is removed.
   */
  public void recovered(RecoveringBlock order, long lengthBytes) throws IOException {
    Block to = order.getNewBlock() == null ? order.getBlock().getLocalBlock() : order.getNewBlock();
    Block cut = new Block(to.getBlockId(), lengthBytes, order.getNewGenerationStamp());
    DatanodeID[] holders = servers.toArray(DatanodeID[]::new);
    String[] disks = new String[holders.length];
    for (int i = 0; i < holders.length; i++) {
      disks[i] = disk(i).getStorageID();
    }
    namenode.commitBlockSynchronization(
        order.getBlock(),
        order.getNewGenerationStamp(),
        lengthBytes,
        true,
        lengthBytes == 0,
        holders,
        disks);
    if (lengthBytes > 0) {
      report(cut);
    }
  }

  /** All servers report that they have received a block. */
  public void report(Block block) throws IOException {
    report(block, BlockStatus.RECEIVED_BLOCK);
  }

  /** All servers report that they have a block no more. */
  void reportLost(Block block) throws IOException {
    report(block, BlockStatus.DELETED_BLOCK);
  }

  private void report(Block block, BlockStatus status) throws IOException {
    for (int i = 0; i < servers.size(); i++) {
      namenode.blockReceivedAndDeleted(
          servers.get(i),
          namespace.getBlockPoolID(),
          new StorageReceivedDeletedBlocks[] {
            new StorageReceivedDeletedBlocks(
                disk(i),
                new ReceivedDeletedBlockInfo[] {new ReceivedDeletedBlockInfo(block, status, null)})
          });
    }
    reports.await();
  }

  @Override
  public void close() throws IOException {
    heartbeats.shutdownNow();
    namenode.close();
  }
}
