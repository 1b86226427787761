package io.ebbfs.namenode.replicas;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;

/**
 * Queues of blocks to examine and of under-replicated blocks; the latter are in the order of live
 * replicas, fewest first (HDFS: LowRedundancyBlocks). Blocks without a live replica cannot be
 * replicated and have a limit of their own. So have blocks that have enough replicas but some on a
 * server that is drained; these come last, and first those of them that no other server has. In
 * memory and bounded; {@link RedundancyScanner} finds the blocks that did not fit. Thread-safe.
 */
final class RedundancyQueue {
  /** Blocks with {@code LEVELS - 1} live replicas or more share one level. */
  private static final int LEVELS = 5;

  /** The level of blocks of which every replica is on servers that are drained. */
  private static final int LEAVING_WHOLLY = LEVELS;

  /** The level of other blocks that are only short because a server with a replica is drained. */
  private static final int LEAVING = LEVELS + 1;

  private record UnderReplicated(int level, long dueMillis) {
    boolean missing() {
      return level == 0;
    }
  }

  private final int limit;
  private final Set<Long> toCheck = new LinkedHashSet<>();
  private final Map<Long, Long> later = new LinkedHashMap<>();
  private final Map<Long, UnderReplicated> byBlock = new HashMap<>();
  private final List<Set<Long>> levels = new ArrayList<>();

  RedundancyQueue(int limit) {
    this.limit = limit;
    for (int i = 0; i <= LEAVING; i++) {
      levels.add(new LinkedHashSet<>());
    }
  }

  /** Adds a block to examine; false if the queue is full. */
  synchronized boolean check(long blockId) {
    return toCheck.contains(blockId) || (toCheck.size() < limit && toCheck.add(blockId));
  }

  /** Adds a block to examine from the due time on. */
  synchronized void checkLater(long blockId, long dueMillis) {
    if (later.size() < limit) {
      later.putIfAbsent(blockId, dueMillis);
    }
  }

  synchronized int room() {
    return limit - toCheck.size();
  }

  /** Takes blocks to examine, oldest first. */
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

  /**
   * The block has fewer replicas than wanted; it is repairable from the due time on. It is left out
   * if there is no room.
   */
  synchronized void underReplicated(long blockId, int liveReplicas, long dueMillis) {
    put(blockId, Math.min(liveReplicas, LEVELS - 1), dueMillis);
  }

  /**
   * The block has enough live replicas, but too few on servers that stay. It is left out if there
   * is no room.
   *
   * @param stayingReplicas those on servers that stay
   */
  synchronized void leaves(long blockId, int stayingReplicas, long dueMillis) {
    put(blockId, stayingReplicas == 0 ? LEAVING_WHOLLY : LEAVING, dueMillis);
  }

  private void put(long blockId, int level, long dueMillis) {
    UnderReplicated before = byBlock.get(blockId);
    boolean needsRoom = before == null || !sharesRoom(before.level(), level);
    if (needsRoom && !hasRoomFor(level)) {
      notUnderReplicated(blockId);
      return;
    }
    long due = before == null ? dueMillis : Math.min(before.dueMillis(), dueMillis);
    byBlock.put(blockId, new UnderReplicated(level, due));
    if (before != null && before.level() != level) {
      levels.get(before.level()).remove(blockId);
    }
    levels.get(level).add(blockId);
  }

  private static boolean sharesRoom(int level, int other) {
    return level == other || isShared(level) && isShared(other);
  }

  private static boolean isShared(int level) {
    return level != 0 && !isLeaving(level);
  }

  private static boolean isLeaving(int level) {
    return level == LEAVING || level == LEAVING_WHOLLY;
  }

  /** Blocks with one replica, blocks with none, and blocks that leave have room of their own. */
  private boolean hasRoomFor(int level) {
    return switch (level) {
      case 0 -> missingCount() < limit;
      case LEAVING, LEAVING_WHOLLY -> levels.get(level).size() < limit;
      case 1 -> repairableCount() < 2L * limit;
      default -> hasRoom();
    };
  }

  /** Whether there is room for any block that has lost a replica, but not all. */
  synchronized boolean hasRoom() {
    return repairableCount() < limit;
  }

  private int repairableCount() {
    return byBlock.size()
        - missingCount()
        - levels.get(LEAVING).size()
        - levels.get(LEAVING_WHOLLY).size();
  }

  /** Whether the block is known to have too few replicas. */
  synchronized boolean isUnderReplicated(long blockId) {
    return byBlock.containsKey(blockId);
  }

  /** Whether the block is known to have too few replicas, but one. */
  synchronized boolean isRepairable(long blockId) {
    UnderReplicated block = byBlock.get(blockId);
    return block != null && !block.missing();
  }

  /** The block has enough replicas, or does not exist any more. */
  synchronized void notUnderReplicated(long blockId) {
    UnderReplicated before = byBlock.remove(blockId);
    if (before != null) {
      levels.get(before.level()).remove(blockId);
    }
  }

  /**
   * Blocks that are due and have a replica, fewest replicas first. Each level has an equal share of
   * the places, so that a level of blocks that cannot be copied now does not hold up the levels
   * behind it. Places that a level leaves free go to the others, first levels first.
   */
  synchronized List<Long> repairable(int most, long nowMillis) {
    List<List<Long>> due = new ArrayList<>();
    for (Set<Long> level : levels.subList(1, levels.size())) {
      due.add(
          level.stream()
              .filter(blockId -> byBlock.get(blockId).dueMillis() <= nowMillis)
              .limit(most)
              .toList());
    }
    int share = most / due.size();
    int free = most - due.stream().mapToInt(level -> Math.min(share, level.size())).sum();
    List<Long> taken = new ArrayList<>();
    for (List<Long> level : due) {
      int own = Math.min(share, level.size());
      int more = Math.min(free, level.size() - own);
      taken.addAll(level.subList(0, own + more));
      free -= more;
    }
    return taken;
  }

  /** Blocks without a live replica; the blocks of the next call are others, as far as there are. */
  synchronized List<Long> takeTurnOfMissing(int most) {
    List<Long> turn = levels.get(0).stream().limit(most).toList();
    turn.forEach(this::rotate);
    return turn;
  }

  /** The next blocks without a live replica, in the order of their ids. */
  synchronized List<Long> missingAfter(long blockId, int most) {
    // The largest one first: it leaves when a smaller one comes, so that no more are held.
    PriorityQueue<Long> smallest = new PriorityQueue<>(Comparator.reverseOrder());
    for (long id : levels.get(0)) {
      if (id > blockId && (smallest.size() < most || id < smallest.element())) {
        smallest.add(id);
        if (smallest.size() > most) {
          smallest.remove();
        }
      }
    }
    return smallest.stream().sorted().toList();
  }

  /** Puts a block behind the other blocks of its level. */
  synchronized void rotate(long blockId) {
    UnderReplicated block = byBlock.get(blockId);
    if (block != null) {
      levels.get(block.level()).remove(blockId);
      levels.get(block.level()).add(blockId);
    }
  }

  synchronized int underReplicatedCount() {
    return byBlock.size();
  }

  synchronized int missingCount() {
    return levels.get(0).size();
  }
}
