package io.ebbfs.namenode.rpc.client;

import io.ebbfs.namenode.datanodes.ClusterIdentity;
import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.PermissionChecker;
import io.ebbfs.namenode.replicas.MovableBlocks;
import io.ebbfs.namenode.rpc.datanode.DatanodeFrontEnd.LeaderTerm;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.HadoopIllegalArgumentException;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.ha.HAServiceProtocol.HAServiceState;
import org.apache.hadoop.hdfs.protocol.Block;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.security.token.block.ExportedBlockKeys;
import org.apache.hadoop.hdfs.server.namenode.CheckpointSignature;
import org.apache.hadoop.hdfs.server.namenode.NNStorage.NameNodeFile;
import org.apache.hadoop.hdfs.server.namenode.SafeModeException;
import org.apache.hadoop.hdfs.server.protocol.BlocksWithLocations;
import org.apache.hadoop.hdfs.server.protocol.BlocksWithLocations.BlockWithLocations;
import org.apache.hadoop.hdfs.server.protocol.NamenodeCommand;
import org.apache.hadoop.hdfs.server.protocol.NamenodeProtocol;
import org.apache.hadoop.hdfs.server.protocol.NamenodeRegistration;
import org.apache.hadoop.hdfs.server.protocol.NamespaceInfo;
import org.apache.hadoop.hdfs.server.protocol.RemoteEditLogManifest;

/**
 * The calls of NamenodeProtocol that HDFS's balancer and mover make. The other calls are for
 * namenodes that copy HDFS's edit log, which EbbFS lacks: they are refused. Only the superuser may
 * call. Thread-safe.
 */
public final class BalancerCalls implements NamenodeProtocol {
  private final ClusterIdentity identity;
  private final DatanodeRegistry cluster;
  private final MovableBlocks movable;
  private final CallContext context;
  private final LeaderTerm term;
  private final LongCalls longCalls;

  public BalancerCalls(
      ClusterIdentity identity,
      DatanodeRegistry cluster,
      MovableBlocks movable,
      Caller.Superuser superuser,
      LeaderTerm term,
      LongCalls longCalls) {
    this.identity = identity;
    this.cluster = cluster;
    this.movable = movable;
    this.context = new CallContext(superuser);
    this.term = term;
    this.longCalls = longCalls;
  }

  private void check(String call) throws IOException {
    term.require();
    PermissionChecker.checkSuperuser(context.caller(), call);
  }

  /**
   * Blocks of a server that may be moved ({@link MovableBlocks}).
   *
   * @param hotBlockMillis has no effect: blocks of files that were read lately are not left out
   * @param type of the storages of the server; null for any
   */
  @Override
  public BlocksWithLocations getBlocks(
      DatanodeInfo datanode, long sumBytes, long leastBytes, long hotBlockMillis, StorageType type)
      throws IOException {
    if (sumBytes <= 0 || leastBytes < 0) {
      throw new IllegalArgumentException(
          "getBlocks asks for %d bytes in blocks of at least %d bytes: ask for more than 0 bytes, in blocks of 0 bytes or more"
              .formatted(sumBytes, leastBytes));
    }
    check("getBlocks");
    if (cluster.inSafeMode()) {
      throw new SafeModeException(
          "Cannot execute getBlocks: the namenode is in safe mode, so it does not know yet which replicas are there; try again after it");
    }
    Server server =
        cluster
            .server(datanode.getDatanodeUuid())
            .orElseThrow(
                () ->
                    new HadoopIllegalArgumentException(
                        "Datanode " + datanode + " not found: ask for a registered one"));
    List<MovableBlocks.Movable> found =
        longCalls.run("getBlocks", () -> movable.of(server, sumBytes, leastBytes, type));
    return new BlocksWithLocations(
        found.stream().map(BalancerCalls::withLocations).toArray(BlockWithLocations[]::new));
  }

  private static BlockWithLocations withLocations(MovableBlocks.Movable movable) {
    return new BlockWithLocations(
        new Block(
            movable.block().getBlockId(),
            movable.block().getLengthBytes(),
            movable.block().getGenerationStamp()),
        movable.places().stream().map(Disk::serverUuid).toArray(String[]::new),
        movable.places().stream().map(Disk::storageUuid).toArray(String[]::new),
        movable.places().stream().map(Disk::type).toArray(StorageType[]::new));
  }

  /** There are no block tokens, so no keys. */
  @Override
  public ExportedBlockKeys getBlockKeys() throws IOException {
    check("getBlockKeys");
    return ExportedBlockKeys.DUMMY_KEYS;
  }

  @Override
  public NamespaceInfo versionRequest() throws IOException {
    check("versionRequest");
    return identity.namespaceInfo(HAServiceState.ACTIVE);
  }

  /** Every upgrade is finalized. */
  @Override
  public boolean isUpgradeFinalized() throws IOException {
    check("isUpgradeFinalized");
    return true;
  }

  @Override
  public boolean isRollingUpgrade() throws IOException {
    check("isRollingUpgrade");
    return false;
  }

  /** No path waits for HDFS's storage policy satisfier: EbbFS moves replicas itself. */
  @Override
  public Long getNextSPSPath() throws IOException {
    check("getNextSPSPath");
    return null;
  }

  // ---- HDFS's edit log

  private static UnsupportedOperationException noEditLog(String call) {
    return new UnsupportedOperationException(
        "EbbFS does not support the call "
            + call
            + " of NamenodeProtocol: there is no edit log to copy: 'ebb backup' takes a backup of"
            + " the metadata");
  }

  @Override
  public long getTransactionID() {
    throw noEditLog("getTransactionID");
  }

  @Override
  public long getMostRecentCheckpointTxId() {
    throw noEditLog("getMostRecentCheckpointTxId");
  }

  @Override
  public long getMostRecentNameNodeFileTxId(NameNodeFile file) {
    throw noEditLog("getMostRecentNameNodeFileTxId");
  }

  @Override
  public CheckpointSignature rollEditLog() {
    throw noEditLog("rollEditLog");
  }

  @Override
  public void errorReport(NamenodeRegistration registration, int code, String message) {
    throw noEditLog("errorReport");
  }

  @Override
  public NamenodeRegistration registerSubordinateNamenode(NamenodeRegistration registration) {
    throw noEditLog("registerSubordinateNamenode");
  }

  @Override
  public NamenodeCommand startCheckpoint(NamenodeRegistration registration) {
    throw noEditLog("startCheckpoint");
  }

  @Override
  public void endCheckpoint(NamenodeRegistration registration, CheckpointSignature signature) {
    throw noEditLog("endCheckpoint");
  }

  @Override
  public RemoteEditLogManifest getEditLogManifest(long since) {
    throw noEditLog("getEditLogManifest");
  }
}
