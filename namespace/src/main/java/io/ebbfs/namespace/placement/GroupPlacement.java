package io.ebbfs.namespace.placement;

import io.ebbfs.coding.BlockRef;
import io.ebbfs.coding.ErasureCode;
import io.ebbfs.namespace.placement.Layout.Item;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Placement of a new group, in three steps, each only if the one before left a pair of servers that
 * may not be lost: one replica of each block stays, parities go where they fit, and blocks change
 * positions; then blocks are copied, too; then {@link Pattern}s are tried.
 */
final class GroupPlacement {
  private static final int CHECKS = 1_500;
  private static final int CHECKS_WITH_MOVES = 1_000;

  /** On so few servers search hardly ever finds what patterns give. */
  private static final int PATTERNS_FIRST = 8;

  /** Beyond so many servers blocks lie so thin that search alone does it. */
  private static final int MOST_FOR_PATTERNS = 14;

  private static final int PATTERNS = 2;
  private static final int FITS_PER_PATTERN = 8;
  private static final int TRIES_PER_PATTERN = 60;
  private static final double FILL = 0.01;

  /** Lengths that differ by less may change places: it costs hardly any padding. */
  private static final double LIKE_LENGTH = 0.02;

  private final StripeGroup group;
  private final Optional<ErasureCode> compact;
  private final List<Disk> roomy;
  private final Random random;
  private final Layout layout;
  private final LayoutSearch search;
  private final GroupViews views;
  private final SortedMap<BlockRef, Item> data = new TreeMap<>();
  private final Map<Item, StripeBlock> blocks = new java.util.IdentityHashMap<>();
  private final SortedMap<BlockRef, Item> parities = new TreeMap<>();
  private final SortedMap<Integer, Item> reserved = new TreeMap<>();

  /**
   * @param compact the code of the stripe to come, if one is considered
   * @param keepsRacks whether any rack must be one that may be lost
   */
  GroupPlacement(
      StripeGroup group,
      Optional<ErasureCode> compact,
      List<Disk> roomy,
      List<Disk> disks,
      boolean keepsRacks,
      Random random) {
    this.group = group;
    this.compact = compact;
    this.roomy = roomy;
    this.random = random;
    this.layout = new Layout(roomy, disks, keepsRacks, random);
    this.search = new LayoutSearch(layout, random);
    List<Set<Integer>> occupied = new ArrayList<>();
    group.stripes().forEach(stripe -> occupied.add(group.code().occupied(stripe.keySet())));
    this.views = new GroupViews(layout, group.code(), compact, occupied);
    for (int s = 0; s < occupied.size(); s++) {
      for (int position : new TreeSet<>(occupied.get(s))) {
        addItem(new BlockRef(s, position));
      }
    }
    for (int position : views.onlyMerged) {
      reserved.put(position, layout.addFree().in(views.merged, position));
    }
  }

  private void addItem(BlockRef ref) {
    StripeBlock block = group.stripes().get(ref.stripe()).get(ref.position());
    if (block == null) {
      parities.put(ref, views.join(layout.addFree(), ref));
      return;
    }
    int kind = 1 + (int) (Math.log(Math.max(1, block.lengthBytes())) / LIKE_LENGTH);
    Item item = views.join(layout.addWithReplicas(block.replicas(), kind), ref);
    data.put(ref, item);
    blocks.put(item, block);
  }

  /** A placement by the rules; empty if none was found. */
  Optional<Placement> place() {
    boolean patternsFirst = layout.serverCount() <= PATTERNS_FIRST;
    boolean isPlaced = patternsFirst && tryPatterns(false);
    if (!isPlaced) {
      isPlaced = searchPlaces();
      if (!patternsFirst && (!isPlaced || !layout.survivesAnyTwoServers())) {
        isPlaced = tryPatterns(isPlaced);
      }
    }
    return isPlaced ? Optional.of(result()) : Optional.empty();
  }

  private boolean searchPlaces() {
    if (!placeWhereReplicasAre()) {
      layout.items().stream().filter(Item::isPlaced).forEach(Item::remove);
      return false;
    }
    Improvement.run(layout, random, false, CHECKS);
    if (!layout.survivesAnyTwoServers()) {
      Improvement.run(layout, random, true, CHECKS_WITH_MOVES);
    }
    return true;
  }

