package io.ebbfs.namenode.placement.search;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.packing.StripePacker;
import io.ebbfs.coding.plan.BlockRef;
import io.ebbfs.coding.tolerance.MinimumServers;
import io.ebbfs.namenode.placement.Placement;
import io.ebbfs.namenode.placement.PlacementDisk;
import io.ebbfs.namenode.placement.PlacementRefusal;
import io.ebbfs.namenode.placement.StripeBlock;
import io.ebbfs.namenode.placement.StripeGroup;
import io.ebbfs.namenode.placement.search.PlacementDraft.Item;
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
 * Places a new group of stripes, in up to three steps:
 *
 * <ol>
 *   <li>One replica of each data block stays, parities get the best free disks, and blocks swap
 *       positions.
 *   <li>Data blocks are copied to other disks, too.
 *   <li>{@link ServerPattern}s are tried.
 * </ol>
 *
 * <p>A step is taken only if the step before has left a fatal pair: two servers whose common loss a
 * stripe does not survive.
 */
final class GroupPlacer {
  private static final int CHECKS = 1_500;
  private static final int CHECKS_WITH_MOVES = 1_000;
  private static final int SPREADS = 300;

  /**
   * On this many servers or fewer, patterns come first: the search seldom finds as good a
   * placement.
   */
  private static final int PATTERNS_FIRST = 8;

  /** On more servers, a server holds so few blocks that the search is enough without patterns. */
  private static final int MOST_FOR_PATTERNS = 14;

  private static final int PATTERNS = 2;
  private static final int FITS_PER_PATTERN = 8;
  private static final int TRIES_PER_PATTERN = 60;
  private static final int VARIANTS_PER_PATTERN = 4;
  private static final double FATAL_PAIR = 1_000;
  private static final double FILL = 0.01;

  private final StripeGroup group;
  private final Optional<ErasureCode> compact;
  private final List<PlacementDisk> roomy;
  private final boolean keepsRacks;
  private final boolean paritiesFirst;
  private final Random random;
  private final PlacementDraft draft;
  private final DiskAssigner assigner;
  private final DraftGroup draftGroup;
  private final SortedMap<BlockRef, Item> data = new TreeMap<>();
  private final Map<Item, StripeBlock> blocks = new IdentityHashMap<>();
  private final SortedMap<BlockRef, Item> parities = new TreeMap<>();
  private final SortedMap<Integer, Item> reserved = new TreeMap<>();

  /**
   * @param compact the code of the merged stripe; empty if the stripes do not merge
   * @param keepsRacks whether the loss of any one rack must be survived
   * @param paritiesFirst whether parities are placed before data. This costs more copies, and finds
   *     a placement where racks leave little choice
   */
  GroupPlacer(
      StripeGroup group,
      Optional<ErasureCode> compact,
      List<PlacementDisk> roomy,
      List<PlacementDisk> disks,
      boolean keepsRacks,
      boolean paritiesFirst,
      Random random) {
    this.group = group;
    this.keepsRacks = keepsRacks;
    this.paritiesFirst = paritiesFirst;
    this.compact = compact;
    this.roomy = roomy;
    this.random = random;
    this.draft = new PlacementDraft(roomy, disks, keepsRacks, random);
    this.assigner = new DiskAssigner(draft, random);
    List<Set<Integer>> occupied = new ArrayList<>();
    group.stripes().forEach(stripe -> occupied.add(group.code().occupied(stripe.keySet())));
    this.draftGroup = new DraftGroup(draft, group.code(), compact, occupied);
    for (int s = 0; s < occupied.size(); s++) {
      for (int position : new TreeSet<>(occupied.get(s))) {
        addItem(new BlockRef(s, position));
      }
    }
    for (int position : draftGroup.onlyMerged) {
      reserved.put(position, draft.addFree().in(draftGroup.merged, position));
    }
  }

