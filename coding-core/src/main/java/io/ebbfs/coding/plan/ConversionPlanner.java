package io.ebbfs.coding.plan;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.code.PositionKind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * Plans how stripes of one code become stripes of another, from the two generator matrices alone.
 *
 * <p>It numbers the data of all stripes in order. Every block before and after the conversion is a
 * vector over the data blocks that exist. A new parity with the same vector as an old parity stays
 * where it is. For the other new parities {@link BasisSearch} finds the cheapest blocks to read.
 * Example: of 3 x PC(2x5) the row parities stay in PC(6x5), and 15 column parities are read.
 *
 * <p>Dead data is there before and not afterwards. So a subtraction is a conversion of a stripe to
 * its own code. Not thread-safe.
 */
final class ConversionPlanner {
  private final ErasureCode from;
  private final ErasureCode to;
  // The numbers of the data blocks before, and of those that stay.
  private final int[] present;
  private final Set<Integer> live;
  // By place before and after the conversion: the vector of each block over the present data.
  private final SortedMap<BlockRef, byte[]> before = new TreeMap<>();
  private final SortedMap<BlockRef, byte[]> after = new TreeMap<>();
  private final SortedMap<BlockRef, BlockRef> kept = new TreeMap<>();
  private final SortedMap<BlockRef, byte[]> wanted = new TreeMap<>();

  private ConversionPlanner(
      ErasureCode from,
      ErasureCode to,
      List<? extends Collection<Integer>> occupied,
      Set<BlockRef> dead) {
    this.from = from;
    this.to = to;
    Set<Integer> data = new TreeSet<>();
    for (int s = 0; s < occupied.size(); s++) {
      for (int position : occupied.get(s)) {
        if (from.position(position).isData()) {
          data.add(s * from.dataCount() + position);
        }
      }
    }
    this.live = new TreeSet<>(data);
    dead.forEach(ref -> live.remove(ref.stripe() * from.dataCount() + ref.position()));
    if (live.isEmpty()) {
      throw new CannotPlanException(
          from + " to " + to + ": no data to convert; drop the stripe instead");
    }
    this.present = data.stream().mapToInt(Integer::intValue).toArray();
    blocks(from, data, before);
    blocks(to, live, after);
  }

  /**
   * How many stripes of each code a conversion has: one stripe of the code with more data, and as
   * many stripes of the other code as hold the same data.
   *
   * @return the number of stripes of {@code from}, then of {@code to}; empty if neither data count
   *     is a multiple of the other
   */
  static Optional<int[]> stripes(ErasureCode from, ErasureCode to) {
    int smaller = Math.min(from.dataCount(), to.dataCount());
    int larger = Math.max(from.dataCount(), to.dataCount());
    if (larger % smaller != 0) {
      return Optional.empty();
    }
    return Optional.of(new int[] {larger / from.dataCount(), larger / to.dataCount()});
  }

  static Conversion plan(
      ErasureCode from,
      ErasureCode to,
      List<? extends Collection<Integer>> occupied,
      Set<BlockRef> dead,
      Set<BlockRef> unavailable) {
    int most =
        stripes(from, to)
            .orElseThrow(
                () ->
                    new CannotPlanException(
                        "stripes of %s and %s do not convert into each other: of %d and %d data blocks one must be a multiple of the other, as in PC(2x5) and PC(6x5)"
                            .formatted(from, to, from.dataCount(), to.dataCount())))[0];
    if (occupied.size() > most) {
      throw new CannotPlanException(
          "%d stripes of %s do not fit into one of %s; give at most %d"
              .formatted(occupied.size(), from, to, most));
    }
    return new ConversionPlanner(from, to, occupied, dead).plan(unavailable);
  }

  /** Enters the vectors of all blocks; a parity over virtual zeros alone is no block. */
  private void blocks(ErasureCode code, Set<Integer> data, SortedMap<BlockRef, byte[]> blocks) {
    int k = code.dataCount();
    for (int i = 0; i < present.length; i++) {
      for (int p = 0; data.contains(present[i]) && p < code.size(); p++) {
        int coefficient = code.generator().get(p, present[i] % k);
        if (coefficient != 0) {
          BlockRef ref = new BlockRef(present[i] / k, p);
          blocks.computeIfAbsent(ref, r -> new byte[present.length])[i] = (byte) coefficient;
        }
      }
    }
  }

