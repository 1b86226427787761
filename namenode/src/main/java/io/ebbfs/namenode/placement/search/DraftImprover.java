package io.ebbfs.namenode.placement.search;

import io.ebbfs.namenode.placement.search.PlacementDraft.Item;
import io.ebbfs.namenode.placement.search.PlacementDraft.Membership;
import io.ebbfs.namenode.placement.search.PlacementDraft.View;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Improves a {@link PlacementDraft} that survives the loss of any one server until it survives the
 * loss of any two. Each step takes a fatal pair (two servers whose common loss a stripe does not
 * survive) and moves one of its blocks to another disk, or swaps the positions of two blocks,
 * whichever leaves the fewest fatal pairs. Some random noise leads out of dead ends. The best draft
 * seen stays. The work is bounded by a count and not by time, so that equal seeds give equal
 * drafts.
 */
final class DraftImprover {
  /** The cost of copying a block, in fatal pairs: a copy pays off if it removes more than this. */
  static final double COST_OF_MOVE = 0.4;

  private static final double FILL = 0.02;
  private static final double NOISE = 0.08;
  private static final int REST = 4;

  /** The search stops after 1/PATIENCE of all checks without a better draft. */
  private static final int PATIENCE = 2;

  private final PlacementDraft draft;
  private final Random random;
  private final boolean mayMove;
  private final int[] restsUntil;
  // The fatal pairs of the views that have not changed since they were counted.
  private final Map<View, PairsOfView> pairsOf = new IdentityHashMap<>();
  private int checks;

  private DraftImprover(PlacementDraft draft, Random random, boolean mayMove) {
    this.draft = draft;
    this.random = random;
    this.mayMove = mayMove;
    this.restsUntil = new int[draft.items().size()];
  }

  /**
   * Improves a draft.
   *
   * @param mayMove whether blocks may go to disks that have no replica of them
   * @param maxChecks how many changes are tried at most
   */
  static void run(PlacementDraft draft, Random random, boolean mayMove, int maxChecks) {
    new DraftImprover(draft, random, mayMove).run(maxChecks);
  }

  /**
   * Swaps positions of blocks so that fewer servers hold two blocks of the same repair group. No
   * block moves to another disk, and no pair of servers becomes fatal.
   *
   * @param maxChecks how many swaps are tried at most
   */
  static void spread(PlacementDraft draft, Random random, int maxChecks) {
    new DraftImprover(draft, random, false).spread(maxChecks);
  }

