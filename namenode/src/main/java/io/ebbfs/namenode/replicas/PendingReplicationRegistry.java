package io.ebbfs.namenode.replicas;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Replications that were ordered and have not arrived yet (HDFS: PendingReconstructionBlocks). Not
 * thread-safe: {@link ReplicationScheduler} guards it.
 */
final class PendingReplicationRegistry {
  /** A replication from a source server to a target server. */
  record Replication(long blockId, String sourceUuid, String targetUuid, long deadlineMillis) {}

  private final Map<Long, List<Replication>> byBlock = new LinkedHashMap<>();
  private final Map<String, Integer> sending = new HashMap<>();
  private final Map<String, Integer> receiving = new HashMap<>();

  void add(Replication replication) {
    byBlock.computeIfAbsent(replication.blockId(), ignored -> new ArrayList<>()).add(replication);
    sending.merge(replication.sourceUuid(), 1, Integer::sum);
    receiving.merge(replication.targetUuid(), 1, Integer::sum);
  }

  List<Replication> of(long blockId) {
    return byBlock.getOrDefault(blockId, List.of());
  }

  int sending(String serverUuid) {
    return sending.getOrDefault(serverUuid, 0);
  }

  int receiving(String serverUuid) {
    return receiving.getOrDefault(serverUuid, 0);
  }

  int size() {
    return byBlock.values().stream().mapToInt(List::size).sum();
  }

  void arrived(long blockId, String targetUuid) {
    removeIf(blockId, replication -> replication.targetUuid().equals(targetUuid));
  }

  /** Removes the replications that did not arrive in time. */
  List<Replication> takeOverdue(long nowMillis) {
    return takeIf(replication -> replication.deadlineMillis() <= nowMillis);
  }

  /** Removes the replications from or to a server. */
  List<Replication> takeOf(String serverUuid) {
    return takeIf(
        replication ->
            replication.sourceUuid().equals(serverUuid)
                || replication.targetUuid().equals(serverUuid));
  }

  private interface Condition {
    boolean holds(Replication replication);
  }

  private List<Replication> takeIf(Condition condition) {
    List<Replication> taken = new ArrayList<>();
    for (long blockId : List.copyOf(byBlock.keySet())) {
      taken.addAll(removeIf(blockId, condition));
    }
    return taken;
  }

  private List<Replication> removeIf(long blockId, Condition condition) {
    List<Replication> replications = byBlock.get(blockId);
    List<Replication> removed = new ArrayList<>();
    if (replications == null) {
      return removed;
    }
    Iterator<Replication> all = replications.iterator();
    while (all.hasNext()) {
      Replication replication = all.next();
      if (condition.holds(replication)) {
        all.remove();
        removed.add(replication);
        sending.computeIfPresent(replication.sourceUuid(), (uuid, n) -> n == 1 ? null : n - 1);
        receiving.computeIfPresent(replication.targetUuid(), (uuid, n) -> n == 1 ? null : n - 1);
      }
    }
    if (replications.isEmpty()) {
      byBlock.remove(blockId);
    }
    return removed;
  }
}
