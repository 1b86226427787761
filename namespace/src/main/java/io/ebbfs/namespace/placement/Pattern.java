package io.ebbfs.namespace.placement;

import io.ebbfs.coding.BlockRef;
import io.ebbfs.coding.ErasureCode;
import io.ebbfs.coding.Shape;
import io.ebbfs.namespace.placement.Layout.Item;
import io.ebbfs.namespace.placement.Layout.Membership;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;

/**
 * Which positions of a full group share a server, so that any two servers may be lost; the servers
 * are numbers that stand for any. For product codes the block at row r and column c of the grid is
 * on server (a r + b c) mod S where that does it (7, 9 and 11 servers for PC(6x5)); what is left,
 * and other numbers of servers, is searched for, once. Immutable.
 */
final class Pattern {
  private static final Map<String, List<Pattern>> KNOWN = new ConcurrentHashMap<>();
  private static final int CHECKS = 40_000;
  private static final int SEARCHES = 4;
  private static final int SPARE_DISKS = 6;
  private static final int SKEWS = 2_000;
  private static final int SKEWED_VARIANTS = 5;

  /** On more servers blocks lie so thin that hardly any placement needs a pattern. */
  private static final int MOST_FOR_VARIANTS = 10;

  private static final int FEW_VARIANTS = 3;
  private static final int MORE_SEARCHES = 6;
  private static final int FREE_OF_FULLER = 45;

  private final int servers;
  private final Map<BlockRef, Integer> ofStripes;
  private final Map<Integer, Integer> ofMerged;
  private final int[] counts;

  private Pattern(int servers, Map<BlockRef, Integer> ofStripes, Map<Integer, Integer> ofMerged) {
    this.servers = servers;
    this.ofStripes = Map.copyOf(ofStripes);
    this.ofMerged = Map.copyOf(ofMerged);
    this.counts = new int[servers];
    ofStripes.values().forEach(server -> counts[server]++);
  }

  int servers() {
    return servers;
  }

  /** How many blocks of the stripes are on the server of this number. */
  int countOn(int number) {
    return counts[number];
  }

  /** The number of the server of a position of a stripe. */
  int of(BlockRef ref) {
    return ofStripes.get(ref);
  }

  /** The number of the server of a position that only the stripe to come has. */
  int ofMerged(int position) {
    return ofMerged.get(position);
  }

  /**
   * A pattern for so many servers: any two may be lost of the stripes, and of the stripe to come if
   * that was found. Empty if there is none for the stripes. The answer is always the same.
   */
  static Optional<Pattern> find(ErasureCode code, Optional<ErasureCode> compact, int servers) {
    return all(code, compact, servers).stream().findFirst();
  }

  /**
   * The pattern of {@link #find} and variants of it, as good, in which the servers hold numbers of
   * blocks that differ as much as was found: for servers of uneven size.
   */
  static List<Pattern> all(ErasureCode code, Optional<ErasureCode> compact, int servers) {
    String key = code.name() + " " + compact.map(ErasureCode::name).orElse("-") + " " + servers;
    List<Pattern> known = KNOWN.get(key);
    if (known == null) {
      known = search(code, compact, servers);
      KNOWN.put(key, known);
    }
    return known;
  }

  private static List<Pattern> search(
      ErasureCode code, Optional<ErasureCode> compact, int servers) {
    if (!mayExist(code, servers)) {
      return List.of();
    }
    Optional<Search> best = Optional.empty();
    for (int seed = 1; seed <= SEARCHES; seed++) {
      Search search = new Search(code, compact, servers, 0, new Random(seed));
      if (search.succeeds(CHECKS)
          && (best.isEmpty() || search.weakMerged() < best.get().weakMerged())) {
        best = Optional.of(search);
      }
      boolean mergedToo = compact.isPresent() && mayExist(compact.get(), servers);
      if (best.isPresent() && (!mergedToo || best.get().weakMerged() == 0)) {
        break;
      }
    }
    return best.map(search -> withVariants(search, code, compact, servers)).orElse(List.of());
  }

