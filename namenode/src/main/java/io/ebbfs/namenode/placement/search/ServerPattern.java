package io.ebbfs.namenode.placement.search;

import io.ebbfs.coding.code.CodeParameters;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.plan.BlockRef;
import io.ebbfs.namenode.placement.PlacementDisk;
import io.ebbfs.namenode.placement.search.PlacementDraft.Item;
import io.ebbfs.namenode.placement.search.PlacementDraft.Membership;
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
 * A distribution of the positions of a full group over S servers that survives the loss of any two.
 * The servers are numbers; {@link PatternFitter} chooses a real server for each. For product codes
 * the block at row r and column c of the grid goes to server (a r + b c) mod S if some a and b give
 * such a distribution: for PC(6x5) they do with 7, 9 and 11 servers. For other codes and numbers of
 * servers the distribution is found by a search, once. Immutable.
 */
final class ServerPattern {
  private record Key(ErasureCode code, Optional<ErasureCode> compact, int servers) {}

  private static final Map<Key, List<ServerPattern>> KNOWN = new ConcurrentHashMap<>();
  private static final int CHECKS = 40_000;
  private static final int SEARCHES = 4;
  private static final int SPARE_DISKS = 6;
  private static final int SKEWS = 2_000;
  private static final int SKEWED_VARIANTS = 5;

  /** On more servers a placement seldom needs a pattern, so that one variant is enough. */
  private static final int MOST_FOR_VARIANTS = 10;

  private static final int FEW_VARIANTS = 3;
  private static final int MORE_SEARCHES = 6;
  private static final int FREE_OF_FULLER = 45;

  private final int servers;
  private final Map<BlockRef, Integer> ofStripes;
  private final Map<Integer, Integer> ofMerged;
  private final int[] counts;

