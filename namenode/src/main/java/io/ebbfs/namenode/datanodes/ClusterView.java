package io.ebbfs.namenode.datanodes;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.StorageType;

/**
 * The chunk servers and disks as the namenode sees them now, for reading. Pure functions take the
 * lists as their snapshot. Thread-safe.
 */
public interface ClusterView {
  /** Servers that are registered and whose heartbeats are recent. */
  List<Server> liveServers();

  /** The live servers that take new blocks: those that are not drained and do not hibernate. */
  default List<Server> serversForBlocks() {
    return liveServers().stream().filter(Server::takesBlocks).toList();
  }

  /** All servers that ever registered, live or not. */
  default List<Server> allServers() {
    return liveServers();
  }

  /** A server by uuid, live or not. */
  Optional<Server> server(String serverUuid);

  /** True if the server is registered and its heartbeats are recent. */
  default boolean isLiveServer(String serverUuid) {
    return server(serverUuid).map(Server::live).orElse(false);
  }

  /** The disk with this uuid and its server, live or not. */
  Optional<Disk> disk(String storageUuid);

  /** The type of a disk; DISK if the disk is not known. */
  default StorageType typeOf(String storageUuid) {
    return disk(storageUuid).map(Disk::type).orElse(StorageType.DISK);
  }

  /** The servers of these disks, each once; unknown disks are passed over. */
  default Set<String> serversOf(Collection<String> storageUuids) {
    return storageUuids.stream()
        .map(this::disk)
        .flatMap(Optional::stream)
        .map(Disk::serverUuid)
        .collect(Collectors.toSet());
  }

  /** True if the disk is in service: its server is live and it has not failed. */
  default boolean isLive(String storageUuid) {
    return disk(storageUuid)
        .filter(d -> !d.failed())
        .map(Disk::serverUuid)
        .flatMap(this::server)
        .map(Server::live)
        .orElse(false);
  }

  /**
   * True if the disk is in service and its server is not drained: a replica there counts towards
   * the wanted number.
   */
  default boolean isStaying(String storageUuid) {
    return isLive(storageUuid) && !isLeaving(storageUuid);
  }

  /** True if the server of the disk is drained, or being drained. */
  default boolean isLeaving(String storageUuid) {
    return disk(storageUuid)
        .map(Disk::serverUuid)
        .flatMap(this::server)
        .filter(Server::isLeaving)
        .isPresent();
  }

  /**
   * True if the disk is out of service because its server hibernates: nothing on the disk is taken
   * for lost before the hibernation ends.
   */
  default boolean isAwaited(String storageUuid) {
    return !isLive(storageUuid)
        && disk(storageUuid)
            .filter(disk -> !disk.failed())
            .map(Disk::serverUuid)
            .flatMap(this::server)
            .filter(Server::isHibernating)
            .isPresent();
  }

  /**
   * When a disk went out of service, because it failed or its server was found dead, in
   * milliseconds of the registry's clock. 0 if the disk is in service, or if that was long ago.
   */
  default long lostSinceMillis(String storageUuid) {
    return 0;
  }

  /**
   * True while servers that were known before the start of this process may still register. Until
   * then a block without replicas is not concluded lost.
   */
  boolean inSafeMode();

  /** Whether an operator has entered safe mode: then nothing changes files. Must not block. */
  default boolean isReadOnly() {
    return false;
  }

  /** Whether a server is to stay in the cluster. */
  enum DrainState {
    /** It stays, and takes new blocks. */
    NONE,
    /** It takes no new blocks, and its blocks get places elsewhere (HDFS: decommissioning). */
    DRAINING,
    /** Nothing depends on it any more (HDFS: decommissioned). */
    DRAINED
  }

  /**
   * A time during which a server may be away (HDFS: maintenance).
   *
   * @param startedMillis since the epoch
   * @param untilMillis since the epoch
   * @param byFile whether the file of hosts asks for it
   * @param ready whether the server may be stopped: its blocks survive another loss meanwhile
   */
  record Hibernation(long startedMillis, long untilMillis, boolean byFile, boolean ready) {}

