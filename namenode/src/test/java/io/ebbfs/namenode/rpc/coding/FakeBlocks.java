package io.ebbfs.namenode.rpc.coding;

import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.replicas.BlockHealth;
import io.ebbfs.namenode.replicas.BlockPlaces;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.replicas.GroupHolders;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.namenode.stripes.BlockRows;
import io.ebbfs.protocol.proto.StoreProtos.BlockOwnerRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;

/** The part of the block service that stripes use, without queues: what is to go goes at once. */
final class FakeBlocks implements BlockService {
  private final MetadataStore store;
  private final FakeCluster cluster;

  FakeBlocks(MetadataStore store, FakeCluster cluster) {
    this.store = store;
    this.cluster = cluster;
  }

  @Override
  public List<Invalidation> release(Transaction transaction, long ownerId, List<Long> indices)
      throws IOException {
    List<Invalidation> gone = new ArrayList<>();
    for (long index : indices) {
      BlockRow block = transaction.get(Tables.BLOCK, Tables.block(ownerId, index)).orElseThrow();
      gone.addAll(removeReplicas(transaction, ownerId, block.getBlockId(), null));
      transaction.delete(Tables.BLOCK, Tables.block(ownerId, index));
      transaction.delete(Tables.BLOCK_OWNER, Tables.blockOwner(block.getBlockId()));
    }
    return gone;
  }

  @Override
  public void distrust(
      Transaction transaction,
      long ownerId,
      long blockId,
      long generationStamp,
      String storageUuid) {
    // Nothing is reported here by itself.
  }

  @Override
  public void reopened(Transaction transaction, long ownerId, long blockId) {}

  @Override
  public List<Invalidation> keepOnly(
      Transaction transaction, long ownerId, BlockRow block, String keepStorageUuid)
      throws IOException {
    if (!BlockRows.allStorages(transaction, ownerId, block.getBlockId())
        .contains(keepStorageUuid)) {
      throw new IOException("nothing to keep of block " + block.getBlockId());
    }
    return removeReplicas(transaction, ownerId, block.getBlockId(), keepStorageUuid);
  }

  private List<Invalidation> removeReplicas(
      Transaction transaction, long ownerId, long blockId, String but) throws IOException {
    List<Invalidation> gone = new ArrayList<>();
    for (Row<ReplicaRow> row : BlockRows.replicas(transaction, ownerId, blockId)) {
      String storage = Tables.replicaStorage(row.key());
      if (!storage.equals(but)) {
        transaction.delete(Tables.REPLICA, row.key());
        transaction.delete(
            Tables.STORAGE_REPLICA,
            Tables.storageReplica(cluster.disk(storage).orElseThrow().storageNumber(), blockId));
        gone.add(new Invalidation(storage, blockId, row.value().getGenerationStamp(), 0));
      }
    }
    return gone;
  }

  @Override
  public void invalidate(List<Invalidation> invalidations) {
    for (Invalidation invalidation : invalidations) {
      if (cluster.isLive(invalidation.storageUuid())) {
        cluster.on(invalidation.storageUuid()).remove(invalidation.blockId());
      }
    }
  }

  @Override
  public void reportBad(long blockId, long generationStamp, String storageUuid, String why)
      throws IOException {
    store.transact(
        blockId,
        transaction -> {
          Optional<BlockOwnerRow> owner =
              transaction.get(Tables.BLOCK_OWNER, Tables.blockOwner(blockId));
          if (owner.isPresent() && owner.get().hasOwnerId()) {
            var key = Tables.replica(owner.get().getOwnerId(), blockId, storageUuid);
            Optional<ReplicaRow> row = transaction.get(Tables.REPLICA, key);
            if (row.isPresent()) {
              transaction.put(
                  Tables.REPLICA,
                  key,
                  row.get().toBuilder().setState(ReplicaStateProto.CORRUPT).build());
            }
          }
          return null;
        });
  }

  @Override
  public void reportWrongBytes(long blockId, long generationStamp, String storageUuid, String why)
      throws IOException {
    reportBad(blockId, generationStamp, storageUuid, why);
  }

