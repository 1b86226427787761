package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.ClusterView.DrainState;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.datanodes.SharedRandom;
import io.ebbfs.namenode.erasure.BlockGroupLayout;
import io.ebbfs.namenode.replicas.BlockPlaces.Place;
import io.ebbfs.namenode.replicas.ReplicaRows.Replica;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.protocol.DatanodeID;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo.DatanodeInfoBuilder;
import org.apache.hadoop.hdfs.protocol.DatanodeInfoWithStorage;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.apache.hadoop.hdfs.protocol.LocatedStripedBlock;

/**
 * Locates blocks for clients: orders replicas and adds proxies; see {@link BlockService#places}.
 * Thread-safe.
 */
public final class BlockLocator {
  private static final int PROXIES = 3;

  /** Servers among which proxies are chosen if every server would do. */
  private static final int SAMPLE = 16;

  /** A plan takes some tenths of a millisecond, and a listing may locate a million lost blocks. */
  private static final int PLANS_PER_SECOND = 1_000;

  private final DatanodeRegistry cluster;
  private final SharedRandom random;
  private final String blockPoolId;
  private final Clock clock;
  private volatile StripeService stripes;
  private long planSecond;
  private int plansInSecond;

  /** Sets the stripes; called once, before the first look-up. */
  void bind(StripeService stripes) {
    this.stripes = stripes;
  }

  BlockLocator(DatanodeRegistry cluster, SharedRandom random, String blockPoolId, Clock clock) {
    this.cluster = cluster;
    this.random = random;
    this.blockPoolId = blockPoolId;
    this.clock = clock;
  }

  BlockPlaces places(
      Transaction transaction, long ownerId, BlockRow block, long offsetBytes, String machine)
      throws IOException {
    if (GroupRows.isGroup(block)) {
      return groupPlaces(transaction, block, offsetBytes);
    }
    List<Replica> replicas = ReplicaRows.of(transaction, ownerId, block.getBlockId());
    if (ReplicaRows.isOpen(block)) {
      List<Place> pipeline = pipeline(block);
      return new BlockPlaces(
          block,
          offsetBytes,
          pipeline.isEmpty() ? good(block, replicas, machine) : pipeline,
          false);
    }
    List<Place> places = good(block, replicas, machine);
    if (block.hasStripeId()) {
      boolean readable = places.stream().anyMatch(place -> !cluster.isOverdue(place.server()));
      // A client that can read the block itself needs no good proxy, so no plan is made.
      DecodeSources sources =
          readable || !mayPlan() ? DecodeSources.NONE : stripes.decodeSources(transaction, block);
      boolean held = !places.isEmpty();
      addProxies(places, replicas, sources);
      if (!held) {
        places.addAll(foundBad(block, replicas));
      }
      return new BlockPlaces(block, offsetBytes, places, false);
    }
    if (places.isEmpty() && block.getState() == BlockStateProto.COMMITTED) {
      return new BlockPlaces(block, offsetBytes, pipeline(block), false);
    }
    if (places.isEmpty()) {
      List<Place> corrupt = corrupt(replicas);
      return new BlockPlaces(block, offsetBytes, corrupt, !corrupt.isEmpty());
    }
    return new BlockPlaces(block, offsetBytes, places, false);
  }

  /**
   * The blocks of a group on live disks, one place each: the client decodes the others. While the
   * group is written, these are the places to which its blocks are written; they are also the
   * places of the blocks of a committed group that are not reported yet.
   */
  private BlockPlaces groupPlaces(Transaction transaction, BlockRow group, long offsetBytes)
      throws IOException {
    List<Place> places = new ArrayList<>();
    ByteArrayOutputStream indices = new ByteArrayOutputStream();
    for (Row<BlockRow> row : GroupRows.blocks(transaction, group)) {
      BlockRow block = GroupRows.expected(group, row);
      List<Place> found =
          ReplicaRows.isOpen(group)
              ? pipeline(block)
              : good(
                  block,
                  ReplicaRows.of(transaction, group.getInternalOwnerId(), block.getBlockId()),
                  "");
      if (found.isEmpty()
          && group.getState() == BlockStateProto.COMMITTED
          && block.getLengthBytes() > 0) {
        found = pipeline(row.value());
      }
      if (!found.isEmpty()) {
        places.add(found.get(0));
        indices.write((int) row.key().firstLong());
      }
    }
    boolean corrupt =
        group.getState() == BlockStateProto.COMPLETE
            && places.size()
                < BlockGroupLayout.of(group.getEcPolicyId()).neededBlocks(group.getLengthBytes());
    return new BlockPlaces(group, offsetBytes, places, corrupt, indices.toByteArray());
  }

