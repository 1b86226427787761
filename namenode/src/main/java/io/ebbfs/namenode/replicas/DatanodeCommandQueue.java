package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.datanodes.RedundancySettings;
import io.ebbfs.namenode.replicas.BlockService.Invalidation;
import io.ebbfs.namenode.replicas.BlockService.Target;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Commands for chunk servers, which the answers to their next heartbeats carry. In memory and
 * bounded; all commands follow from rows, so a restart loses none for good. Thread-safe.
 */
public final class DatanodeCommandQueue {
  /** The command to send a replica to another disk (DNA_TRANSFER). */
  public record Transfer(BlockRow block, Target target) {}

  /**
   * The command to bring all replicas of a block to one length and a new generation, or the blocks
   * of a block group to lengths at which its data can be read.
   *
   * @param indices of a group: for each server the index of the block that it has; else empty
   */
  public record Recovery(
      BlockRow block,
      List<ClusterView.Server> servers,
      List<Integer> indices,
      long newGenerationStamp) {
    Recovery(BlockRow block, List<ClusterView.Server> servers, long newGenerationStamp) {
      this(block, servers, List.of(), newGenerationStamp);
    }
  }

  private record ReplicaId(String storageUuid, long blockId) {}

  private static final class Queue {
    private final Map<ReplicaId, Invalidation> invalidations = new LinkedHashMap<>();
    private final List<Transfer> transfers = new ArrayList<>();
    private final Map<Long, Recovery> recoveries = new LinkedHashMap<>();
  }

  private final ClusterView cluster;
  private final Clock clock;
  private final RedundancySettings settings;
  private final Map<String, Queue> queues = new ConcurrentHashMap<>();
  // Deletions that were sent and are not yet confirmed, with the time of sending.
  private final Map<ReplicaId, Long> ordered = new LinkedHashMap<>();

  DatanodeCommandQueue(ClusterView cluster, Clock clock, RedundancySettings settings) {
    this.cluster = cluster;
    this.clock = clock;
    this.settings = settings;
  }

  void invalidate(List<Invalidation> invalidations) {
    for (Invalidation invalidation : invalidations) {
      cluster
          .disk(invalidation.storageUuid())
          .ifPresent(disk -> enqueue(disk.serverUuid(), invalidation));
    }
  }

  private void enqueue(String serverUuid, Invalidation invalidation) {
    ReplicaId id = new ReplicaId(invalidation.storageUuid(), invalidation.blockId());
    Queue queue = queue(serverUuid);
    synchronized (queue) {
      if (queue.invalidations.size() < settings.queueLimit()) {
        queue.invalidations.put(id, invalidation);
      }
    }
  }

  /** Takes the next deletions out of the queue of a server. */
  public List<Invalidation> takeInvalidations(String serverUuid) {
    Queue queue = queue(serverUuid);
    List<Invalidation> taken = new ArrayList<>();
    synchronized (queue) {
      Iterator<Invalidation> all = queue.invalidations.values().iterator();
      while (all.hasNext() && taken.size() < settings.invalidationsPerHeartbeat()) {
        taken.add(all.next());
        all.remove();
      }
    }
    return taken;
  }

  /** Remembers that a deletion is sent now. */
  void markOrdered(Invalidation invalidation) {
    synchronized (ordered) {
      Iterator<Long> oldest = ordered.values().iterator();
      if (ordered.size() >= settings.queueLimit()) {
        oldest.next();
        oldest.remove();
      }
      ReplicaId id = new ReplicaId(invalidation.storageUuid(), invalidation.blockId());
      ordered.remove(id);
      ordered.put(id, clock.millis());
    }
  }

  /** True if a deletion of the replica was sent a short while ago and is not yet confirmed. */
  boolean isOrdered(String storageUuid, long blockId) {
    synchronized (ordered) {
      Long since = ordered.get(new ReplicaId(storageUuid, blockId));
      return since != null && clock.millis() - since < settings.deadAfterMillis();
    }
  }

  /** When a deletion of the replica that is not yet confirmed was sent, however long ago. */
  Optional<Long> orderedMillis(String storageUuid, long blockId) {
    synchronized (ordered) {
      return Optional.ofNullable(ordered.get(new ReplicaId(storageUuid, blockId)));
    }
  }

  void confirmDeleted(String storageUuid, long blockId) {
    synchronized (ordered) {
      ordered.remove(new ReplicaId(storageUuid, blockId));
    }
  }

  void transfer(String sourceUuid, Transfer transfer) {
    Queue queue = queue(sourceUuid);
    synchronized (queue) {
      queue.transfers.add(transfer);
    }
  }

  public List<Transfer> takeTransfers(String serverUuid) {
    Queue queue = queue(serverUuid);
    synchronized (queue) {
      List<Transfer> taken = List.copyOf(queue.transfers);
      queue.transfers.clear();
      return taken;
    }
  }

  void recover(String primaryUuid, Recovery recovery) {
    Queue queue = queue(primaryUuid);
    synchronized (queue) {
      if (queue.recoveries.size() < settings.queueLimit()) {
        queue.recoveries.put(recovery.block().getBlockId(), recovery);
      }
    }
  }

  public List<Recovery> takeRecoveries(String serverUuid) {
    Queue queue = queue(serverUuid);
    synchronized (queue) {
      List<Recovery> taken = List.copyOf(queue.recoveries.values());
      queue.recoveries.clear();
      return taken;
    }
  }

  /** Drops the commands of a dead server. */
  void forget(String serverUuid) {
    queues.remove(serverUuid);
  }

  private Queue queue(String serverUuid) {
    return queues.computeIfAbsent(serverUuid, ignored -> new Queue());
  }
}
