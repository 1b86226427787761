package io.ebbfs.namenode.rpc.client;

import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.ClusterView.DrainState;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.files.inodes.PermissionChecker;
import io.ebbfs.namenode.replicas.BlockLocator;
import io.ebbfs.namenode.rpc.coding.BlockCounts;
import io.ebbfs.namenode.tasks.scan.GroupDamage;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.apache.hadoop.fs.BatchedRemoteIterator.BatchedEntries;
import org.apache.hadoop.fs.BatchedRemoteIterator.BatchedListEntries;
import org.apache.hadoop.fs.FsServerDefaults;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo.AdminStates;
import org.apache.hadoop.hdfs.protocol.ECBlockGroupStats;
import org.apache.hadoop.hdfs.protocol.EncryptionZone;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.DatanodeReportType;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.RollingUpgradeAction;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.SafeModeAction;
import org.apache.hadoop.hdfs.protocol.ReplicatedBlockStats;
import org.apache.hadoop.hdfs.protocol.RollingUpgradeInfo;
import org.apache.hadoop.hdfs.protocol.ZoneReencryptionStatus;
import org.apache.hadoop.hdfs.server.protocol.DatanodeStorageReport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The calls of ClientProtocol about the cluster as a whole: its servers, sizes and safe mode. */
abstract class ClusterCalls extends DisabledFeatureCalls {
  private static final Logger LOG = LoggerFactory.getLogger(ClusterCalls.class);

  final DatanodeRegistry cluster;
  final CallContext context;
  private final BlockCounts counts;
  private final FsServerDefaults defaults;
  final OperatorServices operators;

  ClusterCalls(
      DatanodeRegistry cluster,
      BlockCounts counts,
      FsServerDefaults defaults,
      CallContext context,
      OperatorServices operators) {
    this.cluster = cluster;
    this.counts = counts;
    this.defaults = defaults;
    this.context = context;
    this.operators = operators;
  }

  @Override
  public FsServerDefaults getServerDefaults() {
    return defaults;
  }

  @Override
  public long[] getStats() {
    long[] stats = new long[STATS_ARRAY_LENGTH];
    GroupDamage groups = counts.groups();
    stats[GET_STATS_LOW_REDUNDANCY_IDX] =
        counts.underReplicatedBlocks().getAsLong() + groups.damaged();
    stats[GET_STATS_CORRUPT_BLOCKS_IDX] = groups.corrupt();
    stats[GET_STATS_MISSING_BLOCKS_IDX] = counts.missingBlocks().getAsLong() + groups.missing();
    stats[GET_STATS_PENDING_DELETION_BLOCKS_IDX] = counts.pendingDeletions().getAsLong();
    for (Server server : cluster.liveServers()) {
      for (Disk disk : server.disks()) {
        // As in HDFS, the space of a server that is to leave does not count.
        stats[GET_STATS_CAPACITY_IDX] += server.isLeaving() ? 0 : disk.capacityBytes();
        stats[GET_STATS_USED_IDX] += disk.usedBytes();
        stats[GET_STATS_REMAINING_IDX] += server.isLeaving() ? 0 : disk.remainingBytes();
      }
    }
    return stats;
  }

  @Override
  public ReplicatedBlockStats getReplicatedBlockStats() {
    return new ReplicatedBlockStats(
        counts.underReplicatedBlocks().getAsLong(),
        0,
        counts.missingBlocks().getAsLong(),
        0,
        0,
        counts.pendingDeletions().getAsLong() - counts.pendingDeletionsOfGroups().getAsLong());
  }

  @Override
  public ECBlockGroupStats getECBlockGroupStats() {
    GroupDamage groups = counts.groups();
    return new ECBlockGroupStats(
        groups.damaged(),
        groups.corrupt(),
        groups.missing(),
        0,
        counts.pendingDeletionsOfGroups().getAsLong(),
        (long) groups.misplaced(),
        (long) groups.urgent());
  }

  @Override
  public DatanodeInfo[] getDatanodeReport(DatanodeReportType type) throws IOException {
    PermissionChecker.checkSuperuser(context.caller(), "datanodeReport");
    return servers(type).stream()
        .map(server -> DatanodeInfoConverter.of(server, blocksOn(server)))
        .toArray(DatanodeInfo[]::new);
  }

  @Override
  public DatanodeStorageReport[] getDatanodeStorageReport(DatanodeReportType type)
      throws IOException {
    PermissionChecker.checkSuperuser(context.caller(), "getDatanodeStorageReport");
    return servers(type).stream()
        .map(DatanodeInfoConverter::withDisks)
        .toArray(DatanodeStorageReport[]::new);
  }

