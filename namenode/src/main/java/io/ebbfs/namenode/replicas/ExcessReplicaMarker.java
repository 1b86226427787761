package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import io.ebbfs.namenode.datanodes.DatanodeRegistry;
import io.ebbfs.namenode.placement.TargetGrader;
import io.ebbfs.namenode.replicas.BlockService.Invalidation;
import io.ebbfs.namenode.replicas.ReplicaRows.Replica;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import org.apache.hadoop.fs.StorageType;

/**
 * Chooses and marks replicas to delete. A replica is deleted in two steps: its row is marked EXCESS
 * (or CORRUPT) under the lock of the owner, and only a marked replica is ever ordered to be
 * deleted. So nobody counts a replica that may be deleted, and a second choice cannot fall on the
 * replica that the first choice kept, even if a crash comes between the steps. Thread-safe.
 */
final class ExcessReplicaMarker {
  // How bad a replica is, besides its fullness, which is at most 1. A wrong type, errors of the
  // disk and a hint together do not outweigh the racks: the block stays in two of them.
  private static final double REPLACED = 1.2;
  private static final double ON_ERRING_DISK = 2.5;
  private static final double OF_WRONG_TYPE = 4.0;
  private static final double KEEPS_TWO_RACKS = 9.0;

  private final MetadataStore store;
  private final DatanodeRegistry cluster;
  private final DatanodeCommandQueue commands;
  private final long reportTravelMillis;
  private final ReplacedReplicas replaced;
  private final BlockTypes types;
  private volatile StripeService stripes;

  ExcessReplicaMarker(
      MetadataStore store,
      DatanodeRegistry cluster,
      DatanodeCommandQueue commands,
      long reportTravelMillis,
      ReplacedReplicas replaced) {
    this.store = store;
    this.cluster = cluster;
    this.commands = commands;
    this.reportTravelMillis = reportTravelMillis;
    this.replaced = replaced;
    this.types = new BlockTypes(store, cluster);
  }

  /** Sets the stripes. Until then no lost block counts as decodable. */
  void bind(StripeService service) {
    stripes = service;
  }

  boolean hasWork(BlockAssessment block) {
    return block.counted().size() > block.wanted()
        || !block.wrong().isEmpty()
        || !block.excess().isEmpty();
  }

  /**
   * Marks excess and corrupt replicas of a block. Takes marks back if the block needs the replica.
   *
   * @return replicas to delete
   */
  List<Invalidation> update(long blockId) throws IOException {
    return OptimisticTransactions.transact(
        store,
        blockId,
        Durability.RELAXED,
        transaction -> {
          StoredBlock stored =
              BlockLookup.lock(transaction, List.of(blockId), RowLock.Mode.EXCLUSIVE).get(blockId);
          if (stored == null || stored.isOutput()) {
            return List.of();
          }
          BlockAssessment block = BlockAssessment.of(transaction, cluster, stored);
          return block.settled() ? update(transaction, block) : List.of();
        });
  }

  private List<Invalidation> update(Transaction transaction, BlockAssessment block)
      throws IOException {
    long blockId = block.block().getBlockId();
    List<Invalidation> gone = new ArrayList<>();
    if (block.counted().size() < block.wanted()) {
      rescue(transaction, block);
    } else if (!block.pinned()) {
      for (Replica replica : choose(transaction, block)) {
        mark(transaction, block, replica, ReplicaStateProto.EXCESS);
        gone.add(ReplicaRows.invalidation(blockId, replica));
      }
    }
    if (block.whole()) {
      block.excess().stream()
          .filter(replica -> !commands.isOrdered(replica.storageUuid(), blockId))
          .forEach(replica -> gone.add(ReplicaRows.invalidation(blockId, replica)));
    }
    for (Replica replica : block.wrong()) {
      if (replica.row().getState() != ReplicaStateProto.CORRUPT) {
        mark(transaction, block, replica, ReplicaStateProto.CORRUPT);
      }
      if (corruptMayGo(transaction, block, replica)
          && !commands.isOrdered(replica.storageUuid(), blockId)) {
        gone.add(ReplicaRows.invalidation(blockId, replica));
      }
    }
    return gone;
  }

