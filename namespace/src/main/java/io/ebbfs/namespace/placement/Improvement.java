package io.ebbfs.namespace.placement;

import io.ebbfs.namespace.placement.Layout.Item;
import io.ebbfs.namespace.placement.Layout.Membership;
import io.ebbfs.namespace.placement.Layout.View;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Changes a {@link Layout} in which any server may be lost until any two may be: a block of a pair
 * that is not survived goes to another disk, or two blocks swap their positions, whichever leaves
 * the fewest such pairs; with some noise against dead ends. The best layout seen stays. The work is
 * bounded by a count, not by time, so that equal seeds give equal layouts.
 */
final class Improvement {
  /** A copy of a block is worth it if it mends this share of a pair. */
  static final double COST_OF_MOVE = 0.4;

  private static final double FILL = 0.02;
  private static final double NOISE = 0.08;
  private static final int REST = 4;

  /** It gives up after this part of the changes without a better layout. */
  private static final int PATIENCE = 2;

  private final Layout layout;
  private final Random random;
  private final boolean mayMove;
  private final int[] restsUntil;
  // Of the views that have not changed since.
  private final Map<View, PairsOfView> pairsOf = new IdentityHashMap<>();
  private int checks;

  private Improvement(Layout layout, Random random, boolean mayMove) {
    this.layout = layout;
    this.random = random;
    this.mayMove = mayMove;
    this.restsUntil = new int[layout.items().size()];
  }

  /**
   * Improves.
   *
   * @param mayMove whether blocks may go to disks that have no copy of them
   * @param maxChecks how many changes are tried at most
   */
  static void run(Layout layout, Random random, boolean mayMove, int maxChecks) {
    new Improvement(layout, random, mayMove).run(maxChecks);
  }

  /**
   * Swaps positions of blocks so that fewer servers hold two blocks of a repair group. No block
   * moves, and no pair of servers becomes weak.
   *
   * @param maxChecks how many swaps are tried at most
   */
  static void spread(Layout layout, Random random, int maxChecks) {
    new Improvement(layout, random, false).spread(maxChecks);
  }

  private void spread(int maxChecks) {
    List<Item> items = new ArrayList<>(layout.items());
    Collections.shuffle(items, random);
    for (Item item : items) {
      for (Item other : items) {
        if (!isCrowded(item) || checks >= maxChecks) {
          break;
        }
        if (other.kind == item.kind
            && other.isPlaced()
            && !other.isPinned()
            && other.server() != item.server()) {
          spread(item, other);
        }
      }
    }
  }

  private static boolean isCrowded(Item item) {
    if (item.kind == 0 || !item.isPlaced() || item.isPinned()) {
      return false;
    }
    for (Membership membership : item.memberships()) {
      if (membership.view().groupOn(item.server(), membership.position()) > 0) {
        return true;
      }
    }
    return false;
  }

  /** Swaps them if that is better, and no worse against the loss of servers. */
  private void spread(Item item, Item other) {
    checks++;
    List<Membership> both = ofBoth(item, other);
    int crowding = crowdingAround(both, item.server(), other.server());
    double weak = weakAround(both, item.server(), other.server());
    if (swap(item, other)
        && (crowdingAround(both, item.server(), other.server()) >= crowding
            || weakAround(both, item.server(), other.server()) > weak)) {
      swapBack(item, other);
    }
  }

  private static int crowdingAround(List<Membership> memberships, int one, int other) {
    int crowding = 0;
    for (Membership membership : memberships) {
      crowding += membership.view().crowding(one) + membership.view().crowding(other);
    }
    return crowding;
  }

  /** Two servers whose loss a stripe does not survive. */
  private record WeakPair(View view, int one, int other) {}

  /** The weak pairs of a view, and those of them with a block to take away. */
  private record PairsOfView(int weak, List<WeakPair> toMend) {}

  /** A change: the item to another disk, or its positions for those of another item. */
  private record Change(int disk, Item swap) {}

  private void run(int maxChecks) {
    Layout.Snapshot best = null;
    double bestCost = Double.MAX_VALUE;
    int stopsAt = maxChecks;
    for (int step = 0; checks < stopsAt; step++) {
      List<WeakPair> weak = new ArrayList<>();
      double cost = COST_OF_MOVE * layout.moves() + costOfPairs(weak);
      if (cost < bestCost) {
        bestCost = cost;
        best = layout.snapshot();
        stopsAt = Math.min(maxChecks, checks + maxChecks / PATIENCE);
      }
      if (weak.isEmpty()) {
        break;
      }
      checks += 1 + weak.size() / 10;
      improve(weak.get(random.nextInt(weak.size())), step);
    }
    if (best != null) {
      layout.restore(best);
    }
  }

  /** What weak pairs cost as in {@link Layout#cost}; adds those with a block to take away. */
  private double costOfPairs(List<WeakPair> weak) {
    double cost = 0;
    for (View view : layout.views()) {
      PairsOfView pairs = pairsOf.computeIfAbsent(view, this::pairsOf);
      weak.addAll(pairs.toMend());
      cost += view.weight * pairs.weak();
    }
    return cost;
  }

  private PairsOfView pairsOf(View view) {
    int pairs = 0;
    List<WeakPair> toMend = new ArrayList<>();
    for (int one = 0; one < layout.serverCount(); one++) {
      for (int other = one + 1; other < layout.serverCount(); other++) {
        if (!view.survives(one, other)) {
          pairs++;
          if (view.countOn(one) > 0) {
            toMend.add(new WeakPair(view, one, other));
          }
        }
      }
    }
    return new PairsOfView(pairs, toMend);
  }