  /**
   * Live good replicas: the client's machine first, else in random order. Servers that are drained
   * or hibernate come after all others, and overdue servers, which may not answer, last.
   */
  private List<Place> good(BlockRow block, List<Replica> replicas, String machine) {
    List<Place> places = new ArrayList<>();
    for (Replica replica : replicas) {
      if (ReplicaRows.isGood(block, replica.row()) && cluster.isLive(replica.storageUuid())) {
        addPlace(places, replica.storageUuid());
      }
    }
    random.shuffle(places);
    places.sort(
        Comparator.comparing((Place place) -> cluster.isOverdue(place.server()))
            .thenComparing(place -> !place.server().takesBlocks())
            .thenComparing(place -> !ReplicaTargetChooser.isOn(place.server(), machine)));
    return places;
  }

  /**
   * The last resort of a block without a live replica: replicas that their servers found bad. The
   * client verifies the chunks that it reads, and the other chunks may be good.
   */
  private List<Place> foundBad(BlockRow block, List<Replica> replicas) {
    List<Place> places = new ArrayList<>();
    for (Replica replica : replicas) {
      ReplicaRow row = replica.row();
      if (CorruptMarks.isFoundBad(row)
          && ReplicaRows.agrees(block, row.getGenerationStamp(), row.getLengthBytes())
          && cluster.isLive(replica.storageUuid())) {
        addPlace(places, replica.storageUuid());
      }
    }
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

  /** The disks of the pipeline in its order: those in service, or all if none is. */
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

  /**
   * Adds servers that decode the block for the client; no holder of the block is one. Servers with
   * a source of the decoding come first, because they fetch one block less. Of two random servers,
   * the one with less work is taken.
   */
  private void addProxies(List<Place> places, List<Replica> replicas, DecodeSources sources) {
    Set<String> holders = new HashSet<>();
    for (Replica replica : replicas) {
      cluster.disk(replica.storageUuid()).ifPresent(disk -> holders.add(disk.serverUuid()));
    }
    List<Server> others = candidates(holders, sources);
    List<Server> holdersOfSources = new ArrayList<>(others);
    holdersOfSources.removeIf(server -> !sources.isOn(server.uuid()));
    others.removeAll(holdersOfSources);
    for (int i = 0; i < PROXIES && !(holdersOfSources.isEmpty() && others.isEmpty()); i++) {
      List<Server> from = holdersOfSources.isEmpty() ? others : holdersOfSources;
      places.add(new Place(takeProxy(from, sources), ""));
    }
  }

  /**
   * Servers that may be proxies. Without a plan any server serves, so a sample is enough: the cost
   * of a location does not grow with the cluster.
   */
  private List<Server> candidates(Set<String> holders, DecodeSources sources) {
    List<Server> live = cluster.liveServers();
    if (sources.count() == 0 && live.size() > SAMPLE) {
      Set<Server> drawn = new LinkedHashSet<>();
      for (int i = 0; i < SAMPLE; i++) {
        drawn.add(live.get(random.below(live.size())));
      }
      List<Server> sample = suitable(drawn, holders);
      if (sample.size() >= PROXIES) {
        return sample;
      }
    }
    return suitable(live, holders);
  }

  private List<Server> suitable(Collection<Server> servers, Set<String> holders) {
    List<Server> suitable = new ArrayList<>(servers);
    suitable.removeIf(server -> holders.contains(server.uuid()) || cluster.isStale(server));
    return suitable;
  }

  /** True up to a number of plans each second. Without a plan, proxies are chosen at random. */
  private synchronized boolean mayPlan() {
    long second = clock.millis() / 1_000;
    if (second != planSecond) {
      planSecond = second;
      plansInSecond = 0;
    }
    return plansInSecond++ < PLANS_PER_SECOND;
  }

  private Server takeProxy(List<Server> from, DecodeSources sources) {
    int first = random.below(from.size());
    Server one = from.get(first);
    Server other =
        from.size() == 1
            ? one
            : from.get((first + 1 + random.below(from.size() - 1)) % from.size());
    Server chosen = work(one, sources) <= work(other, sources) ? one : other;
    from.remove(chosen);
    return chosen;
  }

  /** A measure of a proxy's time: blocks to fetch, times the transfers that share its link. */
  private static long work(Server server, DecodeSources sources) {
    return (1L + server.activeTransfers()) * Math.max(1, sources.remoteFor(server.uuid()));
  }

  /** See {@link BlockService#health}. */
  BlockHealth health(Transaction transaction, long ownerId, BlockRow block) throws IOException {
    if (GroupRows.isGroup(block)) {
      return groupHealth(transaction, block);
    }
    List<BlockHealth.Found> found = found(transaction, ownerId, block);
    boolean held = found.stream().anyMatch(it -> it.state() == BlockHealth.State.LIVE);
    boolean decodes = !held && block.hasStripeId() && stripes.decodes(transaction, block, cluster);
    return new BlockHealth(block, found, decodes);
  }

  /** The replicas of the blocks of a group; of each block, at most one counts as live. */
  private BlockHealth groupHealth(Transaction transaction, BlockRow group) throws IOException {
    List<BlockHealth.Found> all = new ArrayList<>();
    for (Row<BlockRow> row : GroupRows.blocks(transaction, group)) {
      BlockRow block = GroupRows.expected(group, row);
      List<BlockHealth.Found> found = found(transaction, group.getInternalOwnerId(), block);
      found.sort(Comparator.comparing(at -> at.server().drain() != DrainState.NONE));
      boolean held = false;
      for (BlockHealth.Found at : found) {
        boolean live = at.state() == BlockHealth.State.LIVE;
        all.add(live && held ? at.as(BlockHealth.State.EXCESS) : at);
        held |= live;
      }
    }
    return new BlockHealth(group, all, false);
  }

  /** The replicas of a block on disks in service. */
  private List<BlockHealth.Found> found(Transaction transaction, long ownerId, BlockRow block)
      throws IOException {
    List<BlockHealth.Found> found = new ArrayList<>();
    for (Replica replica : ReplicaRows.of(transaction, ownerId, block.getBlockId())) {
      if (cluster.isLive(replica.storageUuid())) {
        List<Place> place = new ArrayList<>(1);
        addPlace(place, replica.storageUuid());
        place.forEach(
            at ->
                found.add(
                    new BlockHealth.Found(
                        at.server(),
                        at.storageUuid(),
                        state(block, replica.row()),
                        block.getBlockId())));
      }
    }
    return found;
  }

  private static BlockHealth.State state(BlockRow block, ReplicaRow row) {
    if (row.getState() == ReplicaStateProto.EXCESS) {
      return BlockHealth.State.EXCESS;
    }
    return ReplicaRows.isGood(block, row) ? BlockHealth.State.LIVE : BlockHealth.State.CORRUPT;
  }

  /** The same for Hadoop's classes. */
  LocatedBlock located(BlockPlaces where) {
    return located(blockPoolId, where);
  }

  /** The same for Hadoop's classes, in a block pool. */
  public static LocatedBlock located(String blockPoolId, BlockPlaces where) {
    List<Place> places = where.places();
    DatanodeInfoWithStorage[] infos = new DatanodeInfoWithStorage[places.size()];
    String[] storages = new String[places.size()];
    StorageType[] types = new StorageType[places.size()];
    for (int i = 0; i < infos.length; i++) {
      Place place = places.get(i);
      storages[i] = place.storageUuid();
      types[i] = place.type();
      infos[i] = new DatanodeInfoWithStorage(info(place.server()), place.storageUuid(), types[i]);
    }
    ExtendedBlock block = extended(blockPoolId, where.block());
    return where.groupIndices() == null
        ? new LocatedBlock(
            block,
            infos,
            storages,
            types,
            where.offsetBytes(),
            where.corrupt(),
            DatanodeInfo.EMPTY_ARRAY)
        : new LocatedStripedBlock(
            block,
            infos,
            storages,
            types,
            where.groupIndices(),
            where.offsetBytes(),
            where.corrupt(),
            DatanodeInfo.EMPTY_ARRAY);
  }

  public ExtendedBlock extended(BlockRow block) {
    return extended(blockPoolId, block);
  }

  private static ExtendedBlock extended(String blockPoolId, BlockRow block) {
    return new ExtendedBlock(
        blockPoolId, block.getBlockId(), block.getLengthBytes(), block.getGenerationStamp());
  }

  /** The state of a server as HDFS names it. */
  public static DatanodeInfo.AdminStates adminState(Server server) {
    if (!server.isLeaving() && server.isHibernating()) {
      return server.hibernation().orElseThrow().ready()
          ? DatanodeInfo.AdminStates.IN_MAINTENANCE
          : DatanodeInfo.AdminStates.ENTERING_MAINTENANCE;
    }
    return switch (server.drain()) {
      case NONE -> DatanodeInfo.AdminStates.NORMAL;
      case DRAINING -> DatanodeInfo.AdminStates.DECOMMISSION_INPROGRESS;
      case DRAINED -> DatanodeInfo.AdminStates.DECOMMISSIONED;
    };
  }

  /** A server as HDFS describes it to clients and other servers. */
  public static DatanodeInfo info(Server server) {
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
        .setAdminState(adminState(server))
        .build();
  }
}
