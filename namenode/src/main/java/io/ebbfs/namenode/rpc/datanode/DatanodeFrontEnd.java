package io.ebbfs.namenode.rpc.datanode;

import io.ebbfs.namenode.datanodes.ClusterIdentity;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.datanodes.DatanodeRegistry.DiskReport;
import io.ebbfs.namenode.datanodes.ReportLeases;
import io.ebbfs.namenode.erasure.BlockGroupLayout;
import io.ebbfs.namenode.replicas.BlockLocator;
import io.ebbfs.namenode.replicas.BlockManager;
import io.ebbfs.namenode.replicas.BlockService.Invalidation;
import io.ebbfs.namenode.replicas.BlockSynchronization;
import io.ebbfs.namenode.replicas.DatanodeCommandQueue;
import io.ebbfs.namenode.replicas.GroupRows;
import io.ebbfs.namenode.replicas.ReportedReplica;
import io.ebbfs.namenode.replicas.ReportedReplica.Kind;
import io.ebbfs.namenode.rpc.server.CurrentCall;
import java.io.IOException;
import java.net.InetAddress;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.ha.HAServiceProtocol.HAServiceState;
import org.apache.hadoop.hdfs.protocol.Block;
import org.apache.hadoop.hdfs.protocol.BlockListAsLongs.BlockReportReplica;
import org.apache.hadoop.hdfs.protocol.DatanodeID;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.apache.hadoop.hdfs.protocol.proto.DatanodeProtocolProtos.HeartbeatRequestProto;
import org.apache.hadoop.hdfs.server.common.HdfsServerConstants.ReplicaState;
import org.apache.hadoop.hdfs.server.protocol.BalancerBandwidthCommand;
import org.apache.hadoop.hdfs.server.protocol.BlockCommand;
import org.apache.hadoop.hdfs.server.protocol.BlockRecoveryCommand;
import org.apache.hadoop.hdfs.server.protocol.BlockRecoveryCommand.RecoveringBlock;
import org.apache.hadoop.hdfs.server.protocol.BlockRecoveryCommand.RecoveringStripedBlock;
import org.apache.hadoop.hdfs.server.protocol.BlockReportContext;
import org.apache.hadoop.hdfs.server.protocol.DatanodeCommand;
import org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol;
import org.apache.hadoop.hdfs.server.protocol.DatanodeRegistration;
import org.apache.hadoop.hdfs.server.protocol.DatanodeStorage;
import org.apache.hadoop.hdfs.server.protocol.HeartbeatResponse;
import org.apache.hadoop.hdfs.server.protocol.NNHAStatusHeartbeat;
import org.apache.hadoop.hdfs.server.protocol.NamespaceInfo;
import org.apache.hadoop.hdfs.server.protocol.ReceivedDeletedBlockInfo;
import org.apache.hadoop.hdfs.server.protocol.RegisterCommand;
import org.apache.hadoop.hdfs.server.protocol.SlowDiskReports;
import org.apache.hadoop.hdfs.server.protocol.SlowPeerReports;
import org.apache.hadoop.hdfs.server.protocol.StorageBlockReport;
import org.apache.hadoop.hdfs.server.protocol.StorageReceivedDeletedBlocks;
import org.apache.hadoop.hdfs.server.protocol.StorageReport;
import org.apache.hadoop.hdfs.server.protocol.VolumeFailureSummary;
import org.apache.hadoop.ipc.StandbyException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves DatanodeProtocol to chunk servers and stock DataNodes: registration, heartbeats and block
 * reports. The answers to heartbeats carry commands. Thread-safe.
 */
public final class DatanodeFrontEnd implements DatanodeProtocol {
  private static final Logger LOG = LoggerFactory.getLogger(DatanodeFrontEnd.class);
  private static final DatanodeCommand[] NO_COMMANDS = {};

