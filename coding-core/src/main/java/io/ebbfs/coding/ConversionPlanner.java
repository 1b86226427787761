package io.ebbfs.coding;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

/** Plans conversions between fast stripes and a compact one; see docs/codes.md for the tables. */
final class ConversionPlanner {
  private final Pairing pairing;
  // Positions that hold a block: by fast stripe, and in the compact one.
  private final List<Set<Integer>> fastOccupied = new ArrayList<>();
  private final Set<Integer> compactOccupied;
  private final Set<BlockRef> unavailable;
  private final SortedMap<BlockRef, SortedMap<BlockRef, Integer>> outputs = new TreeMap<>();
  private final Map<BlockRef, BlockRef> kept = new TreeMap<>();
  private final Set<BlockRef> inputs = new HashSet<>();

  /**
   * @param fastData present data positions by fast stripe; at most as many as make a compact stripe
   */
  private ConversionPlanner(
      Pairing pairing, List<Set<Integer>> fastData, Set<BlockRef> unavailable) {
    this.pairing = pairing;
    this.unavailable = unavailable;
    Set<Integer> compactData = new TreeSet<>();
    for (int s = 0; s < pairing.stripes(); s++) {
      Set<Integer> data = s < fastData.size() ? fastData.get(s) : Set.of();
      fastOccupied.add(pairing.fast().occupied(data));
      for (int d : data) {
        compactData.add(pairing.compactData(s, d));
      }
    }
    this.compactOccupied = pairing.compact().occupied(compactData);
    if (compactData.isEmpty()) {
      throw new CannotPlanException(
          pairing.fast() + " and " + pairing.compact() + ": no data to convert; drop the stripe");
    }
  }

  static Conversion upcode(
      ErasureCode fast,
      ErasureCode compact,
      List<? extends Collection<Integer>> occupied,
      Set<BlockRef> unavailable) {
    Pairing pairing = Pairing.of(fast, compact);
    if (occupied.size() > pairing.stripes()) {
      throw new CannotPlanException(
          occupied.size()
              + " stripes of "
              + fast
              + " do not fit into one of "
              + compact
              + "; give at most "
              + pairing.stripes());
    }
    List<Set<Integer>> data = new ArrayList<>();
    occupied.forEach(positions -> data.add(dataOf(fast, positions)));
    return new ConversionPlanner(pairing, data, unavailable).upcode();
  }

  static Conversion downcode(
      ErasureCode compact,
      ErasureCode fast,
      Collection<Integer> occupied,
      Set<BlockRef> unavailable) {
    Pairing pairing = Pairing.of(fast, compact);
    Map<Integer, BlockRef> inverse = pairing.inverse();
    List<Set<Integer>> data = new ArrayList<>();
    for (int s = 0; s < pairing.stripes(); s++) {
      data.add(new TreeSet<>());
    }
    for (int position : dataOf(compact, occupied)) {
      BlockRef ref = inverse.get(position);
      data.get(ref.stripe()).add(ref.position());
    }
    return new ConversionPlanner(pairing, data, unavailable).downcode();
  }

  private static Set<Integer> dataOf(ErasureCode code, Collection<Integer> positions) {
    Set<Integer> data = new TreeSet<>();
    positions.stream().filter(p -> code.position(p).isData()).forEach(data::add);
    return data;
  }

  // ---- fast to compact --------------------------------------------------------------------------

  private Conversion upcode() {
    pairing.same().forEach((ref, position) -> keep(isOccupied(ref), ref, compactRef(position)));
    pairing
        .sums()
        .forEach(
            (parent, children) -> {
              SortedMap<BlockRef, Integer> there = occupied(children);
              if (there.size() == 1 && there.get(there.firstKey()) == 1) {
                keep(true, there.firstKey(), compactRef(parent));
              } else if (!there.isEmpty()) {
                output(compactRef(parent), cheaper(there, sumOfFastColumnParities(parent)));
              }
            });
    return finish(
        pairing.fast(),
        pairing.compact(),
        pairing::overCompactData,
        ref -> pairing.compact().generator().row(ref.position()),
        allFast());
  }

