package io.ebbfs.namespace.placement;

import io.ebbfs.coding.BlockRef;
import io.ebbfs.coding.ErasureCode;
import io.ebbfs.namespace.placement.Layout.Item;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * Placement of a new group, in three steps, each only if the one before left a pair of servers that
 * may not be lost: one replica of each block stays, parities go where they fit, and blocks change
 * positions; then blocks are copied, too; then {@link Pattern}s are tried.
 */
final class GroupPlacement {
  private static final int CHECKS = 1_500;
  private static final int CHECKS_WITH_MOVES = 1_000;
  private static final int SPREADS = 300;

  /** On so few servers search hardly ever finds what patterns give. */
  private static final int PATTERNS_FIRST = 8;

  /** Beyond so many servers blocks lie so thin that search alone does it. */
  private static final int MOST_FOR_PATTERNS = 14;

  private static final int PATTERNS = 2;
  private static final int FITS_PER_PATTERN = 8;
  private static final int TRIES_PER_PATTERN = 60;
  private static final int VARIANTS_PER_PATTERN = 4;
  private static final double WEAK_PAIR = 1_000;
  private static final double FILL = 0.01;

  /** Lengths that differ by less may change places: it costs hardly any padding. */
  private static final double LIKE_LENGTH = 0.02;

  private final StripeGroup group;
  private final Optional<ErasureCode> compact;
  private final List<Disk> roomy;
  private final boolean keepsRacks;
  private final boolean paritiesFirst;
  private final Random random;
  private final Layout layout;
  private final LayoutSearch search;
  private final GroupViews views;
  private final SortedMap<BlockRef, Item> data = new TreeMap<>();
  private final Map<Item, StripeBlock> blocks = new IdentityHashMap<>();
  private final SortedMap<BlockRef, Item> parities = new TreeMap<>();
  private final SortedMap<Integer, Item> reserved = new TreeMap<>();

  /**
   * @param compact the code of the stripe to come, if one is considered
   * @param keepsRacks whether any rack must be one that may be lost
   * @param paritiesFirst whether data is placed after them: more copies, and a way out where racks
   *     leave hardly any choice
   */
  GroupPlacement(
      StripeGroup group,
      Optional<ErasureCode> compact,
      List<Disk> roomy,
      List<Disk> disks,
      boolean keepsRacks,
      boolean paritiesFirst,
      Random random) {
    this.group = group;
    this.keepsRacks = keepsRacks;
    this.paritiesFirst = paritiesFirst;
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
      if (!patternsFirst && (!isPlaced || views.weakPairs(layout) > 0)) {
        isPlaced = tryPatterns(isPlaced);
      }
    }
    if (!isPlaced) {
      return Optional.empty();
    }
    Improvement.spread(layout, random, SPREADS);
    return Optional.of(result());
  }

  private boolean searchPlaces() {
    if (!placeWhereReplicasAre()) {
      layout.items().stream().filter(Item::isPlaced).forEach(Item::remove);
      return false;
    }
    Improvement.run(layout, random, false, CHECKS);
    if (views.weakPairs(layout) > 0) {
      Improvement.run(layout, random, true, CHECKS_WITH_MOVES);
    }
    return true;
  }

  private boolean placeWhereReplicasAre() {
    List<Item> free = new ArrayList<>(parities.values());
    free.addAll(reserved.values());
    if (paritiesFirst && !placeAnywhere(free)) {
      return false;
    }
    return placeAnywhere(search.placeOnReplicas(List.copyOf(data.values())))
        && (paritiesFirst || placeAnywhere(free));
  }

  private boolean placeAnywhere(List<Item> items) {
    return items.stream().allMatch(search::placeAnywhere);
  }

  /** Takes the best that patterns give, if it is better than what there is. */
  private boolean tryPatterns(boolean isPlaced) {
    if (compact.isEmpty() && group.stripes().size() > 1) {
      return isPlaced; // patterns are of one stripe, or of stripes that merge
    }
    if (keepsRacks && servers() > MOST_FOR_PATTERNS) {
      return isPlaced; // patterns know no racks: another try with other numbers finds more
    }
    Layout.Snapshot best = isPlaced ? layout.snapshot() : null;
    double bestCost = isPlaced ? cost() : Double.MAX_VALUE;
    int fitting = 0;
    for (int s = Math.min(MOST_FOR_PATTERNS, servers()); fitting < PATTERNS; s--) {
      if (!Pattern.mayExist(group.code(), s)) {
        break;
      }
      int fits = 0;
      List<Pattern> patterns = byFill(Pattern.all(group.code(), compact, s));
      for (Pattern pattern : patterns) {
        PatternFit fit = new PatternFit(layout, views, pattern, data, parities, reserved, random);
        int fitsBefore = fits;
        int most = Math.max(1, FITS_PER_PATTERN / patterns.size());
        int mostTries = TRIES_PER_PATTERN / patterns.size();
        for (int tries = 0; fits - fitsBefore < most && tries < mostTries; tries++) {
          if (fit.place()) {
            fits++;
            if (cost() < bestCost) {
              bestCost = cost();
              best = layout.snapshot();
            }
          }
        }
        fit.clear();
      }
      fitting += fits > 0 ? 1 : 0;
    }
    layout.items().stream().filter(Item::isPlaced).forEach(Item::remove);
    if (best != null) {
      layout.restore(best);
    }
    return best != null;
  }

  /** Of variants of a pattern those that would level the servers best, best first. */
  private List<Pattern> byFill(List<Pattern> patterns) {
    if (patterns.size() < 2) {
      return patterns;
    }
    double[] fill =
        IntStream.range(0, layout.serverCount())
            .filter(server -> layout.disksOf(server).length > 0)
            .mapToDouble(layout::preferenceOfServer)
            .sorted()
            .toArray();
    Map<Pattern, Double> costs = new IdentityHashMap<>();
    patterns.forEach(pattern -> costs.put(pattern, pattern.leastFill(fill)));
    return patterns.stream()
        .sorted(Comparator.comparing(costs::get))
        .limit(VARIANTS_PER_PATTERN)
        .toList();
  }

  /**
   * A weak pair is worse than any moves, and those are worse than a little imbalance, though not
   * than much.
   */
  private double cost() {
    double fill = 0;
    for (Item item : layout.items()) {
      if (item.isIn(views.merged) && item.memberships().size() == 1) {
        continue; // not stored yet
      }
      double preference = layout.preference(item.disk());
      fill += preference * (1 + Math.abs(preference) / 2);
    }
    return WEAK_PAIR * views.weakPairs(layout)
        + layout.cost(Improvement.COST_OF_MOVE / 4)
        + FILL * fill;
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