  private final ClusterIdentity identity;
  private final DatanodeRegistry cluster;
  private final BlockManager blocks;
  private final BlockSynchronization synchronization;
  private final ReportLeases leases;
  private final LeaderTerm term;

  /** The leadership of this namenode, which chunk servers are told. */
  @FunctionalInterface
  public interface LeaderTerm {
    /**
     * The term in which this namenode leads.
     *
     * @throws StandbyException if it does not lead any more: then nobody may obey it
     */
    long require() throws StandbyException;
  }

  /** With any number of full reports at the same time. */
  public DatanodeFrontEnd(
      ClusterIdentity identity,
      DatanodeRegistry cluster,
      BlockManager blocks,
      BlockSynchronization synchronization) {
    this(
        identity,
        cluster,
        blocks,
        synchronization,
        new ReportLeases(Clock.systemUTC(), Integer.MAX_VALUE, uuid -> true),
        () -> 1);
  }

  public DatanodeFrontEnd(
      ClusterIdentity identity,
      DatanodeRegistry cluster,
      BlockManager blocks,
      BlockSynchronization synchronization,
      ReportLeases leases,
      LeaderTerm term) {
    this.identity = identity;
    this.cluster = cluster;
    this.blocks = blocks;
    this.synchronization = synchronization;
    this.leases = leases;
    this.term = term;
  }

  // ---- registration

  @Override
  public NamespaceInfo versionRequest() throws StandbyException {
    term.require();
    return identity.namespaceInfo(HAServiceState.ACTIVE);
  }

  @Override
  public DatanodeRegistration registerDatanode(DatanodeRegistration registration)
      throws IOException {
    nameCaller(registration);
    checkIdentity(registration);
    cluster.requireAdmitted(registration);
    cluster.register(registration);
    leases.end(registration.getDatanodeUuid());
    LOG.info("chunk server {} registered", registration);
    return registration;
  }

  /** A server that listens at all addresses learns from the answer which one its callers see. */
  static void nameCaller(DatanodeRegistration registration) {
    InetAddress caller = callerAddress();
    if (caller != null) {
      registration.setIpAddr(caller.getHostAddress());
      registration.setPeerHostName(caller.getHostName());
    }
  }

  private void checkIdentity(DatanodeRegistration registration) throws IOException {
    String clusterId = registration.getStorageInfo().getClusterID();
    int namespaceId = registration.getStorageInfo().getNamespaceID();
    if (!identity.clusterId().equals(clusterId)
        || (namespaceId != 0 && namespaceId != identity.namespaceId())) {
      throw new IOException(
          ("chunk server %s belongs to cluster %s, namespace %d; this is cluster %s, namespace %d:"
                  + " point it at its own namenode, or empty its disks")
              .formatted(
                  registration.getDatanodeUuid(),
                  clusterId,
                  namespaceId,
                  identity.clusterId(),
                  identity.namespaceId()));
    }
  }

  /** Null if the call comes from within this process. */
  private static InetAddress callerAddress() {
    CurrentCall call = CurrentCall.get();
    return call == null ? null : call.address();
  }

  private DatanodeID callerId(DatanodeRegistration registration) {
    InetAddress caller = callerAddress();
    if (caller != null) {
      registration.setIpAddr(caller.getHostAddress());
    }
    return registration;
  }

  private boolean isRegistered(DatanodeRegistration registration) {
    callerId(registration);
    return cluster
        .server(registration.getDatanodeUuid())
        .filter(cluster::isRegistered)
        .filter(server -> server.transferPort() == registration.getXferPort())
        .isPresent();
  }

  private void checkPool(String poolId) throws IOException {
    if (!identity.blockPoolId().equals(poolId)) {
      throw new IOException(
          "block pool %s is not of this cluster, whose pool is %s: point the server at its own namenode"
              .formatted(poolId, identity.blockPoolId()));
    }
  }

  // ---- heartbeats