  private static List<Pattern> withVariants(
      Search found, ErasureCode code, Optional<ErasureCode> compact, int servers) {
    if (servers > MOST_FOR_VARIANTS) {
      return List.of(found.pattern());
    }
    Map<List<Integer>, Pattern> byCounts = new LinkedHashMap<>();
    found.variants().forEach(pattern -> byCounts.putIfAbsent(pattern.sortedCounts(), pattern));
    // No step leads from one tight pattern to another: they are searched for anew.
    for (int seed = 1; byCounts.size() < FEW_VARIANTS && seed <= MORE_SEARCHES; seed++) {
      Search search = new Search(code, compact, servers, seed % servers, new Random(seed));
      search.gatherGlobals();
      if (search.succeeds(CHECKS / 4) && search.weakMerged() <= found.mostWeakMerged()) {
        byCounts.putIfAbsent(search.pattern().sortedCounts(), search.pattern());
      }
    }
    return List.copyOf(byCounts.values());
  }

  /**
   * Two servers hold no more blocks than there are parities, so all but one at most half as many.
   */
  static boolean mayExist(ErasureCode code, int servers) {
    int half = code.parityCount() / 2;
    return servers * half + code.parityCount() % 2 >= code.size();
  }

  /** The sum over all blocks of how full their servers are, the larger parts on emptier ones. */
  double leastFill(double[] ascendingFill) {
    List<Integer> sorted = sortedCounts();
    double fill = 0;
    for (int i = 0; i < servers; i++) {
      fill += sorted.get(servers - 1 - i) * ascendingFill[i];
    }
    return fill;
  }

  private List<Integer> sortedCounts() {
    return Arrays.stream(counts).sorted().boxed().toList();
  }

  /** A group on servers with disks enough. */
  private static final class Search {
    private final int servers;
    private final int disksPerServer;
    private final Layout layout;
    private final LayoutSearch search;
    private final GroupViews views;
    private final Random random;
    private final Map<BlockRef, Item> items = new HashMap<>();
    private final Map<Integer, Item> reserved = new HashMap<>();

    /**
     * @param fuller so many servers are to hold less than the others
     */
    Search(
        ErasureCode code, Optional<ErasureCode> compact, int servers, int fuller, Random random) {
      this.servers = servers;
      this.random = random;
      int largest = Math.max(code.size(), compact.map(ErasureCode::size).orElse(0));
      this.disksPerServer = (largest + servers - 1) / servers + SPARE_DISKS;
      List<Disk> disks = new ArrayList<>();
      for (int s = 0; s < servers; s++) {
        for (int d = 0; d < disksPerServer; d++) {
          disks.add(new Disk(s + "-" + d, "" + s, "", 100, s < fuller ? FREE_OF_FULLER : 50, 0));
        }
      }
      this.layout = new Layout(disks, List.of(), false, random);
      this.search = new LayoutSearch(layout, random);
      Set<Integer> all = new TreeSet<>(IntStream.range(0, code.size()).boxed().toList());
      int stripes = compact.isPresent() ? Packing.stripesPerGroup(code) : 1;
      List<Set<Integer>> occupied = java.util.Collections.nCopies(stripes, all);
      this.views = new GroupViews(layout, code, compact, occupied);
      for (int stripe = 0; stripe < stripes; stripe++) {
        for (int position : all) {
          BlockRef ref = new BlockRef(stripe, position);
          items.put(ref, views.join(layout.addFree(), ref));
        }
      }
      for (int position : views.onlyMerged) {
        reserved.put(position, layout.addFree().in(views.merged, position));
      }
    }

    /** Puts the parities over all data of a stripe on one server: the rest then spreads evenly. */
    void gatherGlobals() {
      items.forEach(
          (ref, item) -> {
            if (isGlobal(views.stripes.get(ref.stripe()).code, ref.position())) {
              placeOn(item, 0);
              item.pin();
            }
          });
    }

    private static boolean isGlobal(ErasureCode code, int position) {
      return position >= code.dataCount()
          && IntStream.range(0, code.dataCount())
              .allMatch(data -> code.generator().get(position, data) != 0);
    }

    boolean succeeds(int checks) {
      placeLinearly();
      for (Item item : layout.items()) {
        if (!item.isPlaced() && !search.placeAnywhere(item)) {
          return false;
        }
      }
      boolean mergedToo = views.merged == null || mayExist(views.merged.code, servers);
      Improvement.run(layout, random, false, mergedToo ? checks : checks / 4);
      return layout.survivesAnyServer() && layout.weakServerPairs(views.stripes) == 0;
    }

    int weakMerged() {
      return views.weakPairsOfMerged(layout);
    }

