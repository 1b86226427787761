package io.ebbfs.namespace.block;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Which blocks to look at, and which lack replicas, those with the fewest first. In memory and
 * bounded; a full scan brings back what did not fit. Thread-safe.
 */
final class WorkQueue {
  /** Blocks with that many live replicas or more are equally little at risk. */
  private static final int LEVELS = 5;

  private record Lack(int level, long sinceMillis) {}

  private final int limit;
  private final Set<Long> toCheck = new LinkedHashSet<>();
  private final Map<Long, Long> later = new LinkedHashMap<>();
  private final Map<Long, Lack> lacks = new HashMap<>();
  private final List<Set<Long>> lacking = new ArrayList<>();

  WorkQueue(int limit) {
    this.limit = limit;
    for (int i = 0; i < LEVELS; i++) {
      lacking.add(new LinkedHashSet<>());
    }
  }

  /** To be looked at; false if the queue is full. */
  synchronized boolean check(long blockId) {
    return toCheck.contains(blockId) || (toCheck.size() < limit && toCheck.add(blockId));
  }

  /** To be looked at after that time. */
  synchronized void checkLater(long blockId, long dueMillis) {
    if (later.size() < limit) {
      later.putIfAbsent(blockId, dueMillis);
    }
  }

  synchronized int room() {
    return limit - toCheck.size();
  }

  /** Takes blocks to look at, oldest first. */
  synchronized List<Long> take(int most, long nowMillis) {
    Iterator<Map.Entry<Long, Long>> due = later.entrySet().iterator();
    while (due.hasNext()) {
      Map.Entry<Long, Long> entry = due.next();
      if (entry.getValue() > nowMillis) {
        continue;
      }
      if (!check(entry.getKey())) {
        break;
      }
      due.remove();
    }
    List<Long> taken = new ArrayList<>();
    Iterator<Long> all = toCheck.iterator();
    while (all.hasNext() && taken.size() < most) {
      taken.add(all.next());
      all.remove();
    }
    return taken;
  }

  /** The block lacks replicas; it has that many. */
  synchronized void lacks(long blockId, int liveReplicas, long nowMillis) {
    int level = Math.min(liveReplicas, LEVELS - 1);
    Lack before = lacks.get(blockId);
    if (before == null ? lacks.size() >= limit : before.level() == level) {
      return;
    }
    if (before != null) {
      lacking.get(before.level()).remove(blockId);
    }
    lacks.put(blockId, new Lack(level, before == null ? nowMillis : before.sinceMillis()));
    lacking.get(level).add(blockId);
  }

  /** The block lacks nothing, or is no more. */
  synchronized void fine(long blockId) {
    Lack before = lacks.remove(blockId);
    if (before != null) {
      lacking.get(before.level()).remove(blockId);
    }
  }

  /** Blocks that have lacked replicas since that time and have one, most at risk first. */
  synchronized List<Long> repairable(int most, long sinceMillis) {
    List<Long> taken = new ArrayList<>();
    for (Set<Long> level : lacking.subList(1, LEVELS)) {
      for (long blockId : level) {
        if (taken.size() == most) {
          return taken;
        }
        if (lacks.get(blockId).sinceMillis() <= sinceMillis) {
          taken.add(blockId);
        }
      }
    }
    return taken;
  }

  /** Puts a block behind the others that are as much at risk. */
  synchronized void rotate(long blockId) {
    Lack lack = lacks.get(blockId);
    if (lack != null) {
      lacking.get(lack.level()).remove(blockId);
      lacking.get(lack.level()).add(blockId);
    }
  }

  synchronized int lackingCount() {
    return lacks.size();
  }

  synchronized int missingCount() {
    return lacking.get(0).size();
  }
}