  /**
   * A chunk server.
   *
   * @param drain whether it is to leave the cluster
   * @param hibernation present while it may be away and is expected back
   */
  record Server(
      String uuid,
      String hostName,
      String ipAddress,
      int transferPort,
      int infoPort,
      int ipcPort,
      String rack,
      boolean live,
      long lastHeartbeatMillis,
      int activeTransfers,
      List<Disk> disks,
      DrainState drain,
      Optional<Hibernation> hibernation) {

    /** A server that does not hibernate. */
    public Server(
        String uuid,
        String hostName,
        String ipAddress,
        int transferPort,
        int infoPort,
        int ipcPort,
        String rack,
        boolean live,
        long lastHeartbeatMillis,
        int activeTransfers,
        List<Disk> disks,
        DrainState drain) {
      this(
          uuid,
          hostName,
          ipAddress,
          transferPort,
          infoPort,
          ipcPort,
          rack,
          live,
          lastHeartbeatMillis,
          activeTransfers,
          disks,
          drain,
          Optional.empty());
    }

    /** A server that stays. */
    public Server(
        String uuid,
        String hostName,
        String ipAddress,
        int transferPort,
        int infoPort,
        int ipcPort,
        String rack,
        boolean live,
        long lastHeartbeatMillis,
        int activeTransfers,
        List<Disk> disks) {
      this(
          uuid,
          hostName,
          ipAddress,
          transferPort,
          infoPort,
          ipcPort,
          rack,
          live,
          lastHeartbeatMillis,
          activeTransfers,
          disks,
          DrainState.NONE);
    }

    /** Whether the server is drained, or being drained. */
    public boolean isLeaving() {
      return drain != DrainState.NONE;
    }

    /** Whether the server may be away for a while. */
    public boolean isHibernating() {
      return hibernation.isPresent();
    }

    /** Whether the server takes new blocks while it is live. */
    public boolean takesBlocks() {
      return !isLeaving() && !isHibernating();
    }

    /** The server as people name it. */
    public String name() {
      return hostName + ":" + transferPort;
    }
  }

  /**
   * A disk of a chunk server: a failure domain of its own.
   *
   * @param type by which storage policies choose
   * @param queuedCalls calls that were under way or waited at the disk, on average between its last
   *     two heartbeats; {@link #NOT_TOLD} if its server does not tell
   * @param recentErrors calls of the disk that have failed lately, a count that its server halves
   *     every ten minutes; 0 if its server does not tell
   */
  record Disk(
      String storageUuid,
      long storageNumber,
      String serverUuid,
      boolean failed,
      long capacityBytes,
      long usedBytes,
      long remainingBytes,
      StorageType type,
      double queuedCalls,
      double recentErrors) {
    /** In place of a number of queued calls. */
    public static final double NOT_TOLD = -1;

    /** The same disk with as many queued calls. */
    public Disk withQueuedCalls(double calls) {
      return new Disk(
          storageUuid,
          storageNumber,
          serverUuid,
          failed,
          capacityBytes,
          usedBytes,
          remainingBytes,
          type,
          calls,
          recentErrors);
    }

    /** The same disk with as many recent errors. */
    public Disk withRecentErrors(double errors) {
      return new Disk(
          storageUuid,
          storageNumber,
          serverUuid,
          failed,
          capacityBytes,
          usedBytes,
          remainingBytes,
          type,
          queuedCalls,
          errors);
    }

    /** A disk of type DISK whose server tells neither of its queue nor of errors. */
    public Disk(
        String storageUuid,
        long storageNumber,
        String serverUuid,
        boolean failed,
        long capacityBytes,
        long usedBytes,
        long remainingBytes) {
      this(
          storageUuid,
          storageNumber,
          serverUuid,
          failed,
          capacityBytes,
          usedBytes,
          remainingBytes,
          StorageType.DISK,
          NOT_TOLD,
          0);
    }
  }
}
