package io.ebbfs.namenode.rpc.client;

import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.replicas.BlockLocator;
import io.ebbfs.namenode.replicas.BlockService.Target;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo.DatanodeInfoBuilder;
import org.apache.hadoop.hdfs.protocol.DatanodeInfoWithStorage;
import org.apache.hadoop.hdfs.server.protocol.DatanodeStorage;
import org.apache.hadoop.hdfs.server.protocol.DatanodeStorageReport;
import org.apache.hadoop.hdfs.server.protocol.StorageReport;

/** Converts chunk servers and disks to the classes that HDFS clients read. */
final class DatanodeInfoConverter {
  private DatanodeInfoConverter() {}

  static DatanodeInfo of(Server server) {
    return of(server, 0);
  }

  /**
   * @param blocks good replicas on the server
   */
  static DatanodeInfo of(Server server, long blocks) {
    long capacity = server.disks().stream().mapToLong(Disk::capacityBytes).sum();
    long used = server.disks().stream().mapToLong(Disk::usedBytes).sum();
    long remaining = server.disks().stream().mapToLong(Disk::remainingBytes).sum();
    return new DatanodeInfoBuilder()
        .setDatanodeUuid(server.uuid())
        .setIpAddr(server.ipAddress())
        .setHostName(server.hostName())
        .setXferPort(server.transferPort())
        .setInfoPort(server.infoPort())
        .setInfoSecurePort(0)
        .setIpcPort(server.ipcPort())
        .setNetworkLocation(server.rack())
        .setCapacity(capacity)
        .setDfsUsed(used)
        .setBlockPoolUsed(used)
        .setRemaining(remaining)
        .setNonDfsUsed(Math.max(0, capacity - used - remaining))
        .setLastUpdate(server.lastHeartbeatMillis())
        .setXceiverCount(server.activeTransfers())
        .setAdminState(BlockLocator.adminState(server))
        .setNumBlocks((int) Math.min(Integer.MAX_VALUE, blocks))
        .build();
  }

  static DatanodeInfoWithStorage of(Target target) {
    return new DatanodeInfoWithStorage(
        of(target.server()), target.disk().storageUuid(), target.disk().type());
  }

  static DatanodeStorageReport withDisks(Server server) {
    return new DatanodeStorageReport(
        of(server),
        server.disks().stream().map(DatanodeInfoConverter::report).toArray(StorageReport[]::new));
  }

  private static StorageReport report(Disk disk) {
    return new StorageReport(
        new DatanodeStorage(
            disk.storageUuid(),
            disk.failed() ? DatanodeStorage.State.FAILED : DatanodeStorage.State.NORMAL,
            disk.type()),
        disk.failed(),
        disk.capacityBytes(),
        disk.usedBytes(),
        disk.remainingBytes(),
        disk.usedBytes(),
        Math.max(0, disk.capacityBytes() - disk.usedBytes() - disk.remainingBytes()));
  }
}