  private void addItem(BlockRef ref) {
    StripeBlock block = group.stripes().get(ref.stripe()).get(ref.position());
    if (block == null) {
      parities.put(ref, draftGroup.join(draft.addFree(), ref));
      return;
    }
    int kind = StripePacker.lengthClass(block.lengthBytes());
    Item item = draftGroup.join(draft.addWithReplicas(block.replicas(), kind), ref);
    data.put(ref, item);
    blocks.put(item, block);
  }

  /** A placement that keeps the rules; empty if none was found. */
  Optional<Placement> place() {
    boolean patternsFirst = draft.serverCount() <= PATTERNS_FIRST;
    boolean isPlaced = patternsFirst && tryPatterns(false);
    if (!isPlaced) {
      isPlaced = searchPlaces();
      if (!patternsFirst && (!isPlaced || draftGroup.fatalPairs(draft) > 0)) {
        isPlaced = tryPatterns(isPlaced);
      }
    }
    if (!isPlaced) {
      return Optional.empty();
    }
    DraftImprover.spread(draft, random, SPREADS);
    return Optional.of(result());
  }

  private boolean searchPlaces() {
    if (!placeWhereReplicasAre()) {
      draft.items().stream().filter(Item::isPlaced).forEach(Item::remove);
      return false;
    }
    DraftImprover.run(draft, random, false, CHECKS);
    if (draftGroup.fatalPairs(draft) > 0) {
      DraftImprover.run(draft, random, true, CHECKS_WITH_MOVES);
    }
    return true;
  }

  private boolean placeWhereReplicasAre() {
    List<Item> free = new ArrayList<>(parities.values());
    free.addAll(reserved.values());
    if (paritiesFirst && !placeAnywhere(free)) {
      return false;
    }
    return placeAnywhere(assigner.placeOnReplicas(List.copyOf(data.values())))
        && (paritiesFirst || placeAnywhere(free));
  }

  private boolean placeAnywhere(List<Item> items) {
    return items.stream().allMatch(assigner::placeAnywhere);
  }

  /** Takes the best placement by a pattern, if it is better than the present placement. */
  private boolean tryPatterns(boolean isPlaced) {
    if (compact.isEmpty() && group.stripes().size() > 1) {
      return isPlaced; // a pattern is made for one stripe or for stripes that merge
    }
    if (keepsRacks && servers() > MOST_FOR_PATTERNS) {
      return isPlaced; // patterns ignore racks: a second search with other numbers finds more
    }
    Best best = new Best(isPlaced);
    int fitting = 0;
    for (int s = Math.min(MOST_FOR_PATTERNS, servers()); fitting < PATTERNS; s--) {
      if (!ServerPattern.mayExist(group.code(), s)) {
        break;
      }
      int fits = 0;
      List<ServerPattern> patterns = byFill(ServerPattern.all(group.code(), compact, s));
      for (ServerPattern pattern : patterns) {
        fits += fit(pattern, patterns.size(), best);
      }
      fitting += fits > 0 ? 1 : 0;
    }
    draft.items().stream().filter(Item::isPlaced).forEach(Item::remove);
    return best.restore();
  }

  /** Fits the group to a pattern several times, each time on other servers; returns how often. */
  private int fit(ServerPattern pattern, int patterns, Best best) {
    PatternFitter fitter =
        new PatternFitter(draft, draftGroup, pattern, data, parities, reserved, random);
    int fits = 0;
    int most = Math.max(1, FITS_PER_PATTERN / patterns);
    int mostTries = TRIES_PER_PATTERN / patterns;
    for (int tries = 0; fits < most && tries < mostTries; tries++) {
      if (fitter.place()) {
        fits++;
        best.offer();
      }
    }
    fitter.clear();
    return fits;
  }

  /** The cheapest placement seen. */
  private final class Best {
    private PlacementDraft.Snapshot snapshot;
    private double cost = Double.MAX_VALUE;

    Best(boolean isPlaced) {
      if (isPlaced) {
        offer();
      }
    }

    /** Takes the present placement if it is cheaper. */
    void offer() {
      double present = GroupPlacer.this.cost();
      if (present < cost) {
        cost = present;
        snapshot = draft.snapshot();
      }
    }

