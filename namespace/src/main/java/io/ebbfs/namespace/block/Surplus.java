package io.ebbfs.namespace.block;

import io.ebbfs.namespace.block.BlockOwners.Owned;
import io.ebbfs.namespace.block.BlockService.Invalidation;
import io.ebbfs.namespace.block.ClusterView.Disk;
import io.ebbfs.namespace.block.Replicas.Replica;
import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.namespace.store.MetadataStore.Durability;
import io.ebbfs.namespace.store.RowLock;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.namespace.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Which replicas of a block go. A replica is given up in two steps: its row is marked EXCESS (or
 * CORRUPT) under the owner's lock, and only a marked replica is ever ordered to be deleted. So
 * whatever is lost in between, nobody counts a replica that may be gone, and no second choice can
 * fall on the replica that the first one meant to keep. Thread-safe.
 */
final class Surplus {
  private final MetadataStore store;
  private final ClusterMap cluster;
  private final Commands commands;

  Surplus(MetadataStore store, ClusterMap cluster, Commands commands) {
    this.store = store;
    this.cluster = cluster;
    this.commands = commands;
  }

  boolean hasWork(Assessment block) {
    return block.live().size() > block.wanted()
        || !block.wrong().isEmpty()
        || !block.excess().isEmpty();
  }

  /** Marks what is too much, takes marks back where a replica is needed after all. */
  List<Invalidation> tidy(long blockId) throws IOException {
    return BlockOwners.transact(
        store,
        blockId,
        Durability.RELAXED,
        transaction -> {
          Owned owned =
              BlockOwners.lock(transaction, List.of(blockId), RowLock.Mode.EXCLUSIVE).get(blockId);
          if (owned == null || owned.isOutput()) {
            return List.of();
          }
          Assessment block = Assessment.of(transaction, cluster, owned);
          return block.settled() ? tidy(transaction, block) : List.of();
        });
  }

  private List<Invalidation> tidy(Transaction transaction, Assessment block) throws IOException {
    long blockId = block.block().getBlockId();
    List<Invalidation> gone = new ArrayList<>();
    if (block.live().size() < block.wanted()) {
      rescue(transaction, block);
    } else if (!block.pinned()) {
      for (Replica replica : choose(transaction, block)) {
        mark(transaction, block, replica, ReplicaStateProto.EXCESS);
        gone.add(Replicas.invalidation(blockId, replica));
      }
    }
    if (block.whole()) {
      block.excess().stream()
          .filter(replica -> !commands.isOrdered(replica.storageUuid(), blockId))
          .forEach(replica -> gone.add(Replicas.invalidation(blockId, replica)));
    }
    for (Replica replica : block.wrong()) {
      if (replica.row().getState() != ReplicaStateProto.CORRUPT) {
        mark(transaction, block, replica, ReplicaStateProto.CORRUPT);
      }
      if (corruptMayGo(block) && !commands.isOrdered(replica.storageUuid(), blockId)) {
        gone.add(Replicas.invalidation(blockId, replica));
      }
    }
    return gone;
  }

  /** Surplus that is still there and was not ordered to be deleted serves again. */
  private void rescue(Transaction transaction, Assessment block) {
    int lacking = block.wanted() - block.live().size();
    for (Replica replica : block.excess()) {
      boolean usable =
          Replicas.agrees(
                  block.block(), replica.row().getGenerationStamp(), replica.row().getLengthBytes())
              && !commands.isOrdered(replica.storageUuid(), block.block().getBlockId());
      if (usable && lacking > 0) {
        mark(transaction, block, replica, ReplicaStateProto.FINALIZED);
        lacking--;
      }
    }
  }

  private void mark(
      Transaction transaction, Assessment block, Replica replica, ReplicaStateProto state) {
    ReplicaRow row = replica.row().toBuilder().setState(state).build();
    transaction.put(
        Tables.REPLICA,
        Tables.replica(block.owned().ownerId(), block.block().getBlockId(), replica.storageUuid()),
        row);
  }

  /** Corrupt replicas go once the block is whole, or if they occupy the only place for a copy. */
  private boolean corruptMayGo(Assessment block) {
    if (block.whole()) {
      return true;
    }
    Set<String> occupied = new HashSet<>();
    block.all().forEach(replica -> occupied.add(serverOf(replica)));
    // A lost member of a stripe is rebuilt from others.
    return (block.striped() || !block.trusted().isEmpty())
        && cluster.liveServers().stream().allMatch(server -> occupied.contains(server.uuid()));
  }

  /** Whether an order to delete a replica, made some time ago, is right now. */
  boolean mayDelete(Assessment block, Invalidation order) {
    Optional<Replica> replica =
        block.all().stream().filter(r -> r.storageUuid().equals(order.storageUuid())).findFirst();
    if (replica.isEmpty() || replica.get().row().getGenerationStamp() != order.generationStamp()) {
      return false;
    }
    // A server tells its replicas apart by block id alone.
    String server = serverOf(replica.get());
    boolean hasGoodOne = block.live().stream().anyMatch(live -> serverOf(live).equals(server));
    return !hasGoodOne
        && switch (replica.get().row().getState()) {
          case FINALIZED -> false;
          case EXCESS -> block.whole();
          case CORRUPT -> block.wrong().contains(replica.get()) && corruptMayGo(block);
        };
  }

  // ---- the choice
  // ---------------------------------------------------------------------------------

  /**
   * Surplus replicas, if enough others are known for sure: first those that share a server, then
   * those that share a server or a disk with other members of the stripe, then those on the fullest
   * disks.
   */
  List<Replica> choose(Transaction transaction, Assessment block) throws IOException {
    List<Replica> kept = new ArrayList<>(block.trusted());
    List<Replica> gone = new ArrayList<>();
    Map<String, Integer> neighbours = neighbours(transaction, block);
    while (kept.size() > block.wanted()) {
      Replica worst = kept.get(0);
      for (Replica replica : kept) {
        if (badness(replica, kept, neighbours) > badness(worst, kept, neighbours)) {
          worst = replica;
        }
      }
      kept.remove(worst);
      gone.add(worst);
    }
    return gone;
  }

  private double badness(Replica replica, List<Replica> kept, Map<String, Integer> neighbours) {
    long sharing = kept.stream().filter(r -> serverOf(r).equals(serverOf(replica))).count() - 1;
    int together =
        neighbours.getOrDefault(serverOf(replica), 0)
            + 10 * neighbours.getOrDefault(replica.storageUuid(), 0);
    return sharing * 10_000.0 + together * 10.0 + fullness(replica);
  }

  private double fullness(Replica replica) {
    Disk disk = cluster.disk(replica.storageUuid()).orElseThrow();
    return disk.capacityBytes() == 0
        ? 1
        : 1 - (double) disk.remainingBytes() / disk.capacityBytes();
  }

  /** How many other members of the block's stripe are on a server or disk, by uuid. */
  private Map<String, Integer> neighbours(Transaction transaction, Assessment block)
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
        for (Replica other : Replicas.of(transaction, member.getOwnerId(), member.getBlockId())) {
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
