package io.ebbfs.namenode.replicas;

import com.google.common.base.Preconditions;
import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.common.time.ManualClock;
import io.ebbfs.namenode.datanodes.ClusterIdentity;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.datanodes.RackTopology;
import io.ebbfs.namenode.datanodes.RedundancySettings;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.replicas.BlockService.Invalidation;
import io.ebbfs.namenode.replicas.BlockService.Target;
import io.ebbfs.namenode.replicas.BlockService.WriteRequest;
import io.ebbfs.namenode.replicas.ReplicaRows.Replica;
import io.ebbfs.namenode.rpc.datanode.DatanodeFrontEnd;
import io.ebbfs.namenode.store.IdGenerator;
import io.ebbfs.namenode.store.IdGenerators;
import io.ebbfs.namenode.store.InMemoryStore;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.RestoredStore;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.namenode.stripes.StripeManager;
import io.ebbfs.protocol.proto.StoreProtos.BlockOwnerRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.StorageReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.hdfs.protocol.Block;
import org.apache.hadoop.thirdparty.protobuf.ByteString;

/**
 * The block manager on the in-memory store, with simulated chunk servers and a manual clock. The
 * fixture plays the part of files and stripes. Single-threaded.
 */
final class BlockFixture {
  static final long BLOCK_BYTES = 1 << 20;

  final ManualClock clock = new ManualClock();
  MetadataStore store;
  final Random random;
  final RedundancySettings settings;
  final ClusterIdentity identity;
  final Map<String, SimulatedServer> servers = new TreeMap<>();
  final Set<Long> hintedStripes = new LinkedHashSet<>();
  final Set<MemberMove> levelWishes = new LinkedHashSet<>();

  /** The stripes of wishes that were taken back. */
  final List<Long> withdrawnWishes = new ArrayList<>();

  /** Whether wishes to level are refused as soon as they are looked at. */
  boolean refusesLevels;

  /** Whether wishes to level have become transitions that have not ended. */
  boolean levelsRun;

  /** Whether {@link #encode} makes every block a member of the same stripe. */
  boolean encodesIntoOneStripe;

  /** Whether there is no room for wishes to level. */
  boolean levelsWait;

  final Map<Long, BlockRow> blocks = new LinkedHashMap<>();
  SimulatedServer.Witness witness = (server, storage, block) -> {};
  ReplicaVerifier verifier = ReplicaVerifier.NONE;

  /** In force from the next start of the namenode on. */
  RackTopology topology = RackTopology.none();

  DatanodeRegistry cluster;
  BlockManager manager;
  DatanodeFrontEnd frontEnd;

  /** If it is above 0, hints about stripes go to the real stripes, which keep so many of them. */
  int maxHints;

  /** The real stripes. */
  StripeManager stripes;

  /** What {@link StripeService#decodes} answers; null for the truth. */
  Boolean decodes;

  private IdGenerators ids;
  private final Map<Long, Long> ownerOf = new TreeMap<>();

  BlockFixture(long seed, int serverCount, int diskCount) throws IOException {
    this(seed, serverCount, diskCount, settings());
  }

  BlockFixture(long seed, int serverCount, int diskCount, RedundancySettings settings)
      throws IOException {
    this(seed, serverCount, diskCount, settings, new InMemoryStore());
  }

  BlockFixture(
      long seed, int serverCount, int diskCount, RedundancySettings settings, MetadataStore store)
      throws IOException {
    this.store = store;
    this.random = new Random(seed);
    this.settings = settings;
    this.identity = ClusterIdentity.of(store, clock, random);
    startNamenode();
    for (int i = 0; i < serverCount; i++) {
      new SimulatedServer(i, diskCount, identity, servers, (s, d, b) -> witness.deleted(s, d, b));
    }
  }

  static RedundancySettings settings() {
    return new RedundancySettings(10_000, 3_000, 20_000, 15_000, 4, 100, 5_000, 4_000, 500, 10_000);
  }