  /** The global parity of a product code as the sum of all column parities; null for others. */
  private SortedMap<BlockRef, Integer> sumOfFastColumnParities(int parent) {
    if (!isProductGlobal(parent)) {
      return null;
    }
    SortedMap<BlockRef, Integer> sum = new TreeMap<>();
    for (int s = 0; s < pairing.stripes(); s++) {
      pairing.fastColumnParities(s).stream().filter(this::isOccupied).forEach(r -> sum.put(r, 1));
    }
    return sum;
  }

  // ---- compact to fast --------------------------------------------------------------------------

  private Conversion downcode() {
    pairing.same().forEach((ref, position) -> keep(isOccupied(ref), compactRef(position), ref));
    pairing.sums().forEach((parent, children) -> split(parent, occupied(children)));
    return finish(
        pairing.compact(),
        pairing.fast(),
        ref -> pairing.compact().generator().row(ref.position()),
        pairing::overCompactData,
        compactOccupied.stream().map(ConversionPlanner::compactRef).toList());
  }

  private void split(int parent, SortedMap<BlockRef, Integer> children) {
    if (children.size() == 1 && children.get(children.firstKey()) == 1) {
      keep(true, compactRef(parent), children.firstKey());
    } else if (isProductGlobal(parent)) {
      children.keySet().forEach(this::splitProductGlobal);
    } else {
      splitByData(parent, children);
    }
  }

  /** Each child from its data, but for the largest: that is what remains of the parent. */
  private void splitByData(int parent, SortedMap<BlockRef, Integer> children) {
    BlockRef largest = null;
    for (BlockRef child : children.keySet()) {
      if (largest == null || overData(child).size() >= overData(largest).size()) {
        largest = child;
      }
    }
    int parentsToRead = pairing.isProduct() || isLrc() ? 1 : pairing.sums().size();
    SortedMap<BlockRef, Integer> rest = new TreeMap<>();
    rest.put(compactRef(parent), 1);
    for (Map.Entry<BlockRef, Integer> child : children.entrySet()) {
      if (!child.getKey().equals(largest)) {
        SortedMap<BlockRef, Integer> expression = overData(child.getKey());
        addScaled(rest, expression, child.getValue());
        output(child.getKey(), expression);
      }
    }
    if (largest != null) {
      boolean subtract = overData(largest).size() > parentsToRead;
      output(
          largest,
          subtract ? scaled(rest, Gf256.inverse(children.get(largest))) : overData(largest));
    }
  }

  /** As the sum of the column parities of its stripe, or of the row parities, which stay. */
  private void splitProductGlobal(BlockRef global) {
    SortedMap<BlockRef, Integer> ofColumns = new TreeMap<>();
    for (BlockRef column : pairing.fastColumnParities(global.stripe())) {
      if (outputs.containsKey(column)) {
        addScaled(ofColumns, outputs.get(column), 1);
      } else if (isOccupied(column)) {
        Expressions.addTerm(ofColumns, keptAs(column), 1);
      }
    }
    SortedMap<BlockRef, Integer> ofRows = new TreeMap<>();
    Shape.Product shape = (Shape.Product) pairing.fast().shape();
    for (int r = 0; r < shape.rows(); r++) {
      BlockRef row = new BlockRef(global.stripe(), shape.rowParity(r));
      if (isOccupied(row)) {
        ofRows.put(compactRef(pairing.same().get(row)), 1);
      }
    }
    output(global, cheaper(ofColumns, ofRows));
  }

  private BlockRef keptAs(BlockRef after) {
    return kept.entrySet().stream()
        .filter(entry -> entry.getValue().equals(after))
        .map(Map.Entry::getKey)
        .findFirst()
        .orElseThrow();
  }

  private boolean isLrc() {
    return pairing.fast().shape() instanceof Shape.Lrc;
  }

  /** A block of a fast stripe as a combination of data blocks of the compact one. */
  private SortedMap<BlockRef, Integer> overData(BlockRef child) {
    SortedMap<BlockRef, Integer> expression = new TreeMap<>();
    for (int d = 0; d < pairing.fast().dataCount(); d++) {
      int coefficient = pairing.fast().generator().get(child.position(), d);
      if (coefficient != 0 && fastOccupied.get(child.stripe()).contains(d)) {
        expression.put(compactRef(pairing.compactData(child.stripe(), d)), coefficient);
      }
    }
    return expression;
  }

  // ---- common -----------------------------------------------------------------------------------