  /** Notes what a heartbeat says that {@link #sendHeartbeat} has no parameter for. */
  public void noteFigures(HeartbeatRequestProto heartbeat) {
    String server = heartbeat.getRegistration().getDatanodeID().getDatanodeUuid();
    cluster.noteQueuedCalls(server, QueuedCalls.of(heartbeat));
    cluster.noteRecentErrors(server, RecentErrors.of(heartbeat));
  }

  @Override
  public HeartbeatResponse sendHeartbeat(
      DatanodeRegistration registration,
      StorageReport[] reports,
      long cacheCapacity,
      long cacheUsed,
      int xmitsInProgress,
      int xceiverCount,
      int failedVolumes,
      VolumeFailureSummary volumeFailures,
      boolean requestFullBlockReportLease,
      SlowPeerReports slowPeers,
      SlowDiskReports slowDisks)
      throws IOException {
    List<DiskReport> disks = new ArrayList<>();
    for (StorageReport report : reports) {
      disks.add(
          new DiskReport(
              report.getStorage().getStorageID(),
              report.isFailed() || report.getStorage().getState() == DatanodeStorage.State.FAILED,
              report.getCapacity(),
              report.getBlockPoolUsed(),
              report.getRemaining(),
              report.getStorage().getStorageType()));
    }
    cluster.requireAdmitted(callerId(registration));
    Optional<List<Disk>> lost =
        cluster.heartbeat(callerId(registration), disks, Math.max(xceiverCount, xmitsInProgress));
    if (lost.isEmpty()) {
      return answer(new DatanodeCommand[] {RegisterCommand.REGISTER}, 0);
    }
    lost.get().forEach(blocks::diskFailed);
    return answer(
        commandsFor(registration.getDatanodeUuid()),
        requestFullBlockReportLease
            ? leases.request(registration.getDatanodeUuid())
            : ReportLeases.NONE);
  }

  /**
   * Asks for the term last: a namenode that was frozen while it made the commands is not obeyed.
   */
  private HeartbeatResponse answer(DatanodeCommand[] commands, long lease) throws StandbyException {
    return new HeartbeatResponse(
        commands, new NNHAStatusHeartbeat(HAServiceState.ACTIVE, term.require()), null, lease);
  }

  private DatanodeCommand[] commandsFor(String uuid) throws IOException {
    List<DatanodeCommand> all = new ArrayList<>();
    recoveries(uuid).ifPresent(all::add);
    transfers(uuid).ifPresent(all::add);
    invalidations(uuid).ifPresent(all::add);
    cluster
        .balancerBandwidth()
        .take(uuid)
        .ifPresent(bytes -> all.add(new BalancerBandwidthCommand(bytes)));
    return all.toArray(NO_COMMANDS);
  }