  /** Starts or restarts the namenode. A restart loses everything in memory. */
  void startNamenode() throws IOException {
    cluster = new DatanodeRegistry(store, IdGenerator.storages(store), clock, settings, topology);
    manager =
        new BlockManager(
            store,
            cluster,
            identity.blockPoolId(),
            clock,
            random,
            settings,
            (server, block) -> verifier.verify(server, block));
    ids = IdGenerators.of(store);
    RestoredStore.skipIds(store, ids);
    manager.bind(ids);
    stripes =
        new StripeManager(
            CodeRegistry.builtIn(), manager, cluster, maxHints > 0 ? maxHints : 1_000);
    manager.bind(
        new StripeService() {
          @Override
          public List<RowLock> locksToRemove(List<Member> members) {
            return List.of();
          }

          @Override
          public List<Invalidation> removeMembers(Transaction t, List<Member> members) {
            return List.of();
          }

          @Override
          public void changeOwners(Transaction transaction, List<MovedMember> moved) {
            throw new UnsupportedOperationException();
          }

          @Override
          public void check(long stripeId) {
            hintedStripes.add(stripeId);
            if (maxHints > 0) {
              stripes.check(stripeId);
            }
          }

          @Override
          public boolean offer(long stripeId, boolean onlyAtRisk) {
            hintedStripes.add(stripeId);
            return maxHints == 0 || stripes.offer(stripeId, onlyAtRisk);
          }

          @Override
          public void checkLeaving(long stripeId) {
            hintedStripes.add(stripeId);
            stripes.checkLeaving(stripeId);
          }

          @Override
          public boolean level(MemberMove wish) {
            return !levelsWait && levelWishes.add(wish);
          }

          @Override
          public boolean mayLevel() {
            return !levelsWait;
          }

          @Override
          public boolean awaitsLevel(long stripeId) {
            return !refusesLevels && !levelsRun;
          }

          @Override
          public boolean isLevelling(Transaction t, long stripeId) {
            return levelsRun;
          }

          @Override
          public boolean withdrawLevel(long stripeId) {
            return awaitsLevel(stripeId) && withdrawnWishes.add(stripeId);
          }

          @Override
          public boolean awaitsCheck(long stripeId) {
            return maxHints > 0 && stripes.awaitsCheck(stripeId);
          }

          @Override
          public Optional<String> whyNotSafeWithout(
              Transaction t, long stripeId, Set<String> awayServerUuids) throws IOException {
            return stripes.whyNotSafeWithout(t, stripeId, awayServerUuids);
          }

          @Override
          public boolean decodes(Transaction t, BlockRow block, ClusterView view)
              throws IOException {
            return decodes != null ? decodes : stripes.decodes(t, block, view);
          }

          @Override
          public DecodeSources decodeSources(Transaction t, BlockRow block) throws IOException {
            return stripes.decodeSources(t, block);
          }
        });
    frontEnd =
        new DatanodeFrontEnd(
            identity, cluster, manager, (b, stamp, length, close, delete, storages) -> {});
  }

  /** Starts the namenode on another store, such as a backup of the first one. */
  void startNamenode(MetadataStore other) throws IOException {
    store = other;
    startNamenode();
  }

  void registerAll() throws IOException {
    for (SimulatedServer server : servers.values()) {
      server.register(frontEnd);
      server.heartbeat(frontEnd);
    }
    deliverAll();
  }

  IdGenerators ids() {
    return ids;
  }

  void deliverAll() throws IOException {
    for (SimulatedServer server : servers.values()) {
      while (server.hasIncremental()) {
        server.deliverIncremental(frontEnd, false);
      }
      while (server.hasFull()) {
        server.deliverFull(frontEnd);
      }
    }
  }

  /** All servers send a heartbeat, all messages arrive, one second passes. */
  void second() throws IOException {
    clock.advance(1_000);
    for (SimulatedServer server : servers.values()) {
      server.heartbeat(frontEnd);
    }
    deliverAll();
    manager.tick();
  }

  void seconds(int count) throws IOException {
    for (int i = 0; i < count; i++) {
      second();
    }
  }

  // ---- files

  /** Writes a file of one block. The reports of its replicas are not delivered yet. */
  BlockRow writeFile(int replication) throws IOException {
    long inodeId = ids.inodes().next();
    long blockId = ids.blocks().next();
    List<Target> targets =
        manager.chooseTargets(
            new WriteRequest(
                "/f" + inodeId, replication, BLOCK_BYTES, "127.0.0.1", Set.of(), Set.of()));
    BlockRow.Builder block =
        BlockRow.newBuilder()
            .setBlockId(blockId)
            .setGenerationStamp(1001)
            .setLengthBytes(BLOCK_BYTES)
            .setState(BlockStateProto.COMPLETE)
            .setReplication(replication);
    String name = "f" + inodeId;
    BlockRow row = block.build();
    store.transact(
        inodeId,
        t -> {
          t.put(
              Tables.INODE_NAME,
              Tables.inodeName(inodeId),
              InodeNameRow.newBuilder()
                  .setParentId(Inode.ROOT_ID)
                  .setName(ByteString.copyFrom(name, StandardCharsets.UTF_8))
                  .build());
          putBlock(t, inodeId, row);
          return null;
        });
    ownerOf.put(blockId, inodeId);
    blocks.put(blockId, row);
    for (Target target : targets) {
      SimulatedServer server = servers.get(target.server().uuid());
      if (server.up && server.disks.containsKey(target.disk().storageUuid())) {
        server.write(target.disk().storageUuid(), new Block(blockId, BLOCK_BYTES, 1001));
      }
    }
    return row;
  }