    /** Restores the cheapest placement; false if there is none. */
    boolean restore() {
      if (snapshot != null) {
        draft.restore(snapshot);
      }
      return snapshot != null;
    }
  }

  /** The variants of a pattern that level the fill of the servers best, the best first. */
  private List<ServerPattern> byFill(List<ServerPattern> patterns) {
    if (patterns.size() < 2) {
      return patterns;
    }
    double[] fill =
        IntStream.range(0, draft.serverCount())
            .filter(server -> draft.disksOf(server).length > 0)
            .mapToDouble(draft::preferenceOfServer)
            .sorted()
            .toArray();
    Map<ServerPattern, Double> costs = new IdentityHashMap<>();
    patterns.forEach(pattern -> costs.put(pattern, pattern.leastFill(fill)));
    return patterns.stream()
        .sorted(Comparator.comparing(costs::get))
        .limit(VARIANTS_PER_PATTERN)
        .toList();
  }

  /**
   * The cost of the present placement. A fatal pair costs more than all moves together. A move
   * costs more than a small imbalance between disks, and less than a large one.
   */
  private double cost() {
    double fill = 0;
    for (Item item : draft.items()) {
      if (item.isIn(draftGroup.merged) && item.memberships().size() == 1) {
        continue; // its parity exists only after the merge
      }
      double preference = draft.preference(item.disk());
      fill += preference * (1 + Math.abs(preference) / 2);
    }
    return FATAL_PAIR * draftGroup.fatalPairs(draft)
        + draft.cost(DraftImprover.COST_OF_MOVE / 4)
        + FILL * fill;
  }

  /** Why {@link #place} cannot find a placement, if there are too few disks or servers. */
  Optional<PlacementRefusal> tooSmall() {
    long disksNeeded = 0;
    for (PlacementDraft.View view : draft.views()) {
      disksNeeded = Math.max(disksNeeded, draft.items().stream().filter(i -> i.isIn(view)).count());
    }
    long serversHere = servers();
    if (serversHere < 2 || roomy.size() < disksNeeded) {
      return Optional.of(
          new PlacementRefusal(
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

  PlacementRefusal noneFound() {
    int needed = MinimumServers.of(group.code());
    if (compact.isPresent()) {
      needed = Math.max(needed, MinimumServers.of(compact.get()));
    }
    int here = servers();
    return new PlacementRefusal(
        "%s needs %d failure domains (servers) so that any one may be lost; the cluster has %d; add servers or choose a code with more parities"
            .formatted(group.code(), Math.max(needed, here < needed ? needed : here + 1), here));
  }

  private int servers() {
    return (int) roomy.stream().map(PlacementDisk::serverUuid).distinct().count();
  }

  private Placement result() {
    List<SortedMap<Integer, StripeBlock>> stripes = new ArrayList<>();
    List<SortedMap<Integer, PlacementDisk>> disks = new ArrayList<>();
    group.stripes().forEach(stripe -> stripes.add(new TreeMap<>()));
    group.stripes().forEach(stripe -> disks.add(new TreeMap<>()));
    Set<BlockRef> moves = new TreeSet<>();
    for (Item item : data.values()) {
      BlockRef ref = draftGroup.refOf(item);
      stripes.get(ref.stripe()).put(ref.position(), blocks.get(item));
      disks.get(ref.stripe()).put(ref.position(), draft.disk(item.disk()));
      if (item.isMove(item.disk())) {
        moves.add(ref);
      }
    }
    parities.forEach(
        (ref, item) -> disks.get(ref.stripe()).put(ref.position(), draft.disk(item.disk())));
    return new Placement(
        stripes,
        disks,
        moves,
        draft.survivesAnyServer(),
        draft.fatalRacks(),
        draft.fatalServerPairs(draftGroup.stripes),
        draftGroup.fatalPairsOfMerged(draft),
        true,
        List.of());
  }
}