  /**
   * Takes back the mark of excess replicas whose deletion was not ordered. An earlier process may
   * have ordered it, too: only a full report after its restart shows that the replica is still
   * there.
   */
  private void rescue(Transaction transaction, BlockAssessment block) {
    int lacking = block.wanted() - block.counted().size();
    for (Replica replica : block.excess()) {
      boolean helps = block.live().isEmpty() || !cluster.isLeaving(replica.storageUuid());
      boolean usable =
          helps
              && ReplicaRows.agrees(
                  block.block(), replica.row().getGenerationStamp(), replica.row().getLengthBytes())
              && isStillThere(replica.storageUuid(), block.block().getBlockId());
      if (usable && lacking > 0) {
        mark(transaction, block, replica, ReplicaStateProto.FINALIZED);
        lacking--;
      }
    }
  }

  /** A server takes a replica out of its reports when it gets the order to delete the replica. */
  private boolean isStillThere(String storageUuid, long blockId) {
    return cluster.hasReported(storageUuid)
        && commands
            .orderedMillis(storageUuid, blockId)
            .map(ordered -> cluster.hasReportedSince(storageUuid, ordered + reportTravelMillis))
            .orElse(true);
  }

  private void mark(
      Transaction transaction, BlockAssessment block, Replica replica, ReplicaStateProto state) {
    ReplicaRow row = replica.row().toBuilder().setState(state).build();
    ReplicaRows.change(
        transaction,
        cluster,
        block.stored().ownerId(),
        block.block().getBlockId(),
        replica.storageUuid(),
        row);
  }

  /** A corrupt replica is deleted once the block is whole, or to make room for a good replica. */
  private boolean corruptMayGo(Transaction transaction, BlockAssessment block, Replica replica)
      throws IOException {
    if (block.whole()) {
      return true;
    }
    if (block.trusted().isEmpty()) {
      return isInTheWay(transaction, block, replica);
    }
    return coverAllServers(block.all());
  }

  /**
   * Whether a replica is the one that makes room for a rebuilt block. Attempts without a commit
   * have left a replica of a lost block on every server, so that no server can take the block. One
   * such replica goes if the stripe decodes without it; the others stay until a commit. A replica
   * that its own server found bad stays: some of its chunks may be good.
   */
  private boolean isInTheWay(Transaction transaction, BlockAssessment block, Replica replica)
      throws IOException {
    List<Replica> inTheWay =
        block.wrong().stream()
            .filter(wrong -> wrong.row().getLengthBytes() != ReplicaRows.NOT_REPORTED)
            .toList();
    if (!block.striped() || !block.live().isEmpty() || !coverAllServers(inTheWay)) {
      return false;
    }
    Map<String, Integer> neighbours = neighbours(transaction, block);
    Optional<Replica> first =
        inTheWay.stream()
            .filter(wrong -> isLeftByAnAttempt(block, wrong) && isAlone(wrong, block))
            .min(Comparator.comparingInt(wrong -> neighbours.getOrDefault(serverOf(wrong), 0)));
    return first.filter(replica::equals).isPresent()
        && stripes != null
        && stripes.decodes(transaction, block.block(), new ReportedDisks(cluster));
  }

  private static boolean isLeftByAnAttempt(BlockAssessment block, Replica replica) {
    ReplicaRow row = replica.row();
    return row.getState() == ReplicaStateProto.CORRUPT
        && !CorruptMarks.isFoundBad(row)
        && ReplicaRows.agrees(block.block(), row.getGenerationStamp(), row.getLengthBytes());
  }

  private boolean isAlone(Replica replica, BlockAssessment block) {
    return block.all().stream()
        .noneMatch(other -> !other.equals(replica) && serverOf(other).equals(serverOf(replica)));
  }

  private boolean coverAllServers(List<Replica> replicas) {
    Set<String> occupied = new HashSet<>();
    replicas.forEach(replica -> occupied.add(serverOf(replica)));
    return cluster.serversForBlocks().stream().allMatch(server -> occupied.contains(server.uuid()));
  }

  /** Whether an order to delete a replica, given some time ago, is still right. */
  boolean mayDelete(Transaction transaction, BlockAssessment block, Invalidation order)
      throws IOException {
    Optional<Replica> replica =
        block.all().stream().filter(r -> r.storageUuid().equals(order.storageUuid())).findFirst();
    if (replica.isEmpty() || replica.get().row().getGenerationStamp() != order.generationStamp()) {
      return false;
    }
    // A server that deletes by block id would delete a good replica on another of its disks.
    String server = serverOf(replica.get());
    boolean hasGoodOne = block.live().stream().anyMatch(live -> serverOf(live).equals(server));
    return !hasGoodOne
        && switch (replica.get().row().getState()) {
          case FINALIZED -> false;
          case EXCESS -> block.whole();
          case CORRUPT ->
              block.wrong().contains(replica.get())
                  && corruptMayGo(transaction, block, replica.get());
        };
  }