  private void putBlock(Transaction t, long inodeId, BlockRow row) {
    t.put(Tables.BLOCK, Tables.block(inodeId, 0), row);
    t.put(
        Tables.BLOCK_OWNER,
        Tables.blockOwner(row.getBlockId()),
        BlockOwnerRow.newBuilder().setOwnerId(inodeId).setIndex(0).build());
  }

  /** Writes a block and makes it a member of a stripe, whose row is stored with it. */
  BlockRow addMember(StripeRow.Builder stripe, int position) throws IOException {
    BlockRow written = writeFile(1);
    deliverAll(); // what is written into a stripe without a commit is not trusted
    BlockRow block =
        written.toBuilder().setStripeId(stripe.getId()).setStripePosition(position).build();
    long owner = ownerOf(block.getBlockId());
    stripe.addMembers(
        StripeMemberProto.newBuilder()
            .setPosition(position)
            .setBlockId(block.getBlockId())
            .setGenerationStamp(block.getGenerationStamp())
            .setLengthBytes(block.getLengthBytes())
            .setOwnerId(owner)
            .setOwnerIndex(0));
    store.transact(
        owner,
        t -> {
          t.put(Tables.BLOCK, Tables.block(owner, 0), block);
          t.put(Tables.STRIPE, Tables.stripe(stripe.getId()), stripe.build());
          return null;
        });
    blocks.put(block.getBlockId(), block);
    return block;
  }

  long ownerOf(long blockId) {
    return Preconditions.checkNotNull(ownerOf.get(blockId));
  }

  private void lockOwner(Transaction t, long blockId) throws IOException {
    InodeNameRow name = t.get(Tables.INODE_NAME, Tables.inodeName(ownerOf(blockId))).orElseThrow();
    t.lock(
        List.of(
            RowLock.exclusive(
                Tables.INODE, Tables.inode(name.getParentId(), name.getName().toByteArray()))));
  }

  void deleteFile(long blockId) throws IOException {
    manager.invalidate(removeFile(blockId));
  }

  /**
   * Removes the rows of a file.
   *
   * @return the replicas that {@link BlockManager#invalidate} is to delete
   */
  List<Invalidation> removeFile(long blockId) throws IOException {
    long owner = ownerOf(blockId);
    List<Invalidation> gone =
        store.transact(
            owner,
            t -> {
              lockOwner(t, blockId);
              t.delete(Tables.INODE_NAME, Tables.inodeName(owner));
              return manager.release(t, owner, List.of(0L));
            });
    blocks.remove(blockId);
    return gone;
  }

  void setReplication(long blockId, int replication) throws IOException {
    long owner = ownerOf(blockId);
    manager.invalidate(
        store.transact(
            owner,
            t -> {
              lockOwner(t, blockId);
              return manager.setReplication(t, owner, 0, replication);
            }));
    blocks.computeIfPresent(
        blockId,
        (id, row) -> row.hasStripeId() ? row : row.toBuilder().setReplication(replication).build());
  }

  /** Leaves a block as the end of a block recovery does: committed, and with too few replicas. */
  void commitByRecovery(long blockId, int replication) throws IOException {
    BlockRow row =
        blocks.get(blockId).toBuilder()
            .setState(BlockStateProto.COMMITTED)
            .setReplication(replication)
            .build();
    store.transact(
        ownerOf(blockId),
        t -> {
          lockOwner(t, blockId);
          putBlock(t, ownerOf(blockId), row);
          return null;
        });
    blocks.put(blockId, row);
  }