  private List<Server> servers(DatanodeReportType type) {
    return switch (type) {
      case ALL -> cluster.allServers();
      case LIVE -> cluster.liveServers();
      case DEAD -> cluster.allServers().stream().filter(server -> !server.live()).toList();
      case DECOMMISSIONING ->
          cluster.allServers().stream()
              .filter(server -> server.drain() == DrainState.DRAINING)
              .toList();
      case ENTERING_MAINTENANCE ->
          cluster.allServers().stream()
              .filter(server -> BlockLocator.adminState(server) == AdminStates.ENTERING_MAINTENANCE)
              .toList();
      case IN_MAINTENANCE ->
          cluster.allServers().stream()
              .filter(server -> BlockLocator.adminState(server) == AdminStates.IN_MAINTENANCE)
              .toList();
    };
  }

  private long blocksOn(Server server) {
    return server.disks().stream()
        .mapToLong(disk -> counts.blocksOn().applyAsLong(disk.storageUuid()))
        .sum();
  }

  /**
   * Reads the files about servers again: drains servers, lets them hibernate, and takes others
   * back.
   */
  @Override
  public void refreshNodes() throws IOException {
    PermissionChecker.checkSuperuser(context.caller(), "refreshNodes");
    Set<String> unknown = cluster.apply(operators.excluded().read());
    if (!unknown.isEmpty()) {
      LOG.warn(
          "The file of excluded servers names {}, but no such server has registered yet", unknown);
    }
  }

  @Override
  public void setBalancerBandwidth(long bytesPerSecond) throws IOException {
    PermissionChecker.checkSuperuser(context.caller(), "setBalancerBandwidth");
    cluster
        .balancerBandwidth()
        .set(bytesPerSecond, cluster.allServers().stream().map(Server::uuid).toList());
  }

  @Override
  public boolean setSafeMode(SafeModeAction action, boolean checked) throws IOException {
    if (action != SafeModeAction.SAFEMODE_GET) {
      PermissionChecker.checkSuperuser(context.caller(), action.name().toLowerCase(Locale.ROOT));
      boolean enter = action == SafeModeAction.SAFEMODE_ENTER;
      cluster.setSafeMode(enter);
      operators.readOnly().set(enter);
    }
    return cluster.inSafeMode();
  }

  /** Takes a backup of the metadata. The arguments concern the logs of HDFS, which EbbFS lacks. */
  @Override
  public boolean saveNamespace(long timeWindow, long transactionGap) throws IOException {
    PermissionChecker.checkSuperuser(context.caller(), "saveNamespace");
    return operators
        .longCalls()
        .run(
            "saveNamespace",
            () -> {
              operators.backups().take();
              return true;
            });
  }

  /** Writes a file into the folder {@code metasave} of the namenode's data directory. */
  @Override
  public void metaSave(String name) throws IOException {
    PermissionChecker.checkSuperuser(context.caller(), "metaSave");
    LOG.info(
        "metaSave has written {}",
        operators.longCalls().run("metaSave", () -> operators.metaSave().write(name)));
  }

  /** There is nothing to finalize: EbbFS keeps no state of an earlier version. */
  @Override
  public void finalizeUpgrade() throws IOException {
    PermissionChecker.checkSuperuser(context.caller(), "finalizeUpgrade");
  }

  /** No rolling upgrade is ever under way, so there is none to tell of and none to end. */
  @Override
  public RollingUpgradeInfo rollingUpgrade(RollingUpgradeAction action) throws IOException {
    String verb = action == RollingUpgradeAction.PREPARE ? "start" : action.name();
    PermissionChecker.checkSuperuser(
        context.caller(), verb.toLowerCase(Locale.ROOT) + "RollingUpgrade");
    if (action == RollingUpgradeAction.PREPARE) {
      throw unsupported("rollingUpgrade");
    }
    return null;
  }

  /** Whether failed directories of the metadata come back by themselves: there is one directory. */
  @Override
  public boolean restoreFailedStorage(String argument) throws IOException {
    String verb =
        switch (argument) {
          case "check" -> "check";
          case "true" -> "enable";
          default -> "disable";
        };
    PermissionChecker.checkSuperuser(context.caller(), verb + "RestoreFailedStorage");
    if (!argument.equals("check")) {
      throw unsupported("restoreFailedStorage");
    }
    return false;
  }

  /** Nothing is encrypted at rest by EbbFS. */
  @Override
  public BatchedEntries<EncryptionZone> listEncryptionZones(long after) throws IOException {
    PermissionChecker.checkSuperuser(context.caller(), "listEncryptionZones");
    return new BatchedListEntries<>(List.of(), false);
  }

  @Override
  public BatchedEntries<ZoneReencryptionStatus> listReencryptionStatus(long after)
      throws IOException {
    PermissionChecker.checkSuperuser(context.caller(), "listReencryptionStatus");
    return new BatchedListEntries<>(List.of(), false);
  }
}