  private Optional<DatanodeCommand> invalidations(String uuid) throws IOException {
    List<Invalidation> orders = blocks.takeDeletions(uuid);
    return orders.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new BlockCommand(
                DNA_INVALIDATE,
                identity.blockPoolId(),
                orders.stream()
                    .map(o -> new Block(o.blockId(), o.lengthBytes(), o.generationStamp()))
                    .toArray(Block[]::new)));
  }

  private Optional<DatanodeCommand> transfers(String uuid) {
    List<DatanodeCommandQueue.Transfer> orders = blocks.commands().takeTransfers(uuid);
    return orders.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new BlockCommand(
                DNA_TRANSFER,
                identity.blockPoolId(),
                orders.stream()
                    .map(o -> blocks.locator().extended(o.block()).getLocalBlock())
                    .toArray(Block[]::new),
                orders.stream()
                    .map(o -> new DatanodeInfo[] {BlockLocator.info(o.target().server())})
                    .toArray(DatanodeInfo[][]::new),
                orders.stream()
                    .map(o -> new StorageType[] {o.target().disk().type()})
                    .toArray(StorageType[][]::new),
                orders.stream()
                    .map(o -> new String[] {o.target().disk().storageUuid()})
                    .toArray(String[][]::new)));
  }

  private Optional<DatanodeCommand> recoveries(String uuid) {
    List<DatanodeCommandQueue.Recovery> orders = blocks.commands().takeRecoveries(uuid);
    return orders.isEmpty()
        ? Optional.empty()
        : Optional.of(new BlockRecoveryCommand(orders.stream().map(this::recovery).toList()));
  }

  private RecoveringBlock recovery(DatanodeCommandQueue.Recovery order) {
    ExtendedBlock block = blocks.locator().extended(order.block());
    DatanodeInfo[] servers =
        order.servers().stream().map(BlockLocator::info).toArray(DatanodeInfo[]::new);
    long stamp = order.newGenerationStamp();
    if (GroupRows.isGroup(order.block())) {
      return groupRecovery(order, new RecoveringBlock(block, servers, stamp));
    }
    if (!order.block().hasRecoveryLengthBytes()) {
      return new RecoveringBlock(block, servers, stamp);
    }
    long length = order.block().getRecoveryLengthBytes();
    return new RecoveringBlock(block, servers, new Block(block.getBlockId(), length, stamp));
  }

  private static RecoveringBlock groupRecovery(
      DatanodeCommandQueue.Recovery order, RecoveringBlock group) {
    byte[] indices = new byte[order.indices().size()];
    for (int i = 0; i < indices.length; i++) {
      indices[i] = order.indices().get(i).byteValue();
    }
    return new RecoveringStripedBlock(
        group, indices, BlockGroupLayout.of(order.block().getEcPolicyId()).policy());
  }

  // ---- reports

  @Override
  public DatanodeCommand blockReport(
      DatanodeRegistration registration,
      String poolId,
      StorageBlockReport[] storages,
      BlockReportContext context)
      throws IOException {
    checkPool(poolId);
    if (!isRegistered(registration)) {
      return RegisterCommand.REGISTER;
    }
    String server = registration.getDatanodeUuid();
    if (!leases.begin(server, context == null ? ReportLeases.NONE : context.getLeaseId())) {
      throw new IOException(
          "chunk server %s has no lease for its full report, and too many other servers send theirs: ask for a lease with a heartbeat, and send the report again"
              .formatted(server));
    }
    for (StorageBlockReport storage : storages) {
      take(registration, storage);
    }
    if (context == null || context.getCurRpc() + 1 >= context.getTotalRpcs()) {
      leases.end(server);
    }
    return null;
  }

  private void take(DatanodeRegistration registration, StorageBlockReport storage)
      throws IOException {
    Disk disk = disk(registration, storage.getStorage().getStorageID());
    List<ReportedReplica> reports = new ArrayList<>(storage.getBlocks().getNumberOfBlocks());
    for (BlockReportReplica replica : storage.getBlocks()) {
      reports.add(
          new ReportedReplica(
              replica.getBlockId(),
              replica.getGenerationStamp(),
              replica.getNumBytes(),
              kind(replica.getState())));
    }
    // A server whose report takes long has no other way to show that it lives.
    Runnable progress = () -> cluster.heardFrom(registration.getDatanodeUuid());
    List<ReportedReplica> toNote = blocks.reports().full(disk, reports, progress);
    cluster.markReported(disk.storageUuid());
    if (!cluster.inSafeMode()) { // after a start all servers report, and others wait for them
      blocks.reports().note(disk, toNote, progress);
    }
  }

  private static Kind kind(ReplicaState state) {
    return switch (state) {
      case FINALIZED -> Kind.FINALIZED;
      case RWR -> Kind.ABANDONED;
      default -> Kind.WRITING;
    };
  }

  private Disk disk(DatanodeRegistration registration, String storageUuid) throws IOException {
    cluster.ensureDisk(registration.getDatanodeUuid(), storageUuid);
    return cluster
        .disk(storageUuid)
        .orElseThrow(
            () -> new IOException("disk " + storageUuid + " is not known; register again"));
  }

  @Override
  public void blockReceivedAndDeleted(
      DatanodeRegistration registration, String poolId, StorageReceivedDeletedBlocks[] storages)
      throws IOException {
    checkPool(poolId);
    if (!isRegistered(registration)) {
      // The next heartbeat asks the server to register. Its full report then repeats this news.
      throw new IOException(
          "chunk server %s has to register before it reports blocks"
              .formatted(registration.getDatanodeUuid()));
    }
    for (StorageReceivedDeletedBlocks storage : storages) {
      Disk disk = disk(registration, storage.getStorage().getStorageID());
      List<ReportedReplica> reports = new ArrayList<>();
      for (ReceivedDeletedBlockInfo info : storage.getBlocks()) {
        if (info.getDelHints() != null && !info.getDelHints().isEmpty()) {
          blocks.replaces(info.getBlock().getBlockId(), info.getDelHints());
        }
        reports.add(
            new ReportedReplica(
                info.getBlock().getBlockId(),
                info.getBlock().getGenerationStamp(),
                info.getBlock().getNumBytes(),
                switch (info.getStatus()) {
                  case RECEIVED_BLOCK -> Kind.FINALIZED;
                  case RECEIVING_BLOCK -> Kind.WRITING;
                  case DELETED_BLOCK -> Kind.DELETED;
                }));
      }
      blocks.reports().incremental(disk, reports);
      if (disk.failed()) {
        // The report is older than the failure: the rows that it wrote are deleted again.
        blocks.diskFailed(disk);
      }
    }
  }

  @Override
  public DatanodeCommand cacheReport(
      DatanodeRegistration registration, String poolId, List<Long> blockIds) {
    return null; // EbbFS has no centralized cache, so no block is cached
  }

  // ---- trouble

  @Override
  public void errorReport(DatanodeRegistration registration, int code, String message) {
    // The next heartbeat does not name a failed disk; the registry acts on that.
    if (code == NOTIFY) {
      LOG.info("chunk server {} says: {}", registration, message);
    } else {
      LOG.warn("chunk server {} reports error {}: {}", registration, code, message);
    }
  }

  @Override
  public void reportBadBlocks(LocatedBlock[] bad) throws IOException {
    for (LocatedBlock block : bad) {
      for (int i = 0; i < block.getLocations().length; i++) {
        String[] storages = block.getStorageIDs();
        if (storages != null && i < storages.length && !storages[i].isEmpty()) {
          blocks.reportBad(
              block.getBlock().getBlockId(),
              block.getBlock().getGenerationStamp(),
              storages[i],
              "reported by chunk server " + block.getLocations()[i]);
        } else {
          suspect(block.getBlock(), block.getLocations()[i]);
        }
      }
    }
  }

  /** A server names the disk of its own replica, and no disk of a replica that it has fetched. */
  private void suspect(ExtendedBlock block, DatanodeID holder) throws IOException {
    List<Disk> disks =
        cluster.server(holder.getDatanodeUuid()).map(ClusterView.Server::disks).orElse(List.of());
    for (Disk disk : disks) {
      blocks.suspect(
          block.getBlockId(),
          block.getGenerationStamp(),
          disk.storageUuid(),
          "a server that read it over the network found a wrong checksum");
    }
  }

  @Override
  public void commitBlockSynchronization(
      ExtendedBlock block,
      long newGenerationStamp,
      long newLengthBytes,
      boolean closeFile,
      boolean deleteBlock,
      DatanodeID[] newTargets,
      String[] newTargetStorages)
      throws IOException {
    checkPool(block.getBlockPoolId());
    synchronization.commit(
        block.getBlockId(),
        newGenerationStamp,
        newLengthBytes,
        closeFile,
        deleteBlock,
        newTargetStorages == null ? List.of() : List.of(newTargetStorages));
  }
}