  private boolean isProductGlobal(int parent) {
    return pairing.compact().shape() instanceof Shape.Product shape && parent == shape.global();
  }

  private static BlockRef compactRef(int position) {
    return new BlockRef(0, position);
  }

  private boolean isOccupied(BlockRef fastRef) {
    return fastOccupied.get(fastRef.stripe()).contains(fastRef.position());
  }

  private SortedMap<BlockRef, Integer> occupied(SortedMap<BlockRef, Integer> fastTerms) {
    SortedMap<BlockRef, Integer> there = new TreeMap<>(fastTerms);
    there.keySet().removeIf(ref -> !isOccupied(ref));
    return there;
  }

  private List<BlockRef> allFast() {
    List<BlockRef> all = new ArrayList<>();
    for (int s = 0; s < fastOccupied.size(); s++) {
      for (int position : fastOccupied.get(s)) {
        all.add(new BlockRef(s, position));
      }
    }
    return all;
  }

  private void keep(boolean occupied, BlockRef before, BlockRef after) {
    if (occupied) {
      kept.put(before, after);
    }
  }

  private void output(BlockRef ref, SortedMap<BlockRef, Integer> expression) {
    outputs.put(ref, expression);
    inputs.addAll(expression.keySet());
  }

  /** The one that adds fewer inputs and needs nothing unavailable; the second may be null. */
  private SortedMap<BlockRef, Integer> cheaper(
      SortedMap<BlockRef, Integer> one, SortedMap<BlockRef, Integer> two) {
    return two != null && added(two) < added(one) ? two : one;
  }

  private long added(SortedMap<BlockRef, Integer> expression) {
    if (expression.keySet().stream().anyMatch(unavailable::contains)) {
      return Long.MAX_VALUE;
    }
    return expression.keySet().stream().filter(ref -> !inputs.contains(ref)).count();
  }

  private static void addScaled(
      SortedMap<BlockRef, Integer> target, SortedMap<BlockRef, Integer> terms, int factor) {
    terms.forEach((ref, c) -> Expressions.addTerm(target, ref, Gf256.multiply(c, factor)));
  }

  private static SortedMap<BlockRef, Integer> scaled(
      SortedMap<BlockRef, Integer> terms, int factor) {
    SortedMap<BlockRef, Integer> scaled = new TreeMap<>();
    addScaled(scaled, terms, factor);
    return scaled;
  }

  private Conversion finish(
      ErasureCode from,
      ErasureCode to,
      Function<BlockRef, byte[]> sourceVectors,
      Function<BlockRef, byte[]> resultVectors,
      Collection<BlockRef> sources) {
    for (BlockRef input : new TreeSet<>(inputs)) {
      if (unavailable.contains(input)) {
        throw new CannotPlanException(
            from
                + " to "
                + to
                + ": needs "
                + from.position(input.position()).name()
                + " (position "
                + input.position()
                + ") of stripe "
                + input.stripe()
                + ", which cannot be read; repair it first");
      }
    }
    Function<BlockRef, byte[]> before = projected(sourceVectors);
    Function<BlockRef, byte[]> after = projected(resultVectors);
    String what = from + " to " + to;
    List<CombinePlan> plans = outputs.isEmpty() ? List.of() : List.of(CombinePlan.of(outputs));
    plans.forEach(plan -> SymbolicCheck.verify(plan, what, before, after));
    List<Conversion.Kept> keptBlocks = new ArrayList<>();
    kept.forEach(
        (one, other) -> {
          byte[] same = {1};
          CombinePlan copy = new CombinePlan(List.of(one), List.of(other), same);
          SymbolicCheck.verify(copy, what + ", kept", before, after);
          keptBlocks.add(new Conversion.Kept(one, other));
        });
    Set<BlockRef> dropped = new TreeSet<>(sources);
    dropped.removeAll(kept.keySet());
    return new Conversion(
        from, to, plans, List.copyOf(keptBlocks), dropped, List.copyOf(outputs.keySet()));
  }

  private Function<BlockRef, byte[]> projected(Function<BlockRef, byte[]> vectors) {
    Map<BlockRef, byte[]> known = new HashMap<>();
    return ref ->
        known.computeIfAbsent(ref, r -> SymbolicCheck.project(vectors.apply(r), compactOccupied));
  }
}
