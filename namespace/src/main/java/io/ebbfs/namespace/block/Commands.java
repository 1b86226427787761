package io.ebbfs.namespace.block;

import io.ebbfs.namespace.block.BlockService.Invalidation;
import io.ebbfs.namespace.block.BlockService.Target;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What servers are to be told with the answers to their next heartbeats. In memory and bounded: all
 * of it follows from rows and comes back after a restart. Thread-safe.
 */
final class Commands {
  /** A copy from a server that has the block to a disk that is to have it. */
  record Transfer(BlockRow block, Target target) {}

  /** A block whose replicas are to be brought to one length and a new generation. */
  record Recovery(BlockRow block, List<ClusterView.Server> servers, long newGenerationStamp) {}

  private record ReplicaId(String storageUuid, long blockId) {}

  private static final class Queue {
    private final Map<ReplicaId, Invalidation> invalidations = new LinkedHashMap<>();
    private final List<Transfer> transfers = new ArrayList<>();
    private final Map<Long, Recovery> recoveries = new LinkedHashMap<>();
  }

  private final ClusterView cluster;
  private final Clock clock;
  private final BlockSettings settings;
  private final Map<String, Queue> queues = new ConcurrentHashMap<>();
  // Deletions that were ordered and not yet confirmed, with the time of the order.
  private final Map<ReplicaId, Long> ordered = new LinkedHashMap<>();

  Commands(ClusterView cluster, Clock clock, BlockSettings settings) {
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
  List<Invalidation> takeInvalidations(String serverUuid) {
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

  /** Remembers that a deletion goes out with the answer that is being made. */
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

  /** True if the replica is being deleted, or was ordered to be a short while ago. */
  boolean isOrdered(String storageUuid, long blockId) {
    synchronized (ordered) {
      Long since = ordered.get(new ReplicaId(storageUuid, blockId));
      return since != null && clock.millis() - since < settings.deadAfterMillis();
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

  List<Transfer> takeTransfers(String serverUuid) {
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

  List<Recovery> takeRecoveries(String serverUuid) {
    Queue queue = queue(serverUuid);
    synchronized (queue) {
      List<Recovery> taken = List.copyOf(queue.recoveries.values());
      queue.recoveries.clear();
      return taken;
    }
  }

  /** Forgets what a server was to be told, because it died. */
  void forget(String serverUuid) {
    queues.remove(serverUuid);
  }

  int pendingInvalidations() {
    int sum = 0;
    for (Queue queue : queues.values()) {
      synchronized (queue) {
        sum += queue.invalidations.size();
      }
    }
    return sum;
  }

  private Queue queue(String serverUuid) {
    return queues.computeIfAbsent(serverUuid, ignored -> new Queue());
  }
}
