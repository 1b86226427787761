package io.ebbfs.namespace.block;

import io.ebbfs.namespace.block.ClusterView.Disk;
import io.ebbfs.namespace.block.ClusterView.Server;
import io.ebbfs.namespace.block.Replicas.Replica;
import io.ebbfs.namespace.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.protocol.DatanodeID;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo.DatanodeInfoBuilder;
import org.apache.hadoop.hdfs.protocol.DatanodeInfoWithStorage;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;

/** Where a client finds a block; see {@link BlockService#locate}. Thread-safe. */
final class Locator {
  private static final int PROXIES = 3;

  /** A place in the answer. Proxies have no disk. */
  private record Place(Server server, String storageUuid) {}

  private final ClusterMap cluster;
  private final SharedRandom random;
  private final String blockPoolId;

  Locator(ClusterMap cluster, SharedRandom random, String blockPoolId) {
    this.cluster = cluster;
    this.random = random;
    this.blockPoolId = blockPoolId;
  }

  LocatedBlock locate(
      Transaction transaction, long ownerId, BlockRow block, long offsetBytes, String machine)
      throws IOException {
    List<Replica> replicas = Replicas.of(transaction, ownerId, block.getBlockId());
    if (Replicas.isOpen(block)) {
      List<Place> pipeline = pipeline(block);
      return located(
          block,
          offsetBytes,
          pipeline.isEmpty() ? good(block, replicas, machine) : pipeline,
          false);
    }
    List<Place> places = good(block, replicas, machine);
    if (block.hasStripeId()) {
      addProxies(places, replicas);
      return located(block, offsetBytes, places, false);
    }
    if (places.isEmpty() && block.getState() == BlockStateProto.COMMITTED) {
      return located(block, offsetBytes, pipeline(block), false);
    }
    if (places.isEmpty()) {
      List<Place> corrupt = corrupt(replicas);
      return located(block, offsetBytes, corrupt, !corrupt.isEmpty());
    }
    return located(block, offsetBytes, places, false);
  }

  /** Live good replicas: the client's machine first, then any order, overdue servers last. */
  private List<Place> good(BlockRow block, List<Replica> replicas, String machine) {
    List<Place> places = new ArrayList<>();
    for (Replica replica : replicas) {
      if (Replicas.isGood(block, replica.row()) && cluster.isLive(replica.storageUuid())) {
        addPlace(places, replica.storageUuid());
      }
    }
    random.shuffle(places);
    places.sort(
        Comparator.comparing((Place place) -> cluster.isStale(place.server()))
            .thenComparing(place -> !TargetChooser.isOn(place.server(), machine)));
    return places;
  }

  private List<Place> corrupt(List<Replica> replicas) {
    List<Place> places = new ArrayList<>();
    for (Replica replica : replicas) {
      if (replica.row().getState() != ReplicaStateProto.EXCESS
          && cluster.isLive(replica.storageUuid())) {
        addPlace(places, replica.storageUuid());
      }
    }
    return places;
  }

  /** In the order of the pipeline; those in service if any is. */
  private List<Place> pipeline(BlockRow block) {
    List<Place> all = new ArrayList<>();
    block.getPipelineStorageUuidsList().forEach(storage -> addPlace(all, storage));
    List<Place> live = all.stream().filter(p -> cluster.isLive(p.storageUuid())).toList();
    return live.isEmpty() ? all : live;
  }

  private void addPlace(List<Place> places, String storageUuid) {
    cluster
        .disk(storageUuid)
        .map(Disk::serverUuid)
        .flatMap(cluster::server)
        .ifPresent(server -> places.add(new Place(server, storageUuid)));
  }

  /** Servers that decode the block for the client, less busy ones first; none that holds it. */
  private void addProxies(List<Place> places, List<Replica> replicas) {
    Set<String> holders = new HashSet<>();
    for (Replica replica : replicas) {
      cluster.disk(replica.storageUuid()).ifPresent(disk -> holders.add(disk.serverUuid()));
    }
    List<Server> others = new ArrayList<>(cluster.liveServers());
    others.removeIf(server -> holders.contains(server.uuid()) || cluster.isStale(server));
    for (int i = 0; i < PROXIES && !others.isEmpty(); i++) {
      Server one = others.get(random.below(others.size()));
      Server other = others.get(random.below(others.size()));
      Server chosen = one.activeTransfers() <= other.activeTransfers() ? one : other;
      others.remove(chosen);
      places.add(new Place(chosen, ""));
    }
  }

  private LocatedBlock located(
      BlockRow block, long offsetBytes, List<Place> places, boolean corrupt) {
    DatanodeInfoWithStorage[] infos = new DatanodeInfoWithStorage[places.size()];
    String[] storages = new String[places.size()];
    StorageType[] types = new StorageType[places.size()];
    for (int i = 0; i < infos.length; i++) {
      Place place = places.get(i);
      storages[i] = place.storageUuid();
      types[i] = StorageType.DISK;
      infos[i] =
          new DatanodeInfoWithStorage(info(place.server()), place.storageUuid(), StorageType.DISK);
    }
    return new LocatedBlock(
        extended(block), infos, storages, types, offsetBytes, corrupt, DatanodeInfo.EMPTY_ARRAY);
  }

  ExtendedBlock extended(BlockRow block) {
    return new ExtendedBlock(
        blockPoolId, block.getBlockId(), block.getLengthBytes(), block.getGenerationStamp());
  }

  /** A server as HDFS describes it to clients and other servers. */
  static DatanodeInfo info(Server server) {
    long capacity = 0;
    long used = 0;
    long remaining = 0;
    for (Disk disk : server.disks()) {
      capacity += disk.failed() ? 0 : disk.capacityBytes();
      used += disk.failed() ? 0 : disk.usedBytes();
      remaining += disk.failed() ? 0 : disk.remainingBytes();
    }
    return new DatanodeInfoBuilder()
        .setNodeID(
            new DatanodeID(
                server.ipAddress(),
                server.hostName(),
                server.uuid(),
                server.transferPort(),
                server.infoPort(),
                0,
                server.ipcPort()))
        .setNetworkLocation(server.rack())
        .setCapacity(capacity)
        .setDfsUsed(used)
        .setBlockPoolUsed(used)
        .setRemaining(remaining)
        .setNonDfsUsed(Math.max(0, capacity - used - remaining))
        .setLastUpdate(server.lastHeartbeatMillis())
        .setXceiverCount(server.activeTransfers())
        .build();
  }
}