  private void improve(WeakPair pair, int step) {
    List<Integer> there = new ArrayList<>();
    for (int i = 0; i < layout.items().size(); i++) {
      Item item = layout.items().get(i);
      if (item.isPlaced()
          && !item.isPinned()
          && restsUntil[i] <= step
          && (item.server() == pair.one() || item.server() == pair.other())
          && item.isIn(pair.view())) {
        there.add(i);
      }
    }
    if (there.isEmpty()) {
      return;
    }
    int chosen = there.get(random.nextInt(there.size()));
    restsUntil[chosen] = step + REST;
    Item item = layout.items().get(chosen);
    Change best = null;
    double bestDelta = random.nextDouble() < NOISE ? 1.5 : 0.25;
    for (Change change : changes(item)) {
      double delta = delta(item, change) + 0.1 * random.nextDouble();
      if (delta < bestDelta) {
        best = change;
        bestDelta = delta;
      }
    }
    if (best != null) {
      apply(item, best);
    }
  }

  private List<Change> changes(Item item) {
    List<Change> changes = new ArrayList<>();
    int[] disks = item.choices == null || mayMove ? oneDiskPerServer(item) : new int[0];
    for (int disk : disks) {
      changes.add(new Change(disk, null));
    }
    if (item.choices != null) {
      for (int disk : item.choices) {
        changes.add(new Change(disk, null));
      }
    }
    if (item.kind != 0) {
      for (Item other : layout.items()) {
        if (other.kind == item.kind && other.isPlaced() && other.server() != item.server()) {
          changes.add(new Change(Layout.NOWHERE, other));
        }
      }
    }
    return changes;
  }

  /** The best disk of each other server that has none of the item's stripes on it. */
  private int[] oneDiskPerServer(Item item) {
    int[] best = new int[layout.serverCount()];
    Arrays.fill(best, Layout.NOWHERE);
    for (int disk = 0; disk < layout.diskCount(); disk++) {
      int server = layout.serverOf(disk);
      if (server != item.server()
          && layout.takesNew(disk)
          && (best[server] == Layout.NOWHERE
              || layout.preference(disk) < layout.preference(best[server]))
          && isFree(item, disk)) {
        best[server] = disk;
      }
    }
    return Arrays.stream(best).filter(disk -> disk != Layout.NOWHERE).toArray();
  }

  private static boolean isFree(Item item, int disk) {
    for (Membership membership : item.memberships()) {
      if (membership.view().countOnDisk(disk) > 0) {
        return false;
      }
    }
    return true;
  }

  /** What a change does to the cost; infinite if the rules forbid it. The layout stays. */
  private double delta(Item item, Change change) {
    checks++;
    return change.swap() == null
        ? deltaOfPlace(item, change.disk())
        : deltaOfSwap(item, change.swap());
  }

  private double deltaOfPlace(Item item, int target) {
    int was = item.disk();
    if (target == was) {
      return Double.MAX_VALUE;
    }
    int one = layout.serverOf(was);
    int other = layout.serverOf(target);
    double before = weakAround(item.memberships(), one, other);
    double delta = Double.MAX_VALUE;
    item.remove();
    if (item.fits(target)) {
      item.place(target);
      delta =
          weakAround(item.memberships(), one, other)
              - before
              + COST_OF_MOVE * ((item.isMove(target) ? 1 : 0) - (item.isMove(was) ? 1 : 0))
              + FILL * (layout.preference(target) - layout.preference(was));
      item.remove();
    }
    item.place(was);
    return delta;
  }

  private double deltaOfSwap(Item item, Item other) {
    List<Membership> both = ofBoth(item, other);
    double before = weakAround(both, item.server(), other.server());
    if (!swap(item, other)) {
      return Double.MAX_VALUE;
    }
    double after = weakAround(both, item.server(), other.server());
    swapBack(item, other);
    return after - before;
  }

  private void swapBack(Item item, Item other) {
    if (!swap(item, other)) {
      throw new IllegalStateException("a swap of positions could not be taken back");
    }
  }

  /** One membership in each view that either is in. */
  private static List<Membership> ofBoth(Item item, Item other) {
    List<Membership> both = new ArrayList<>(item.memberships());
    for (Membership membership : other.memberships()) {
      if (!item.isIn(membership.view())) {
        both.add(membership);
      }
    }
    return both;
  }

  private double weakAround(List<Membership> memberships, int one, int other) {
    double weak = 0;
    for (Membership membership : memberships) {
      View view = membership.view();
      int pairs = view.weakPairs(one) + (one == other ? 0 : view.weakPairs(other));
      weak += view.weight * pairs;
    }
    return weak;
  }

  private void apply(Item item, Change change) {
    item.memberships().forEach(membership -> pairsOf.remove(membership.view()));
    if (change.swap() != null) {
      change.swap().memberships().forEach(membership -> pairsOf.remove(membership.view()));
      swap(item, change.swap());
      return;
    }
    item.remove();
    item.place(change.disk());
  }

  /** Swaps the positions of two items; false, and no change, if the rules forbid it. */
  private static boolean swap(Item item, Item other) {
    int disk = item.disk();
    int otherDisk = other.disk();
    List<Membership> positions = item.memberships();
    List<Membership> otherPositions = other.memberships();
    item.remove();
    other.remove();
    item.become(otherPositions);
    other.become(positions);
    if (item.fits(disk)) {
      item.place(disk);
      if (other.fits(otherDisk)) {
        other.place(otherDisk);
        return true;
      }
      item.remove();
    }
    item.become(positions);
    other.become(otherPositions);
    item.place(disk);
    other.place(otherDisk);
    return false;
  }
}
