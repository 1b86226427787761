package io.ebbfs.namenode.tasks.claim;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongPredicate;

/**
 * Counts the blocks that each server has yet to receive for the transitions that were handed out.
 * The counts are in memory and approximate: only {@link CombinerChooser} uses them, to choose the
 * server of the next combine. Thread-safe.
 */
final class CombineLoadTracker {
  private final Map<Long, Map<String, Integer>> byTransition = new HashMap<>();
  private final Map<String, Integer> blocks = new HashMap<>();

  synchronized void add(long transition, String server, int received) {
    byTransition
        .computeIfAbsent(transition, id -> new HashMap<>())
        .merge(server, received, Integer::sum);
    blocks.merge(server, received, Integer::sum);
  }

  synchronized int of(String server) {
    return blocks.getOrDefault(server, 0);
  }

  synchronized void remove(long transition) {
    Map<String, Integer> servers = byTransition.remove(transition);
    if (servers != null) {
      servers.forEach((server, received) -> blocks.merge(server, -received, Integer::sum));
      blocks.values().removeIf(count -> count == 0);
    }
  }

  /** Forgets transitions that ended. */
  synchronized void keep(LongPredicate active) {
    for (long transition : List.copyOf(byTransition.keySet())) {
      if (!active.test(transition)) {
        remove(transition);
      }
    }
  }
}