  @Override
  public void suspect(long blockId, long generationStamp, String storageUuid, String why)
      throws IOException {
    if (!cluster.on(storageUuid).containsKey(blockId)) {
      reportBad(blockId, generationStamp, storageUuid, why);
    }
  }

  /** A full report of every live disk: unknown blocks go, known ones are noted, once each. */
  void reportAll() throws IOException {
    for (String disk : cluster.disks()) {
      if (cluster.isLive(disk)) {
        for (var entry : List.copyOf(cluster.on(disk).entrySet())) {
          report(disk, entry.getKey(), entry.getValue());
        }
      }
    }
  }

  private void report(String disk, long blockId, byte[] bytes) throws IOException {
    boolean known =
        store.transact(
            blockId,
            transaction -> {
              Optional<BlockOwnerRow> owner =
                  transaction.get(Tables.BLOCK_OWNER, Tables.blockOwner(blockId));
              if (owner.isEmpty()) {
                return false;
              }
              if (!owner.get().hasOwnerId()) {
                return true; // of a running transition
              }
              long ownerId = owner.get().getOwnerId();
              BlockRow block =
                  transaction
                      .get(Tables.BLOCK, Tables.block(ownerId, owner.get().getIndex()))
                      .orElseThrow();
              List<String> all = BlockRows.allStorages(transaction, ownerId, blockId);
              List<String> live = BlockRows.liveStorages(transaction, cluster, ownerId, block);
              if (isBeingWritten(transaction, block, disk)) {
                return true;
              }
              if (block.hasTransitionId() && bytes.length == block.getLengthBytes()) {
                BlockRows.addReplica(
                    transaction,
                    cluster,
                    ownerId,
                    blockId,
                    block.getGenerationStamp(),
                    bytes.length,
                    disk);
                return true; // pinned: a transition may be copying it
              }
              if (all.contains(disk)) {
                // The one that has been there longest goes if there are too many.
                boolean excess = live.contains(disk) && live.size() > block.getReplication();
                if (excess) {
                  removeReplica(transaction, ownerId, blockId, disk);
                }
                return !excess;
              }
              if (live.size() >= block.getReplication() || bytes.length != block.getLengthBytes()) {
                return false;
              }
              BlockRows.addReplica(
                  transaction,
                  cluster,
                  ownerId,
                  blockId,
                  block.getGenerationStamp(),
                  bytes.length,
                  disk);
              return true;
            });
    if (!known) {
      cluster.on(disk).remove(blockId);
    }
  }

  /** Whether a running transition of the stripe writes a copy of the block to the disk. */
  private static boolean isBeingWritten(Transaction transaction, BlockRow block, String disk)
      throws IOException {
    return block.hasStripeId()
        && transaction
            .get(Tables.STRIPE, Tables.stripe(block.getStripeId()))
            .filter(StripeRow::hasTransitionId)
            .flatMap(
                stripe -> {
                  try {
                    return transaction.get(
                        Tables.TRANSITION, Tables.transition(stripe.getTransitionId()));
                  } catch (IOException e) {
                    throw new UncheckedIOException(e);
                  }
                })
            .filter(row -> row.getKind() == TransitionKindProto.RELEASE)
            .stream()
            .flatMap(row -> row.getOutputsList().stream())
            .anyMatch(
                output ->
                    output.getBlockId() == block.getBlockId()
                        && output.getStorageUuid().equals(disk));
  }

  private void removeReplica(Transaction transaction, long ownerId, long blockId, String disk) {
    transaction.delete(Tables.REPLICA, Tables.replica(ownerId, blockId, disk));
    transaction.delete(
        Tables.STORAGE_REPLICA,
        Tables.storageReplica(cluster.disk(disk).orElseThrow().storageNumber(), blockId));
  }

  /** Plain blocks with fewer live replicas than wanted. */
  int underReplicated() throws IOException {
    int count = 0;
    for (Row<BlockRow> row : store.scanAll(Tables.BLOCK, null, Integer.MAX_VALUE)) {
      if (!row.value().hasStripeId() && live(row).size() < row.value().getReplication()) {
        count++;
      }
    }
    return count;
  }

