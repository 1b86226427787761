package io.ebbfs.namenode.placement.search;

import io.ebbfs.namenode.placement.search.PlacementDraft.Item;
import io.ebbfs.namenode.placement.search.PlacementDraft.Membership;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;

/**
 * Assigns disks to the items of a {@link PlacementDraft}, one item after the other. If no disk
 * fits, an item placed earlier is moved out of the way. The work is bounded.
 */
final class DiskAssigner {
  private static final int EJECTION_DEPTH = 3;
  private static final int EJECTION_WIDTH = 12;
  private static final int MAX_EJECTIONS = 400;

  private final PlacementDraft draft;
  private final Random random;
  private int ejections;

  DiskAssigner(PlacementDraft draft, Random random) {
    this.draft = draft;
    this.random = random;
  }

  /** Places each item on a disk that holds a replica of it; returns the items that fit on none. */
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

  /**
   * Places an item on the best disk that fits, and moves other items out of the way if none does.
   */
  boolean placeAnywhere(Item item) {
    int[] all = allDisks();
    return placeBest(item, all) || eject(item, all, EJECTION_DEPTH);
  }

  private int[] allDisks() {
    int[] all = new int[draft.diskCount()];
    int count = 0;
    for (int d = 0; d < all.length; d++) {
      if (draft.takesNew(d)) {
        all[count++] = d;
      }
    }
    return java.util.Arrays.copyOf(all, count);
  }

  private boolean placeBest(Item item, int[] candidates) {
    int best = PlacementDraft.NOWHERE;
    double bestScore = Double.MAX_VALUE;
    for (int candidate : candidates) {
      double score = item.score(candidate);
      if (score < bestScore && item.fits(candidate)) {
        best = candidate;
        bestScore = score;
      }
    }
    if (best == PlacementDraft.NOWHERE) {
      return false;
    }
    item.place(best);
    return true;
  }

  /**
   * Makes room for an item: another item gets a different disk, for which a third may have to move.
   */
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

  /** Items on the servers of the candidate disks that share a view with the item and may move. */
  private List<Item> blockers(Item item, int[] candidates) {
    boolean[] servers = new boolean[draft.serverCount()];
    for (int candidate : candidates) {
      servers[draft.serverOf(candidate)] = true;
    }
    List<Item> blockers = new ArrayList<>();
    for (Item other : draft.items()) {
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
    for (Membership membership : one.memberships()) {
      if (other.isIn(membership.view())) {
        return true;
      }
    }
    return false;
  }
}
