package io.ebbfs.namenode.peers;

import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.ClusterView.DrainState;
import io.ebbfs.namenode.datanodes.ClusterView.Hibernation;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.protocol.proto.PeerProtos.ClusterViewProto;
import io.ebbfs.protocol.proto.PeerProtos.ViewedDiskProto;
import io.ebbfs.protocol.proto.PeerProtos.ViewedDrainProto;
import io.ebbfs.protocol.proto.PeerProtos.ViewedHibernationProto;
import io.ebbfs.protocol.proto.PeerProtos.ViewedServerProto;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.StorageType;

/** The chunk servers as the leader sees them, on their way to the other namenodes. */
public final class ClusterViews {
  private ClusterViews() {}

  /** What a leader knows now. */
  public static ClusterViewProto of(DatanodeRegistry cluster, Clock clock) {
    ClusterViewProto.Builder view =
        ClusterViewProto.newBuilder().setAwaitsServers(cluster.awaitsServers());
    long now = clock.millis();
    cluster.allServers().forEach(server -> view.addServers(message(cluster, server, now)));
    return view.build();
  }

  private static ViewedServerProto message(DatanodeRegistry cluster, Server server, long now) {
    ViewedServerProto.Builder message =
        ViewedServerProto.newBuilder()
            .setUuid(server.uuid())
            .setHostName(server.hostName())
            .setIpAddress(server.ipAddress())
            .setTransferPort(server.transferPort())
            .setInfoPort(server.infoPort())
            .setIpcPort(server.ipcPort())
            .setRack(server.rack())
            .setLive(server.live())
            .setSilentMillis(Math.max(0, now - server.lastHeartbeatMillis()))
            .setActiveTransfers(server.activeTransfers());
    switch (server.drain()) {
      case NONE -> {}
      case DRAINING -> message.setDrain(ViewedDrainProto.DRAINING);
      case DRAINED -> message.setDrain(ViewedDrainProto.DRAINED);
    }
    server.hibernation().ifPresent(hibernation -> message.setHibernation(message(hibernation)));
    for (Disk disk : server.disks()) {
      // The disk by its uuid is newer than the server's list.
      message.addDisks(message(cluster.disk(disk.storageUuid()).orElse(disk)));
    }
    return message.build();
  }

  private static ViewedHibernationProto message(Hibernation hibernation) {
    return ViewedHibernationProto.newBuilder()
        .setStartedMillis(hibernation.startedMillis())
        .setUntilMillis(hibernation.untilMillis())
        .setByFile(hibernation.byFile())
        .setReady(hibernation.ready())
        .build();
  }

  private static ViewedDiskProto message(Disk disk) {
    ViewedDiskProto.Builder message =
        ViewedDiskProto.newBuilder()
            .setStorageUuid(disk.storageUuid())
            .setStorageNumber(disk.storageNumber())
            .setFailed(disk.failed())
            .setCapacityBytes(disk.capacityBytes())
            .setUsedBytes(disk.usedBytes())
            .setRemainingBytes(disk.remainingBytes())
            .setType(disk.type().name());
    if (disk.queuedCalls() >= 0) {
      message.setQueuedCalls(disk.queuedCalls());
    }
    if (disk.recentErrors() > 0) {
      message.setRecentErrors(disk.recentErrors());
    }
    return message.build();
  }

  /** Lets a registry know what a leader knew when it sent the view. */
  public static void apply(ClusterViewProto view, DatanodeRegistry cluster, Clock clock) {
    cluster.follow(servers(view, clock), view.getAwaitsServers());
  }

  /** The servers of a view that is new, with the times of a clock of this process. */
  public static List<Server> servers(ClusterViewProto view, Clock clock) {
    long now = clock.millis();
    return view.getServersList().stream().map(server -> server(server, now)).toList();
  }

  private static Server server(ViewedServerProto server, long now) {
    return new Server(
        server.getUuid(),
        server.getHostName(),
        server.getIpAddress(),
        server.getTransferPort(),
        server.getInfoPort(),
        server.getIpcPort(),
        server.getRack(),
        server.getLive(),
        now - server.getSilentMillis(),
        server.getActiveTransfers(),
        server.getDisksList().stream().map(disk -> disk(disk, server.getUuid())).toList(),
        drain(server),
        hibernation(server));
  }

  private static Optional<Hibernation> hibernation(ViewedServerProto server) {
    ViewedHibernationProto viewed = server.getHibernation();
    return server.hasHibernation()
        ? Optional.of(
            new Hibernation(
                viewed.getStartedMillis(),
                viewed.getUntilMillis(),
                viewed.getByFile(),
                viewed.getReady()))
        : Optional.empty();
  }

  private static DrainState drain(ViewedServerProto server) {
    if (!server.hasDrain()) {
      return DrainState.NONE;
    }
    return switch (server.getDrain()) {
      case DRAINING -> DrainState.DRAINING;
      case DRAINED -> DrainState.DRAINED;
    };
  }

  private static Disk disk(ViewedDiskProto disk, String serverUuid) {
    return new Disk(
        disk.getStorageUuid(),
        disk.getStorageNumber(),
        serverUuid,
        disk.getFailed(),
        disk.getCapacityBytes(),
        disk.getUsedBytes(),
        disk.getRemainingBytes(),
        disk.hasType() ? StorageType.valueOf(disk.getType()) : StorageType.DISK,
        disk.hasQueuedCalls() ? disk.getQueuedCalls() : Disk.NOT_TOLD,
        disk.getRecentErrors());
  }
}
