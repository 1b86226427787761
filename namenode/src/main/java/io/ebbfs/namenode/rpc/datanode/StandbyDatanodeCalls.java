package io.ebbfs.namenode.rpc.datanode;

import io.ebbfs.namenode.datanodes.ClusterIdentity;
import java.util.List;
import java.util.function.Supplier;
import org.apache.hadoop.ha.HAServiceProtocol.HAServiceState;
import org.apache.hadoop.hdfs.protocol.DatanodeID;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.apache.hadoop.hdfs.server.protocol.BlockReportContext;
import org.apache.hadoop.hdfs.server.protocol.DatanodeCommand;
import org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol;
import org.apache.hadoop.hdfs.server.protocol.DatanodeRegistration;
import org.apache.hadoop.hdfs.server.protocol.HeartbeatResponse;
import org.apache.hadoop.hdfs.server.protocol.NNHAStatusHeartbeat;
import org.apache.hadoop.hdfs.server.protocol.NamespaceInfo;
import org.apache.hadoop.hdfs.server.protocol.SlowDiskReports;
import org.apache.hadoop.hdfs.server.protocol.SlowPeerReports;
import org.apache.hadoop.hdfs.server.protocol.StorageBlockReport;
import org.apache.hadoop.hdfs.server.protocol.StorageReceivedDeletedBlocks;
import org.apache.hadoop.hdfs.server.protocol.StorageReport;
import org.apache.hadoop.hdfs.server.protocol.VolumeFailureSummary;
import org.apache.hadoop.ipc.StandbyException;

/**
 * The DatanodeProtocol of a follower. A stock DataNode keeps a connection to each namenode and
 * sends the same reports to all. A follower says that it is the standby, gives no commands, and
 * drops the reports: the leader acts on the same ones. When the follower leads later, its answer to
 * the next heartbeat makes the DataNode register and send full reports.
 */
public final class StandbyDatanodeCalls implements DatanodeProtocol {
  private static final long NO_LEASE = 0;

  private final ClusterIdentity identity;
  private final Supplier<String> leader;

  /**
   * @param leader names the leader for messages; must not block
   */
  public StandbyDatanodeCalls(ClusterIdentity identity, Supplier<String> leader) {
    this.identity = identity;
    this.leader = leader;
  }

  @Override
  public NamespaceInfo versionRequest() {
    return identity.namespaceInfo(HAServiceState.STANDBY);
  }

  @Override
  public DatanodeRegistration registerDatanode(DatanodeRegistration registration) {
    DatanodeFrontEnd.nameCaller(registration);
    return registration;
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
      SlowDiskReports slowDisks) {
    return new HeartbeatResponse(
        new DatanodeCommand[0], new NNHAStatusHeartbeat(HAServiceState.STANDBY, 0), null, NO_LEASE);
  }

  @Override
  public DatanodeCommand blockReport(
      DatanodeRegistration registration,
      String poolId,
      StorageBlockReport[] storages,
      BlockReportContext context) {
    return null;
  }

  @Override
  public DatanodeCommand cacheReport(
      DatanodeRegistration registration, String poolId, List<Long> blockIds) {
    return null;
  }

  @Override
  public void blockReceivedAndDeleted(
      DatanodeRegistration registration, String poolId, StorageReceivedDeletedBlocks[] storages) {
    // The leader hears of the same blocks.
  }

  @Override
  public void errorReport(DatanodeRegistration registration, int code, String message) {
    // The leader hears of the same error.
  }

  /** Refused: a chunk server sends a report that was refused to the next leader again. */
  @Override
  public void reportBadBlocks(LocatedBlock[] bad) throws StandbyException {
    throw standby();
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
      throws StandbyException {
    throw standby();
  }

  private StandbyException standby() {
    return new StandbyException("this namenode is a standby; the leader is " + leader.get());
  }
}