  private ServerPattern(
      int servers, Map<BlockRef, Integer> ofStripes, Map<Integer, Integer> ofMerged) {
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

  /** The number of the server of a position that only the merged stripe has. */
  int ofMerged(int position) {
    return ofMerged.get(position);
  }

  /**
   * A pattern for this number of servers. The stripes survive the loss of any two servers; the
   * merged stripe does, too, if such a pattern was found. Empty if none was found for the stripes.
   * The answer is always the same.
   */
  static Optional<ServerPattern> find(
      ErasureCode code, Optional<ErasureCode> compact, int servers) {
    return all(code, compact, servers).stream().findFirst();
  }

  /**
   * The pattern of {@link #find} and equally good variants. In a variant some servers hold many
   * more blocks than others, which suits servers of different size.
   */
  static List<ServerPattern> all(ErasureCode code, Optional<ErasureCode> compact, int servers) {
    Key key = new Key(code, compact, servers);
    List<ServerPattern> known = KNOWN.get(key);
    if (known == null) {
      known = search(code, compact, servers);
      KNOWN.put(key, known);
    }
    return known;
  }

  private static List<ServerPattern> search(
      ErasureCode code, Optional<ErasureCode> compact, int servers) {
    if (!mayExist(code, servers)) {
      return List.of();
    }
    Optional<Search> best = Optional.empty();
    for (int seed = 1; seed <= SEARCHES; seed++) {
      Search search = new Search(code, compact, servers, 0, new Random(seed));
      if (search.succeeds(CHECKS)
          && (best.isEmpty() || search.fatalMerged() < best.get().fatalMerged())) {
        best = Optional.of(search);
      }
      boolean mergedToo = compact.isPresent() && mayExist(compact.get(), servers);
      if (best.isPresent() && (!mergedToo || best.get().fatalMerged() == 0)) {
        break;
      }
    }
    return best.map(search -> withVariants(search, code, compact, servers)).orElse(List.of());
  }

  private static List<ServerPattern> withVariants(
      Search found, ErasureCode code, Optional<ErasureCode> compact, int servers) {
    if (servers > MOST_FOR_VARIANTS) {
      return List.of(found.pattern());
    }
    Map<List<Integer>, ServerPattern> byCounts = new LinkedHashMap<>();
    found.variants().forEach(pattern -> byCounts.putIfAbsent(pattern.sortedCounts(), pattern));
    // Single steps do not lead from one tight pattern to another, so more patterns are searched.
    for (int seed = 1; byCounts.size() < FEW_VARIANTS && seed <= MORE_SEARCHES; seed++) {
      Search search = new Search(code, compact, servers, seed % servers, new Random(seed));
      search.gatherGlobals();
      if (search.succeeds(CHECKS / 4) && search.fatalMerged() <= found.mostFatalMerged()) {
        byCounts.putIfAbsent(search.pattern().sortedCounts(), search.pattern());
      }
    }
    return List.copyOf(byCounts.values());
  }

  /**
   * Whether a pattern may exist. Two servers together may hold at most as many blocks as there are
   * parities; so all servers but one hold at most half as many.
   */
  static boolean mayExist(ErasureCode code, int servers) {
    int half = code.parityCount() / 2;
    return servers * half + code.parityCount() % 2 >= code.size();
  }

  /**
   * The sum of the fill of the servers over all blocks, if the emptier servers take the larger
   * parts.
   */
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

  /** The search for a pattern: a group on servers with more disks than needed. */
  private static final class Search {
    private final int servers;
    private final int disksPerServer;
    private final PlacementDraft draft;
    private final DiskAssigner assigner;
    private final DraftGroup draftGroup;
    private final Random random;
    private final Map<BlockRef, Item> items = new HashMap<>();
    private final Map<Integer, Item> reserved = new HashMap<>();

    /**
     * @param fuller how many servers start fuller, so that they get fewer blocks
     */
    Search(
        ErasureCode code, Optional<ErasureCode> compact, int servers, int fuller, Random random) {
      this.servers = servers;
      this.random = random;
      int largest = Math.max(code.size(), compact.map(ErasureCode::size).orElse(0));
      this.disksPerServer = (largest + servers - 1) / servers + SPARE_DISKS;
      List<PlacementDisk> disks = new ArrayList<>();
      for (int s = 0; s < servers; s++) {
        for (int d = 0; d < disksPerServer; d++) {
          disks.add(
              new PlacementDisk(s + "-" + d, "" + s, "", 100, s < fuller ? FREE_OF_FULLER : 50, 0));
        }
      }
      this.draft = new PlacementDraft(disks, List.of(), false, random);
      this.assigner = new DiskAssigner(draft, random);
      Set<Integer> all = new TreeSet<>(IntStream.range(0, code.size()).boxed().toList());
      int stripes = compact.map(to -> to.dataCount() / code.dataCount()).orElse(1);
      List<Set<Integer>> occupied = java.util.Collections.nCopies(stripes, all);
      this.draftGroup = new DraftGroup(draft, code, compact, occupied);
      for (int stripe = 0; stripe < stripes; stripe++) {
        for (int position : all) {
          BlockRef ref = new BlockRef(stripe, position);
          items.put(ref, draftGroup.join(draft.addFree(), ref));
        }
      }
      for (int position : draftGroup.onlyMerged) {
        reserved.put(position, draft.addFree().in(draftGroup.merged, position));
      }
    }

    /** Puts the parities that cover all data on one server: the other blocks then spread evenly. */
    void gatherGlobals() {
      items.forEach(
          (ref, item) -> {
            if (isGlobal(draftGroup.stripes.get(ref.stripe()).code, ref.position())) {
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
      for (Item item : draft.items()) {
        if (!item.isPlaced() && !assigner.placeAnywhere(item)) {
          return false;
        }
      }
      boolean mergedToo = draftGroup.merged == null || mayExist(draftGroup.merged.code, servers);
      DraftImprover.run(draft, random, false, mergedToo ? checks : checks / 4);
      return draft.survivesAnyServer() && draft.fatalServerPairs(draftGroup.stripes) == 0;
    }

    int fatalMerged() {
      return draftGroup.fatalPairsOfMerged(draft);
    }

    /** Places the merged stripe, or the only stripe, by the best (a r + b c) mod S. */
    private void placeLinearly() {
      PlacementDraft.View view =
          draftGroup.merged == null ? draftGroup.stripes.get(0) : draftGroup.merged;
      if (draft.items().stream().anyMatch(Item::isPlaced)
          || !(view.code.parameters() instanceof CodeParameters.Product grid)) {
        return;
      }
      int best = Integer.MAX_VALUE;
      int bestA = 0;
      int bestB = 0;
      for (int a = 0; a < servers; a++) {
        for (int b = 0; b < servers; b++) {
          int fatal =
              placeLinearly(view, grid, a, b) ? draft.fatalServerPairs(List.of(view)) : best;
          draft.items().stream().filter(Item::isPlaced).forEach(Item::remove);
          if (fatal < best) {
            best = fatal;
            bestA = a;
            bestB = b;
          }
        }
      }
      if (best < Integer.MAX_VALUE) {
        placeLinearly(view, grid, bestA, bestB);
      }
    }

    private boolean placeLinearly(
        PlacementDraft.View view, CodeParameters.Product grid, int a, int b) {
      for (Item item : draft.items()) {
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

    private static int[] cell(CodeParameters.Product grid, int position) {
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

    /** The pattern found, and variants of it in which the first servers hold fewer blocks. */
    List<ServerPattern> variants() {
      List<ServerPattern> variants = new ArrayList<>(List.of(pattern()));
      PlacementDraft.Snapshot found = draft.snapshot();
      for (int few = 1; few < servers; few += Math.max(1, servers / SKEWED_VARIANTS)) {
        skew(few);
        variants.add(pattern());
        draft.restore(found);
      }
      return variants;
    }

    /**
     * How many fatal pairs the merged stripe may have in a variant. If it must have some on so few
     * servers, two more are accepted for a better balance.
     */
    int mostFatalMerged() {
      boolean mergedToo =
          draftGroup.merged == null || AnyTwoServers.survives(draftGroup.merged.code, servers);
      return fatalMerged() + (mergedToo ? 0 : 2);
    }

    /**
     * Moves stored blocks away from the first servers, or exchanges them for blocks not stored yet.
     */
    private void skew(int few) {
      int mostFatalMerged = mostFatalMerged();
      List<Item> all = draft.items();
      for (int tries = 0; tries < SKEWS; tries++) {
        Item item = all.get(random.nextInt(all.size()));
        Item other = all.get(random.nextInt(all.size()));
        int was = item.server();
        int server = random.nextBoolean() ? other.server() : random.nextInt(servers);
        boolean exchange = server == other.server() && random.nextBoolean();
        int gain = gain(item, server, few) + (exchange ? gain(other, was, few) : 0);
        if (server != was && gain >= 0) {
          PlacementDraft.Snapshot before = draft.snapshot();
          item.remove();
          if (exchange) {
            other.remove();
          }
          boolean fits =
              placeOn(item, server)
                  && (!exchange || placeOn(other, was))
                  && draft.fatalServerPairs(draftGroup.stripes) == 0
                  && fatalMerged() <= mostFatalMerged;
          if (!fits) {
            draft.restore(before);
          }
        }
      }
    }

    private int gain(Item item, int to, int few) {
      boolean isStored =
          draftGroup.merged == null || item.memberships().get(0).view() != draftGroup.merged;
      return isStored ? (item.server() < few ? 1 : 0) - (to < few ? 1 : 0) : 0;
    }

    ServerPattern pattern() {
      Map<BlockRef, Integer> ofStripes = new HashMap<>();
      items.forEach((ref, item) -> ofStripes.put(ref, item.server()));
      Map<Integer, Integer> ofMerged = new HashMap<>();
      reserved.forEach((position, item) -> ofMerged.put(position, item.server()));
      return new ServerPattern(servers, ofStripes, ofMerged);
    }
  }
}