  private Conversion plan(Set<BlockRef> unavailable) {
    keepData();
    keepParities();
    after.forEach(
        (ref, vector) -> {
          if (!kept.containsValue(ref)) {
            wanted.put(ref, vector);
          }
        });
    if (wanted.isEmpty()) {
      return finish(List.of(), Optional.empty());
    }
    SortedMap<BlockRef, byte[]> readable = new TreeMap<>(before);
    readable.keySet().removeAll(unavailable);
    // All blocks cost the same to read. Among equal costs, the search takes fewer terms.
    BasisSearch.Found found =
        new BasisSearch(readable, wanted, ref -> 1)
            .cheapest(orders(readable.keySet()))
            .orElseThrow(() -> unreadable(unavailable));
    Set<BlockRef> covered = covered();
    if (found.cost() < covered.size() || covered.size() == 1) {
      return finish(List.of(CombinePlan.of(found.expressions())), Optional.empty());
    }
    boolean anew = readable.keySet().containsAll(covered);
    return finish(
        List.of(CombinePlan.of(anew ? fromData() : found.expressions())),
        Optional.of(
            "no combination of blocks of %s gives the new parities of %s with fewer reads than the %d data blocks"
                .formatted(from, to, covered.size())));
  }

  /** The data blocks that the parities to be computed cover. */
  private Set<BlockRef> covered() {
    Set<BlockRef> covered = new TreeSet<>();
    wanted.values().forEach(vector -> covered.addAll(support(vector).keySet()));
    return covered;
  }

  private SortedMap<BlockRef, SortedMap<BlockRef, Integer>> fromData() {
    SortedMap<BlockRef, SortedMap<BlockRef, Integer>> expressions = new TreeMap<>();
    wanted.forEach((ref, vector) -> expressions.put(ref, support(vector)));
    return expressions;
  }

  private SortedMap<BlockRef, Integer> support(byte[] vector) {
    SortedMap<BlockRef, Integer> support = new TreeMap<>();
    for (int i = 0; i < present.length; i++) {
      if (vector[i] != 0) {
        support.put(
            new BlockRef(present[i] / from.dataCount(), present[i] % from.dataCount()),
            vector[i] & 0xff);
      }
    }
    return support;
  }

  // ---- what stays -------------------------------------------------------------------------------

  private void keepData() {
    for (int index : live) {
      kept.put(
          new BlockRef(index / from.dataCount(), index % from.dataCount()),
          new BlockRef(index / to.dataCount(), index % to.dataCount()));
    }
  }

  /**
   * Keeps old parities with the vector of a new parity, if possible of the same kind. A stripe that
   * keeps its code keeps its parities only where they are.
   */
  private void keepParities() {
    if (from.equals(to)) {
      before.forEach(
          (ref, vector) -> {
            if (from.position(ref.position()).isParity() && Arrays.equals(vector, after.get(ref))) {
              kept.put(ref, ref);
            }
          });
      return;
    }
    Map<String, Set<BlockRef>> holding = new HashMap<>();
    before.forEach(
        (ref, vector) -> {
          if (from.position(ref.position()).isParity()) {
            holding.computeIfAbsent(Arrays.toString(vector), v -> new TreeSet<>()).add(ref);
          }
        });
    for (boolean sameKind : new boolean[] {true, false}) {
      after.forEach(
          (ref, vector) -> {
            if (to.position(ref.position()).isParity() && !kept.containsValue(ref)) {
              holding.getOrDefault(Arrays.toString(vector), Set.of()).stream()
                  .filter(old -> !kept.containsKey(old))
                  .filter(old -> !sameKind || kind(from, old) == kind(to, ref))
                  .findFirst()
                  .ifPresent(old -> kept.put(old, ref));
            }
          });
    }
  }

  private static PositionKind kind(ErasureCode code, BlockRef ref) {
    return code.position(ref.position()).kind();
  }

  // ---- what is read -----------------------------------------------------------------------------

  /**
   * The orders for the first bases of the search. Blocks at the end of an order are read only if
   * nothing before them serves:
   *
   * <ul>
   *   <li>parities that go away, data, parities that stay, and at the end the data of one wanted
   *       parity or of one resulting stripe;
   *   <li>parities that go away, parities that stay, data;
   *   <li>data, and then parities: this encodes anew;
   *   <li>dead data, parities that go away, parities that stay, live data: this subtracts.
   * </ul>
   */
  private Set<List<BlockRef>> orders(Set<BlockRef> readable) {
    List<BlockRef> leaving = new ArrayList<>();
    List<BlockRef> staying = new ArrayList<>();
    List<BlockRef> data = new ArrayList<>();
    for (BlockRef ref : readable) {
      if (from.position(ref.position()).isData()) {
        data.add(ref);
      } else {
        (kept.containsKey(ref) ? staying : leaving).add(ref);
      }
    }
    Set<List<BlockRef>> orders = new LinkedHashSet<>();
    for (Set<BlockRef> last : leftOut()) {
      List<BlockRef> first = data.stream().filter(ref -> !last.contains(ref)).toList();
      orders.add(concat(leaving, first, staying, List.copyOf(last), readable));
    }
    orders.add(concat(leaving, staying, data, List.of(), readable));
    orders.add(concat(data, leaving, staying, List.of(), readable));
    List<BlockRef> dead = data.stream().filter(ref -> !kept.containsKey(ref)).toList();
    if (!dead.isEmpty()) {
      orders.add(concat(dead, leaving, staying, data, readable));
    }
    return orders;
  }