    /** Places what the stripe to come has, or the only stripe, by the best (a r + b c) mod S. */
    private void placeLinearly() {
      Layout.View view = views.merged == null ? views.stripes.get(0) : views.merged;
      if (layout.items().stream().anyMatch(Item::isPlaced)
          || !(view.code.shape() instanceof Shape.Product grid)) {
        return;
      }
      int best = Integer.MAX_VALUE;
      int bestA = 0;
      int bestB = 0;
      for (int a = 0; a < servers; a++) {
        for (int b = 0; b < servers; b++) {
          int weak = placeLinearly(view, grid, a, b) ? layout.weakServerPairs(List.of(view)) : best;
          layout.items().stream().filter(Item::isPlaced).forEach(Item::remove);
          if (weak < best) {
            best = weak;
            bestA = a;
            bestB = b;
          }
        }
      }
      if (best < Integer.MAX_VALUE) {
        placeLinearly(view, grid, bestA, bestB);
      }
    }

    private boolean placeLinearly(Layout.View view, Shape.Product grid, int a, int b) {
      for (Item item : layout.items()) {
        for (Membership membership : item.memberships()) {
          if (membership.view() == view) {
            int[] cell = cell(grid, membership.position());
            if (!placeOn(item, (a * cell[0] + b * cell[1]) % servers)) {
              return false;
            }
          }
        }
      }
      return true;
    }

    private boolean placeOn(Item item, int server) {
      for (int d = 0; d < disksPerServer; d++) {
        if (item.fits(server * disksPerServer + d)) {
          item.place(server * disksPerServer + d);
          return true;
        }
      }
      return false;
    }

    private static int[] cell(Shape.Product grid, int position) {
      for (int r = 0; r <= grid.rows(); r++) {
        for (int c = 0; c <= grid.columns(); c++) {
          boolean parityRow = r == grid.rows();
          boolean parityColumn = c == grid.columns();
          int here =
              parityRow
                  ? parityColumn ? grid.global() : grid.columnParity(c)
                  : parityColumn ? grid.rowParity(r) : grid.data(r, c);
          if (here == position) {
            return new int[] {r, c};
          }
        }
      }
      throw new IllegalArgumentException(Arrays.toString(new int[] {position}) + " is no position");
    }

    /** What was found, and the same after blocks have left the first servers, 1 to all but one. */
    List<Pattern> variants() {
      List<Pattern> variants = new ArrayList<>(List.of(pattern()));
      Layout.Snapshot found = layout.snapshot();
      for (int few = 1; few < servers; few += Math.max(1, servers / SKEWED_VARIANTS)) {
        skew(few);
        variants.add(pattern());
        layout.restore(found);
      }
      return variants;
    }

    /** Where some pairs must be weak, two more may be: that is the price of balance. */
    int mostWeakMerged() {
      boolean mergedToo =
          views.merged == null || MinimumServers.survivesAnyTwo(views.merged.code, servers);
      return weakMerged() + (mergedToo ? 0 : 2);
    }

    /** Takes stored blocks off the first servers, one by one, or in exchange for one to come. */
    private void skew(int few) {
      int mostWeakMerged = mostWeakMerged();
      List<Item> all = layout.items();
      for (int tries = 0; tries < SKEWS; tries++) {
        Item item = all.get(random.nextInt(all.size()));
        Item other = all.get(random.nextInt(all.size()));
        int was = item.server();
        int server = random.nextBoolean() ? other.server() : random.nextInt(servers);
        boolean exchange = server == other.server() && random.nextBoolean();
        int gain = gain(item, server, few) + (exchange ? gain(other, was, few) : 0);
        if (server != was && gain >= 0) {
          Layout.Snapshot before = layout.snapshot();
          item.remove();
          if (exchange) {
            other.remove();
          }
          boolean fits =
              placeOn(item, server)
                  && (!exchange || placeOn(other, was))
                  && layout.weakServerPairs(views.stripes) == 0
                  && weakMerged() <= mostWeakMerged;
          if (!fits) {
            layout.restore(before);
          }
        }
      }
    }

    private int gain(Item item, int to, int few) {
      boolean isStored = views.merged == null || item.memberships().get(0).view() != views.merged;
      return isStored ? (item.server() < few ? 1 : 0) - (to < few ? 1 : 0) : 0;
    }

    Pattern pattern() {
      Map<BlockRef, Integer> ofStripes = new HashMap<>();
      items.forEach((ref, item) -> ofStripes.put(ref, item.server()));
      Map<Integer, Integer> ofMerged = new HashMap<>();
      reserved.forEach((position, item) -> ofMerged.put(position, item.server()));
      return new Pattern(servers, ofStripes, ofMerged);
    }
  }
}