  /**
   * Opens a block again, and closes it with another generation, which the live replicas get whose
   * servers are up. The servers report them later.
   *
   * @return false if there is no such replica
   */
  boolean append(long blockId) throws IOException {
    List<String> written =
        liveStorages(blockId).stream()
            .filter(storage -> physical(blockId).contains(storage) && holder(storage).up)
            .toList();
    if (written.isEmpty()) {
      return false;
    }
    BlockRow before = blocks.get(blockId);
    BlockRow after = before.toBuilder().setGenerationStamp(before.getGenerationStamp() + 1).build();
    long owner = ownerOf(blockId);
    store.transact(
        owner,
        t -> {
          lockOwner(t, blockId);
          manager.reopened(t, owner, blockId);
          putBlock(t, owner, after.toBuilder().setState(BlockStateProto.COMMITTED).build());
          return null;
        });
    for (String storage : written) {
      holder(storage)
          .write(storage, new Block(blockId, after.getLengthBytes(), after.getGenerationStamp()));
    }
    blocks.put(blockId, after); // the namenode completes the block when a replica is reported
    return true;
  }

  /** The row of a block that {@link #writeFile} has made. */
  BlockRow row(long blockId) throws IOException {
    return store.transact(
        ownerOf(blockId),
        t -> t.get(Tables.BLOCK, Tables.block(ownerOf(blockId), 0)).orElseThrow());
  }

  /** Does to a block what the commit of an encoding does; false if no live replica can stay. */
  boolean encode(long blockId) throws IOException {
    long owner = ownerOf(blockId);
    long stripeId = encodesIntoOneStripe ? 1 : ids.inodes().next();
    List<String> live = liveStorages(blockId);
    if (live.isEmpty()) {
      return false;
    }
    String keep = live.get(random.nextInt(live.size()));
    BlockRow member =
        blocks.get(blockId).toBuilder()
            .setReplication(1)
            .setStripeId(stripeId)
            .setStripePosition(0)
            .build();
    manager.invalidate(
        store.transact(
            owner,
            t -> {
              lockOwner(t, blockId);
              putBlock(t, owner, member);
              t.put(
                  Tables.STRIPE,
                  Tables.stripe(stripeId),
                  StripeRow.newBuilder()
                      .setId(stripeId)
                      .setCode("PC(2x5)")
                      .setUnitLengthBytes(BLOCK_BYTES)
                      .setGeneration(1)
                      .setPolicy("test")
                      .setCreatedMillis(clock.millis())
                      .build());
              return manager.keepOnly(t, owner, member, keep);
            }));
    blocks.put(blockId, member);
    return true;
  }

  // ---- what the namenode believes, and what is true

  List<Replica> rows(long blockId) throws IOException {
    long owner = ownerOf(blockId);
    return store.transact(owner, t -> ReplicaRows.of(t, owner, blockId));
  }

  /** The disk with a number, also of a server that has not registered since a restart. */
  String storage(long number) {
    return cluster.allServers().stream()
        .flatMap(server -> server.disks().stream())
        .filter(disk -> disk.storageNumber() == number)
        .findFirst()
        .orElseThrow()
        .storageUuid();
  }

  /** The row of a replica in the list of its disk. */
  StorageReplicaRow note(String storageUuid, long blockId) throws IOException {
    long number = cluster.disk(storageUuid).orElseThrow().storageNumber();
    return store.transact(
        number,
        t -> t.get(Tables.STORAGE_REPLICA, Tables.storageReplica(number, blockId)).orElseThrow());
  }

  List<String> liveStorages(long blockId) throws IOException {
    List<String> live = new ArrayList<>();
    for (Replica replica : rows(blockId)) {
      if (ReplicaRows.isGood(blocks.get(blockId), replica.row())
          && cluster.isLive(replica.storageUuid())) {
        live.add(replica.storageUuid());
      }
    }
    return live;
  }

  int liveReplicas(long blockId) throws IOException {
    long owner = ownerOf(blockId);
    return store.transact(owner, t -> manager.liveReplicas(t, owner, blocks.get(blockId)));
  }

  /** The disks that hold the block in truth, whether their servers run or not. */
  Set<String> physical(long blockId) {
    Set<String> found = new TreeSet<>();
    for (SimulatedServer server : servers.values()) {
      server.disks.forEach(
          (storage, replicas) -> {
            if (replicas.containsKey(blockId)) {
              found.add(storage);
            }
          });
    }
    return found;
  }

  SimulatedServer holder(String storage) {
    return servers.values().stream()
        .filter(server -> server.disks.containsKey(storage))
        .findFirst()
        .orElseThrow();
  }
}
