package io.ebbfs.namespace.placement;

import io.ebbfs.namespace.placement.Layout.Item;
import io.ebbfs.namespace.placement.Layout.Membership;
import io.ebbfs.namespace.placement.Layout.View;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;

/** Gives the items of a {@link Layout} their disks. Bounded work. */
final class LayoutSearch {
  private static final int EJECTION_DEPTH = 3;
  private static final int EJECTION_WIDTH = 12;
  private static final int MAX_EJECTIONS = 400;
  private static final int IMPROVEMENTS = 60;

  private final Layout layout;
  private final Random random;
  private int ejections;

  LayoutSearch(Layout layout, Random random) {
    this.layout = layout;
    this.random = random;
  }

  /** Places items on one of their own disks; returns those that fit on none. */
  List<Item> placeOnReplicas(List<Item> items) {
    List<Item> order = new ArrayList<>(items);
    Collections.shuffle(order, random);
    order.sort(Comparator.comparingInt(item -> item.choices.length));
    List<Item> unplaced = new ArrayList<>();
    for (Item item : order) {
      if (!placeBest(item, item.choices) && !eject(item, item.choices, EJECTION_DEPTH)) {
        unplaced.add(item);
      }
    }
    return unplaced;
  }

  /** Places an item on the best disk that fits, moving others if it must. */
  boolean placeAnywhere(Item item) {
    int[] all = allDisks();
    return placeBest(item, all) || eject(item, all, EJECTION_DEPTH);
  }

  private int[] allDisks() {
    int[] all = new int[layout.diskCount()];
    int count = 0;
    for (int d = 0; d < all.length; d++) {
      if (layout.takesNew(d)) {
        all[count++] = d;
      }
    }
    return java.util.Arrays.copyOf(all, count);
  }

  private boolean placeBest(Item item, int[] candidates) {
    int best = Layout.NOWHERE;
    double bestScore = Double.MAX_VALUE;
    for (int candidate : candidates) {
      double score = item.score(candidate);
      if (score < bestScore && item.fits(candidate)) {
        best = candidate;
        bestScore = score;
      }
    }
    if (best == Layout.NOWHERE) {
      return false;
    }
    item.place(best);
    return true;
  }

  /** Makes room for an item by giving another one a different disk, recursively. */
  private boolean eject(Item item, int[] candidates, int depth) {
    if (depth == 0) {
      return false;
    }
    List<Item> blockers = blockers(item, candidates);
    Collections.shuffle(blockers, random);
    for (Item blocker : blockers.subList(0, Math.min(blockers.size(), EJECTION_WIDTH))) {
      if (ejections++ > MAX_EJECTIONS) {
        return false;
      }
      int was = blocker.disk();
      blocker.remove();
      if (placeBest(item, candidates)) {
        int[] others = blocker.choices == null ? allDisks() : blocker.choices;
        if (placeBest(blocker, others) || eject(blocker, others, depth - 1)) {
          return true;
        }
        item.remove();
      }
      blocker.place(was);
    }
    return false;
  }

  /** Items that share a view and a server with a candidate disk, and may change their disk. */
  private List<Item> blockers(Item item, int[] candidates) {
    boolean[] servers = new boolean[layout.serverCount()];
    for (int candidate : candidates) {
      servers[layout.serverOf(candidate)] = true;
    }
    List<Item> blockers = new ArrayList<>();
    for (Item other : layout.items()) {
      if (other != item
          && other.isPlaced()
          && !other.isPinned()
          && servers[other.server()]
          && shareView(item, other)) {
        blockers.add(other);
      }
    }
    return blockers;
  }

  private static boolean shareView(Item one, Item other) {
    for (Membership a : one.memberships) {
      for (Membership b : other.memberships) {
        if (a.view() == b.view()) {
          return true;
        }
      }
    }
    return false;
  }

  /**
   * Moves items about, while that costs no copy, so that more pairs of servers may be lost at once.
   */
  void improve() {
    for (int round = 0; round < IMPROVEMENTS; round++) {
      Item item = itemOfAWeakPair();
      if (item == null) {
        return;
      }
      improve(item);
    }
  }

  private Item itemOfAWeakPair() {
    List<View> views = new ArrayList<>(layout.views());
    Collections.shuffle(views, random);
    int first = random.nextInt(layout.serverCount());
    for (View view : views) {
      for (int i = 0; i < layout.serverCount(); i++) {
        int server = (first + i) % layout.serverCount();
        if (view.countOn(server) > 0 && view.weakPairs(server) > 0) {
          List<Item> there = new ArrayList<>();
          for (Item item : layout.items()) {
            if (item.isPlaced()
                && !item.isPinned()
                && item.server() == server
                && item.memberships.stream().anyMatch(m -> m.view() == view)) {
              there.add(item);
            }
          }
          if (!there.isEmpty()) {
            return there.get(random.nextInt(there.size()));
          }
        }
      }
    }
    return null;
  }

  /** Tries other servers for an item; keeps the best, or one as good as before. */
  private void improve(Item item) {
    int was = item.disk();
    int best = was;
    int bestGain = Integer.MIN_VALUE;
    int[] candidates = item.choices == null ? oneDiskPerServer(item) : item.choices;
    for (int candidate : candidates) {
      if (layout.serverOf(candidate) == layout.serverOf(was)) {
        continue;
      }
      int before = weakPairs(item, layout.serverOf(was), layout.serverOf(candidate));
      item.remove();
      if (item.fits(candidate)) {
        item.place(candidate);
        int gain = before - weakPairs(item, layout.serverOf(was), layout.serverOf(candidate));
        if (gain > bestGain || gain == bestGain && random.nextBoolean()) {
          best = candidate;
          bestGain = gain;
        }
        item.remove();
      }
      item.place(was);
    }
    if (bestGain >= 0) {
      item.remove();
      item.place(best);
    }
  }

  private int[] oneDiskPerServer(Item item) {
    int[] best = new int[layout.serverCount()];
    java.util.Arrays.fill(best, Layout.NOWHERE);
    for (int disk : allDisks()) {
      int server = layout.serverOf(disk);
      boolean isFree =
          item.memberships.stream()
              .allMatch(membership -> membership.view().countOnDisk(disk) == 0);
      if (isFree
          && (best[server] == Layout.NOWHERE || item.score(disk) < item.score(best[server]))) {
        best[server] = disk;
      }
    }
    return java.util.Arrays.stream(best).filter(d -> d != Layout.NOWHERE).toArray();
  }

  private static int weakPairs(Item item, int one, int other) {
    int weak = 0;
    for (Membership membership : item.memberships) {
      View view = membership.view();
      weak += view.weakPairs(one) + view.weakPairs(other);
    }
    return weak;
  }
}