  // ---- the choice

  /**
   * Chooses excess replicas; the trusted replicas that remain are enough. A replica that shares a
   * server with another replica is chosen first. Next come replicas on servers that are drained,
   * then replicas that share a server or a disk with other members of the stripe, then replicas of
   * a type of which the storage policy wants fewer, then a replica that a balancer has replaced by
   * one elsewhere, then replicas on the fullest disks. Among those without another fault, a replica
   * is chosen last if the others are in one rack.
   */
  List<Replica> choose(Transaction transaction, BlockAssessment block) throws IOException {
    List<Replica> kept = new ArrayList<>(block.trusted());
    List<Replica> gone = new ArrayList<>();
    Map<String, Integer> neighbours = neighbours(transaction, block);
    while (kept.size() > block.wanted()) {
      List<StorageType> excess = types.excess(transaction, block, kept);
      ToDoubleFunction<Replica> badness =
          replica ->
              badness(block, replica, kept, neighbours)
                  + (excess.contains(cluster.typeOf(replica.storageUuid())) ? OF_WRONG_TYPE : 0.0);
      Replica worst = kept.get(0);
      for (Replica replica : kept) {
        if (badness.applyAsDouble(replica) > badness.applyAsDouble(worst)) {
          worst = replica;
        }
      }
      kept.remove(worst);
      gone.add(worst);
    }
    return gone;
  }

  private double badness(
      BlockAssessment block, Replica replica, List<Replica> kept, Map<String, Integer> neighbours) {
    long sharing = kept.stream().filter(r -> serverOf(r).equals(serverOf(replica))).count() - 1;
    int together =
        neighbours.getOrDefault(serverOf(replica), 0)
            + 10 * neighbours.getOrDefault(replica.storageUuid(), 0);
    int leaving = cluster.isLeaving(replica.storageUuid()) ? 1 : 0;
    int moved = replaced.has(block.block().getBlockId(), serverOf(replica)) ? 1 : 0;
    return sharing * 10_000.0
        + leaving * 5_000.0
        + together * 10.0
        + moved * REPLACED
        + (errs(replica) ? ON_ERRING_DISK : 0.0)
        - (leavesOneRack(replica, kept) ? KEEPS_TWO_RACKS : 0.0)
        + fullness(replica);
  }

  /** Whether the other replicas are in one rack, and all together in more. */
  private boolean leavesOneRack(Replica replica, List<Replica> kept) {
    List<Replica> others = kept.stream().filter(other -> !other.equals(replica)).toList();
    return racksOf(others) < Math.min(2, racksOf(kept));
  }

  private long racksOf(List<Replica> replicas) {
    return replicas.stream()
        .map(this::serverOf)
        .map(cluster::server)
        .flatMap(Optional::stream)
        .map(Server::rack)
        .distinct()
        .count();
  }

  private boolean errs(Replica replica) {
    return TargetGrader.errs(cluster.disk(replica.storageUuid()).orElseThrow());
  }

  private double fullness(Replica replica) {
    Disk disk = cluster.disk(replica.storageUuid()).orElseThrow();
    return disk.capacityBytes() == 0
        ? 1
        : 1 - (double) disk.remainingBytes() / disk.capacityBytes();
  }

  /** The number of other members of the stripe on each server and each disk, by uuid. */
  private Map<String, Integer> neighbours(Transaction transaction, BlockAssessment block)
      throws IOException {
    Map<String, Integer> count = new HashMap<>();
    if (!block.striped()) {
      return count;
    }
    Optional<StripeRow> stripe =
        transaction.get(Tables.STRIPE, Tables.stripe(block.block().getStripeId()));
    if (stripe.isEmpty()) {
      return count;
    }
    for (StripeMemberProto member : stripe.get().getMembersList()) {
      if (member.getBlockId() != block.block().getBlockId()) {
        for (Replica other :
            ReplicaRows.of(transaction, member.getOwnerId(), member.getBlockId())) {
          if (other.finalized() && cluster.isLive(other.storageUuid())) {
            count.merge(other.storageUuid(), 1, Integer::sum);
            count.merge(serverOf(other), 1, Integer::sum);
          }
        }
      }
    }
    return count;
  }

  private String serverOf(Replica replica) {
    return cluster.disk(replica.storageUuid()).map(Disk::serverUuid).orElse("");
  }
}