  /** Sets of data blocks that perhaps need not be read. */
  private Set<Set<BlockRef>> leftOut() {
    Set<Set<BlockRef>> sets = new LinkedHashSet<>();
    sets.add(Set.of());
    SortedMap<Integer, Set<BlockRef>> byResult = new TreeMap<>();
    kept.forEach(
        (old, now) -> {
          if (to.position(now.position()).isData()) {
            byResult.computeIfAbsent(now.stripe(), s -> new TreeSet<>()).add(old);
          }
        });
    sets.addAll(byResult.values());
    wanted.values().forEach(vector -> sets.add(support(vector).keySet()));
    return sets;
  }

  private static List<BlockRef> concat(
      List<BlockRef> one,
      List<BlockRef> two,
      List<BlockRef> three,
      List<BlockRef> four,
      Set<BlockRef> readable) {
    Set<BlockRef> order = new LinkedHashSet<>(one);
    order.addAll(two);
    order.addAll(three);
    order.addAll(four);
    order.retainAll(readable);
    return List.copyOf(order);
  }

  private CannotPlanException unreadable(Set<BlockRef> unavailable) {
    List<String> missing = new ArrayList<>();
    for (BlockRef ref : new TreeSet<>(unavailable)) {
      if (before.containsKey(ref)) {
        missing.add(
            "%s (position %d) of stripe %d"
                .formatted(from.position(ref.position()).name(), ref.position(), ref.stripe()));
      }
    }
    return new CannotPlanException(
        from
            + " to "
            + to
            + ": cannot be computed without "
            + String.join(", ", missing)
            + ", which cannot be read; repair it first");
  }

  // ---- the result -------------------------------------------------------------------------------

  private Conversion finish(List<CombinePlan> plans, Optional<String> reencoded) {
    String what = from + " to " + to;
    Function<BlockRef, byte[]> old = ref -> vector(before, ref);
    Function<BlockRef, byte[]> now = ref -> vector(after, ref);
    plans.forEach(plan -> PlanVerifier.verify(plan, what, old, now));
    List<Conversion.Kept> keptBlocks = new ArrayList<>();
    kept.forEach(
        (one, other) -> {
          if (!Arrays.equals(vector(before, one), vector(after, other))) {
            throw new IllegalStateException(what + ": " + one + " is not " + other);
          }
          keptBlocks.add(new Conversion.Kept(one, other));
        });
    Set<BlockRef> dropped = new TreeSet<>(before.keySet());
    dropped.removeAll(kept.keySet());
    return new Conversion(
        from,
        to,
        plans,
        List.copyOf(keptBlocks),
        java.util.Collections.unmodifiableSet(dropped),
        List.copyOf(wanted.keySet()),
        reencoded);
  }

  private byte[] vector(SortedMap<BlockRef, byte[]> blocks, BlockRef ref) {
    byte[] vector = blocks.get(ref);
    return vector == null ? new byte[present.length] : vector;
  }

  /**
   * Keeps the latest plans, because the commit of a transition plans again what its claim planned.
   * Bounded; thread safe.
   */
  static final class Cache {
    private static final int MOST = 512;

    private record Key(
        ErasureCode from,
        ErasureCode to,
        List<? extends Collection<Integer>> data,
        Set<BlockRef> dead,
        Set<BlockRef> missing) {}

    private final Map<Key, Conversion> plans =
        new LinkedHashMap<>(16, 0.75f, true) {
          private static final long serialVersionUID = 1L;

          @Override
          protected boolean removeEldestEntry(Map.Entry<Key, Conversion> eldest) {
            return size() > MOST;
          }
        };

    /** As {@link ConversionPlanner#plan}. Two threads may compute the same plan. */
    Conversion plan(
        ErasureCode from,
        ErasureCode to,
        List<? extends Collection<Integer>> occupied,
        Set<BlockRef> dead,
        Set<BlockRef> unavailable) {
      List<Set<Integer>> data = new ArrayList<>();
      for (Collection<Integer> positions : occupied) {
        Set<Integer> ofStripe = new TreeSet<>();
        positions.stream().filter(p -> from.position(p).isData()).forEach(ofStripe::add);
        data.add(ofStripe);
      }
      Key key = new Key(from, to, data, Set.copyOf(dead), Set.copyOf(unavailable));
      synchronized (plans) {
        Conversion known = plans.get(key);
        if (known != null) {
          return known;
        }
      }
      Conversion planned = ConversionPlanner.plan(from, to, data, dead, unavailable);
      synchronized (plans) {
        plans.put(key, planned);
      }
      return planned;
    }
  }
}