  private void spread(int maxChecks) {
    List<Item> items = new ArrayList<>(draft.items());
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

  /** Swaps two items if fewer blocks of repair groups share a server and no fatal pair is added. */
  private void spread(Item item, Item other) {
    checks++;
    List<Membership> both = ofBoth(item, other);
    int crowding = crowdingAround(both, item.server(), other.server());
    double fatal = fatalAround(both, item.server(), other.server());
    if (swap(item, other)
        && (crowdingAround(both, item.server(), other.server()) >= crowding
            || fatalAround(both, item.server(), other.server()) > fatal)) {
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
  private record FatalPair(View view, int one, int other) {}

  /** How many fatal pairs a view has, and those from which a block can be taken away. */
  private record PairsOfView(int fatal, List<FatalPair> toFix) {}

  /** A change: the item goes to another disk, or swaps its positions with another item. */
  private record Change(int disk, Item swap) {}

  private void run(int maxChecks) {
    PlacementDraft.Snapshot best = null;
    double bestCost = Double.MAX_VALUE;
    int stopsAt = maxChecks;
    for (int step = 0; checks < stopsAt; step++) {
      List<FatalPair> fatal = new ArrayList<>();
      double cost = COST_OF_MOVE * draft.moves() + costOfPairs(fatal);
      if (cost < bestCost) {
        bestCost = cost;
        best = draft.snapshot();
        stopsAt = Math.min(maxChecks, checks + maxChecks / PATIENCE);
      }
      if (fatal.isEmpty()) {
        break;
      }
      checks += 1 + fatal.size() / 10;
      improve(fatal.get(random.nextInt(fatal.size())), step);
    }
    if (best != null) {
      draft.restore(best);
    }
  }

  /**
   * The cost of the fatal pairs as in {@link PlacementDraft#cost}. Pairs from which a block can be
   * taken away are added to the list.
   */
  private double costOfPairs(List<FatalPair> fatal) {
    double cost = 0;
    for (View view : draft.views()) {
      PairsOfView pairs = pairsOf.computeIfAbsent(view, this::pairsOf);
      fatal.addAll(pairs.toFix());
      cost += view.weight * pairs.fatal();
    }
    return cost;
  }

  private PairsOfView pairsOf(View view) {
    int pairs = 0;
    List<FatalPair> toFix = new ArrayList<>();
    for (int one = 0; one < draft.serverCount(); one++) {
      for (int other = one + 1; other < draft.serverCount(); other++) {
        if (!view.survives(one, other)) {
          pairs++;
          if (view.countOn(one) > 0) {
            toFix.add(new FatalPair(view, one, other));
          }
        }
      }
    }
    return new PairsOfView(pairs, toFix);
  }

  private void improve(FatalPair pair, int step) {
    List<Integer> there = new ArrayList<>();
    for (int i = 0; i < draft.items().size(); i++) {
      Item item = draft.items().get(i);
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
    Item item = draft.items().get(chosen);
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
      for (Item other : draft.items()) {
        if (other.kind == item.kind && other.isPlaced() && other.server() != item.server()) {
          changes.add(new Change(PlacementDraft.NOWHERE, other));
        }
      }
    }
    return changes;
  }

  /** For each other server: its best disk without a block of the stripes of the item. */
  private int[] oneDiskPerServer(Item item) {
    int[] best = new int[draft.serverCount()];
    Arrays.fill(best, PlacementDraft.NOWHERE);
    for (int disk = 0; disk < draft.diskCount(); disk++) {
      int server = draft.serverOf(disk);
      if (server != item.server()
          && draft.takesNew(disk)
          && (best[server] == PlacementDraft.NOWHERE
              || draft.preference(disk) < draft.preference(best[server]))
          && isFree(item, disk)) {
        best[server] = disk;
      }
    }
    return Arrays.stream(best).filter(disk -> disk != PlacementDraft.NOWHERE).toArray();
  }

  private static boolean isFree(Item item, int disk) {
    for (Membership membership : item.memberships()) {
      if (membership.view().countOnDisk(disk) > 0) {
        return false;
      }
    }
    return true;
  }

  /** How a change affects the cost; infinite if the rules forbid it. The draft does not change. */
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
    int one = draft.serverOf(was);
    int other = draft.serverOf(target);
    double before = fatalAround(item.memberships(), one, other);
    double delta = Double.MAX_VALUE;
    item.remove();
    if (item.fits(target)) {
      item.place(target);
      delta =
          fatalAround(item.memberships(), one, other)
              - before
              + COST_OF_MOVE * ((item.isMove(target) ? 1 : 0) - (item.isMove(was) ? 1 : 0))
              + FILL * (draft.preference(target) - draft.preference(was));
      item.remove();
    }
    item.place(was);
    return delta;
  }

  private double deltaOfSwap(Item item, Item other) {
    List<Membership> both = ofBoth(item, other);
    double before = fatalAround(both, item.server(), other.server());
    if (!swap(item, other)) {
      return Double.MAX_VALUE;
    }
    double after = fatalAround(both, item.server(), other.server());
    swapBack(item, other);
    return after - before;
  }

  private void swapBack(Item item, Item other) {
    if (!swap(item, other)) {
      throw new IllegalStateException("a swap of positions could not be taken back");
    }
  }

  /** One membership for each view that contains one of the two items. */
  private static List<Membership> ofBoth(Item item, Item other) {
    List<Membership> both = new ArrayList<>(item.memberships());
    for (Membership membership : other.memberships()) {
      if (!item.isIn(membership.view())) {
        both.add(membership);
      }
    }
    return both;
  }

  private double fatalAround(List<Membership> memberships, int one, int other) {
    double fatal = 0;
    for (Membership membership : memberships) {
      View view = membership.view();
      int pairs = view.fatalPairs(one) + (one == other ? 0 : view.fatalPairs(other));
      fatal += view.weight * pairs;
    }
    return fatal;
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

  /**
   * Swaps the positions of two items. If the rules forbid it, returns false and changes nothing.
   */
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
