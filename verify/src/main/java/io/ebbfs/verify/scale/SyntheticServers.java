package io.ebbfs.verify.scale;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.hdfs.protocol.Block;
import org.apache.hadoop.hdfs.protocol.BlockListAsLongs;
import org.apache.hadoop.hdfs.protocol.BlockListAsLongs.BlockReportReplica;
import org.apache.hadoop.hdfs.protocol.DatanodeID;
import org.apache.hadoop.hdfs.protocolPB.DatanodeProtocolClientSideTranslatorPB;
import org.apache.hadoop.hdfs.security.token.block.ExportedBlockKeys;
import org.apache.hadoop.hdfs.server.common.HdfsServerConstants.NodeType;
import org.apache.hadoop.hdfs.server.common.HdfsServerConstants.ReplicaState;
import org.apache.hadoop.hdfs.server.common.StorageInfo;
import org.apache.hadoop.hdfs.server.protocol.BlockReportContext;
import org.apache.hadoop.hdfs.server.protocol.DatanodeRegistration;
import org.apache.hadoop.hdfs.server.protocol.DatanodeStorage;
import org.apache.hadoop.hdfs.server.protocol.NamespaceInfo;
import org.apache.hadoop.hdfs.server.protocol.SlowDiskReports;
import org.apache.hadoop.hdfs.server.protocol.SlowPeerReports;
import org.apache.hadoop.hdfs.server.protocol.StorageBlockReport;
import org.apache.hadoop.hdfs.server.protocol.StorageReport;

/** Registers, beats and reports for the servers of a {@link SyntheticNamespace}, by real calls. */
final class SyntheticServers implements AutoCloseable {
  private static final long CAPACITY = 1L << 43;
  private static final int BEAT_THREADS = 4;

  private final DatanodeProtocolClientSideTranslatorPB namenode;
  private final int servers;
  private final int disks;
  private final List<DatanodeRegistration> registrations = new ArrayList<>();
  private final ScheduledExecutorService beats = Executors.newScheduledThreadPool(BEAT_THREADS);
  private final AtomicLong failures = new AtomicLong();
  private String pool;
  private long reportId;

  SyntheticServers(DatanodeProtocolClientSideTranslatorPB namenode, int servers, int disks) {
    this.namenode = namenode;
    this.servers = servers;
    this.disks = disks;
  }

  void register() throws IOException {
    NamespaceInfo info = namenode.versionRequest();
    pool = info.getBlockPoolID();
    for (int server = 0; server < servers; server++) {
      DatanodeRegistration mine =
          new DatanodeRegistration(
              new DatanodeID(
                  "127.0.0.1",
                  "localhost",
                  SyntheticNamespace.server(server),
                  10_000 + server,
                  0,
                  0,
                  20_000 + server),
              new StorageInfo(
                  info.getLayoutVersion(),
                  info.getNamespaceID(),
                  info.getClusterID(),
                  0,
                  NodeType.DATA_NODE),
              new ExportedBlockKeys(),
              "3.5.0");
      mine.setNamespaceInfo(info);
      namenode.registerDatanode(mine);
      registrations.add(mine);
      beat(server);
    }
  }

  /** Every server beats every three seconds from now on. */
  void beatOn() {
    for (int server = 0; server < servers; server++) {
      int number = server;
      beats.scheduleAtFixedRate(
          () -> {
            try {
              beat(number);
            } catch (IOException e) {
              failures.incrementAndGet();
            }
          },
          3_000L * server / servers,
          3_000,
          TimeUnit.MILLISECONDS);
    }
  }

  long failures() {
    return failures.get();
  }

  private void beat(int server) throws IOException {
    StorageReport[] reports = new StorageReport[disks];
    for (int disk = 0; disk < disks; disk++) {
      reports[disk] =
          new StorageReport(
              new DatanodeStorage(SyntheticNamespace.disk(server, disk)),
              false,
              CAPACITY,
              CAPACITY / 2,
              CAPACITY / 2,
              CAPACITY / 2,
              0);
    }
    namenode.sendHeartbeat(
        registrations.get(server),
        reports,
        0,
        0,
        0,
        0,
        0,
        null,
        false,
        SlowPeerReports.EMPTY_REPORT,
        SlowDiskReports.EMPTY_REPORT);
  }

  /** A full report of one server. Returns its blocks. */
  long report(int server, ServerBlocks contents) throws IOException {
    long blocks = 0;
    List<List<Long>> byDisk = contents.read(server);
    StorageBlockReport[] reports = new StorageBlockReport[disks];
    for (int disk = 0; disk < disks; disk++) {
      BlockListAsLongs.Builder list = BlockListAsLongs.builder();
      for (long id : byDisk.get(disk)) {
        BlockReportReplica replica =
            new BlockReportReplica(
                new Block(id, SyntheticNamespace.BLOCK_BYTES, SyntheticNamespace.STAMP));
        replica.setState(ReplicaState.FINALIZED);
        list.add(replica);
        blocks++;
      }
      reports[disk] =
          new StorageBlockReport(
              new DatanodeStorage(SyntheticNamespace.disk(server, disk)), list.build());
    }
    namenode.blockReport(
        registrations.get(server), pool, reports, new BlockReportContext(1, 0, ++reportId, 0));
    return blocks;
  }

  @Override
  public void close() {
    beats.shutdownNow();
  }
}
