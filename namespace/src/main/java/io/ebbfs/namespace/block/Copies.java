package io.ebbfs.namespace.block;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Copies that were ordered and have not arrived yet. Owned by {@link Redundancy}; not thread-safe.
 */
final class Copies {
  /** A copy on its way between two servers. */
  record Copy(long blockId, String sourceUuid, String targetUuid, long deadlineMillis) {}

  private final Map<Long, List<Copy>> byBlock = new LinkedHashMap<>();
  private final Map<String, Integer> sending = new HashMap<>();
  private final Map<String, Integer> receiving = new HashMap<>();

  void add(Copy copy) {
    byBlock.computeIfAbsent(copy.blockId(), ignored -> new ArrayList<>()).add(copy);
    sending.merge(copy.sourceUuid(), 1, Integer::sum);
    receiving.merge(copy.targetUuid(), 1, Integer::sum);
  }

  List<Copy> of(long blockId) {
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
    removeIf(blockId, copy -> copy.targetUuid().equals(targetUuid));
  }

  /** Removes the copies that did not arrive in time. */
  List<Copy> takeOverdue(long nowMillis) {
    return takeIf(copy -> copy.deadlineMillis() <= nowMillis);
  }

  /** Removes the copies from or to a server. */
  List<Copy> takeOf(String serverUuid) {
    return takeIf(
        copy -> copy.sourceUuid().equals(serverUuid) || copy.targetUuid().equals(serverUuid));
  }

  private interface Condition {
    boolean holds(Copy copy);
  }

  private List<Copy> takeIf(Condition condition) {
    List<Copy> taken = new ArrayList<>();
    for (long blockId : List.copyOf(byBlock.keySet())) {
      taken.addAll(removeIf(blockId, condition));
    }
    return taken;
  }

  private List<Copy> removeIf(long blockId, Condition condition) {
    List<Copy> copies = byBlock.get(blockId);
    List<Copy> removed = new ArrayList<>();
    if (copies == null) {
      return removed;
    }
    Iterator<Copy> all = copies.iterator();
    while (all.hasNext()) {
      Copy copy = all.next();
      if (condition.holds(copy)) {
        all.remove();
        removed.add(copy);
        sending.computeIfPresent(copy.sourceUuid(), (uuid, n) -> n == 1 ? null : n - 1);
        receiving.computeIfPresent(copy.targetUuid(), (uuid, n) -> n == 1 ? null : n - 1);
      }
    }
    if (copies.isEmpty()) {
      byBlock.remove(blockId);
    }
    return removed;
  }
}