  /** What the block manager does for plain blocks. */
  void copyUnderReplicated() throws IOException {
    for (Row<BlockRow> row : store.scanAll(Tables.BLOCK, null, Integer.MAX_VALUE)) {
      BlockRow block = row.value();
      List<String> live = live(row);
      if (!block.hasStripeId() && !live.isEmpty() && live.size() < block.getReplication()) {
        byte[] bytes = cluster.read(live.get(0), block.getBlockId()).orElseThrow();
        cluster.disks().stream()
            .filter(cluster::isLive)
            .filter(
                disk ->
                    cluster.disks().stream()
                        .filter(d -> cluster.serverOf(d).equals(cluster.serverOf(disk)))
                        .noneMatch(d -> cluster.on(d).containsKey(block.getBlockId())))
            .findFirst()
            .ifPresent(disk -> cluster.put(disk, block.getBlockId(), bytes));
      }
    }
    reportAll();
  }

  private List<String> live(Row<BlockRow> row) throws IOException {
    return store.transact(
        row.key().partition(),
        transaction ->
            BlockRows.liveStorages(transaction, cluster, row.key().partition(), row.value()));
  }

  /** The first disks with room, each on another server. */
  @Override
  public void giveBack(List<Target> targets) {} // nothing is reserved here

  @Override
  public List<Target> chooseTargets(WriteRequest request) throws IOException {
    Set<String> taken = new HashSet<>(request.excludedServerUuids());
    taken.addAll(cluster.serversOf(List.copyOf(request.chosenStorageUuids())));
    List<Target> targets = new ArrayList<>();
    for (ClusterView.Server server : cluster.serversForBlocks()) {
      if (targets.size() < request.replication() && !taken.contains(server.uuid())) {
        server.disks().stream()
            .filter(disk -> !disk.failed() && disk.remainingBytes() >= request.blockSizeBytes())
            .findFirst()
            .ifPresent(disk -> targets.add(new Target(server, disk)));
      }
    }
    if (targets.isEmpty()) {
      throw new IOException("no server has room for " + request.path());
    }
    return targets;
  }

  @Override
  public List<Invalidation> setReplication(
      Transaction transaction, long ownerId, long index, int replication) throws IOException {
    BlockRow block = transaction.get(Tables.BLOCK, Tables.block(ownerId, index)).orElseThrow();
    transaction.put(
        Tables.BLOCK,
        Tables.block(ownerId, index),
        block.toBuilder().setReplication(replication).build());
    return List.of();
  }

  // ---- not used by stripes ---------------------------------------------------------------------

  @Override
  public BlockPlaces places(
      Transaction transaction, long ownerId, BlockRow block, long offset, String machine) {
    throw new UnsupportedOperationException();
  }

  @Override
  public LocatedBlock located(BlockPlaces where) {
    throw new UnsupportedOperationException();
  }

  @Override
  public BlockHealth health(Transaction transaction, long ownerId, BlockRow block) {
    throw new UnsupportedOperationException();
  }

  @Override
  public int liveReplicas(Transaction transaction, long ownerId, BlockRow block)
      throws IOException {
    return BlockRows.liveStorages(transaction, cluster, ownerId, block).size();
  }

  @Override
  public CompletableFuture<Void> firstReplica(long ownerId, BlockRow block, long millis) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Optional<String> whyHoldersAreUnknown(Collection<String> storageUuids) {
    return Optional.empty();
  }

  @Override
  public Optional<String> whyHoldersAreAway(Collection<String> storageUuids) {
    return Optional.empty();
  }

  @Override
  public Optional<String> whyReadable(GroupHolders holders, BlockRow group) {
    return Optional.empty();
  }

  @Override
  public boolean recover(long ownerId, BlockRow block, long newGenerationStamp) {
    throw new UnsupportedOperationException();
  }

  @Override
  public List<MissingBlock> missingAfter(long blockId, int most) {
    return List.of();
  }

  @Override
  public Set<Long> writtenToLeavingServers(List<Long> fileIds) {
    return Set.of();
  }
}