  private boolean placeWhereReplicasAre() {
    List<Item> free = new ArrayList<>(search.placeOnReplicas(List.copyOf(data.values())));
    free.addAll(parities.values());
    free.addAll(reserved.values());
    for (Item item : free) {
      if (!search.placeAnywhere(item)) {
        return false;
      }
    }
    return true;
  }

  /** Takes the best that patterns give, if it is better than what there is. */
  private boolean tryPatterns(boolean isPlaced) {
    if (compact.isEmpty() && group.stripes().size() > 1) {
      return isPlaced; // patterns are of one stripe, or of stripes that merge
    }
    Layout.Snapshot best = isPlaced ? layout.snapshot() : null;
    double bestCost = isPlaced ? cost() : Double.MAX_VALUE;
    int fitting = 0;
    for (int s = Math.min(MOST_FOR_PATTERNS, servers()); fitting < PATTERNS; s--) {
      if (!Pattern.mayExist(group.code(), s)) {
        break;
      }
      Optional<Pattern> pattern = Pattern.find(group.code(), compact, s);
      if (pattern.isEmpty()) {
        continue;
      }
      PatternFit fit =
          new PatternFit(layout, views, pattern.get(), data, parities, reserved, random);
      int fits = 0;
      for (int tries = 0; fits < FITS_PER_PATTERN && tries < TRIES_PER_PATTERN; tries++) {
        if (fit.place()) {
          fits++;
          if (cost() < bestCost) {
            bestCost = cost();
            best = layout.snapshot();
          }
        }
      }
      fitting += fits > 0 ? 1 : 0;
      fit.clear();
    }
    layout.items().stream().filter(Item::isPlaced).forEach(Item::remove);
    if (best != null) {
      layout.restore(best);
    }
    return best != null;
  }

  /** A weak pair is worse than some moves, and those are worse than a little imbalance. */
  private double cost() {
    double fill = 0;
    for (Item item : layout.items()) {
      fill += layout.preference(item.disk());
    }
    return layout.cost(Improvement.COST_OF_MOVE / 4) + FILL * fill;
  }

  /** Why {@link #place} will find nothing, if that can be counted. */
  Optional<Refusal> tooSmall() {
    long disksNeeded = 0;
    for (Layout.View view : layout.views()) {
      disksNeeded =
          Math.max(disksNeeded, layout.items().stream().filter(i -> i.isIn(view)).count());
    }
    long serversHere = servers();
    if (serversHere < 2 || roomy.size() < disksNeeded) {
      return Optional.of(
          new Refusal(
              "%s needs %d disks with %d bytes free, on 2 servers at least; the cluster has %d on %d; add servers or disks, or choose a smaller code"
                  .formatted(
                      group.code(),
                      disksNeeded,
                      group.unitLengthBytes(),
                      roomy.size(),
                      serversHere)));
    }
    return Optional.empty();
  }

  Refusal noneFound() {
    int needed = MinimumServers.of(group.code());
    if (compact.isPresent()) {
      needed = Math.max(needed, MinimumServers.of(compact.get()));
    }
    int here = servers();
    return new Refusal(
        "%s needs %d failure domains (servers) so that any one may be lost; the cluster has %d; add servers or choose a code with more parities"
            .formatted(group.code(), Math.max(needed, here < needed ? needed : here + 1), here));
  }

  private int servers() {
    return (int) roomy.stream().map(Disk::serverUuid).distinct().count();
  }

  private Placement result() {
    List<SortedMap<Integer, StripeBlock>> stripes = new ArrayList<>();
    List<SortedMap<Integer, Disk>> disks = new ArrayList<>();
    group.stripes().forEach(stripe -> stripes.add(new TreeMap<>()));
    group.stripes().forEach(stripe -> disks.add(new TreeMap<>()));
    Set<BlockRef> moves = new TreeSet<>();
    for (Item item : data.values()) {
      BlockRef ref = views.refOf(item);
      stripes.get(ref.stripe()).put(ref.position(), blocks.get(item));
      disks.get(ref.stripe()).put(ref.position(), layout.disk(item.disk()));
      if (item.isMove(item.disk())) {
        moves.add(ref);
      }
    }
    parities.forEach(
        (ref, item) -> disks.get(ref.stripe()).put(ref.position(), layout.disk(item.disk())));
    return new Placement(
        stripes,
        disks,
        moves,
        layout.survivesAnyServer(),
        layout.weakRacks(),
        layout.weakServerPairs(views.stripes),
        views.weakPairsOfMerged(layout),
        true,
        List.of());
  }
}
