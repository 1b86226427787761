package io.ebbfs.coding.plan;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.gf.Gf256;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Plans the repair of lost blocks of one stripe, in the cheapest of three ways:
 *
 * <ul>
 *   <li>in turn: the cheapest block first; the next repair may read the blocks that are rebuilt;
 *   <li>apart: every block from the survivors alone;
 *   <li>together: all blocks in one combine.
 * </ul>
 *
 * <p>In the first two ways combines are joined where the joint combine reads less. Not thread-safe.
 */
final class RepairPlanner {
  private final ErasureCode code;
  private final Set<Integer> occupied;
  private final ReadCost cost;
  private final ExpressionFinder expressions;

  RepairPlanner(ErasureCode code, Set<Integer> occupied, ReadCost cost) {
    this.code = code;
    this.occupied = occupied;
    this.cost = cost;
    this.expressions = new ExpressionFinder(code, occupied, cost);
  }

  List<CombinePlan> plan(Set<Integer> lost, Set<Integer> unavailable) {
    Set<Integer> readable = new HashSet<>(occupied);
    readable.removeAll(lost);
    readable.removeAll(unavailable);
    List<Step> best = inTurn(lost, readable);
    if (lost.size() > 1 && expressions.isSmall()) {
      best = cheaper(best, together(lost, readable));
      best = cheaper(best, apart(lost, readable));
    }
    return best.stream().map(Step::toPlan).toList();
  }

  /** The steps that cost less; the first if both cost the same. */
  private static List<Step> cheaper(List<Step> one, Optional<List<Step>> other) {
    return other.isPresent() && cost(other.get()) < cost(one) ? other.get() : one;
  }

  private static long cost(List<Step> steps) {
    return steps.stream().mapToLong(Step::cost).sum();
  }

  private List<Step> inTurn(Set<Integer> lost, Set<Integer> survivors) {
    Set<Integer> readable = new HashSet<>(survivors);
    List<Step> steps = new ArrayList<>();
    Set<Integer> open = new TreeSet<>(lost);
    while (!open.isEmpty()) {
      Step next = cheapestOf(open, readable);
      steps.add(next);
      open.removeAll(next.outputs.keySet());
      readable.addAll(next.outputs.keySet());
    }
    join(steps);
    return steps;
  }

  private Optional<List<Step>> together(Set<Integer> lost, Set<Integer> readable) {
    return expressions
        .expressAll(lost, readable)
        .map(
            found -> {
              Step step = new Step();
              step.outputs.putAll(found);
              return List.of(step);
            });
  }

  private Optional<List<Step>> apart(Set<Integer> lost, Set<Integer> readable) {
    List<Step> steps = new ArrayList<>();
    for (int position : new TreeSet<>(lost)) {
      Optional<SortedMap<Integer, Integer>> found = expressions.cheapest(position, readable);
      if (found.isEmpty()) {
        return Optional.empty();
      }
      Step step = new Step();
      step.outputs.put(position, found.get());
      steps.add(step);
    }
    join(steps);
    return Optional.of(steps);
  }

  private Step cheapestOf(Set<Integer> open, Set<Integer> readable) {
    int cheapest = -1;
    SortedMap<Integer, Integer> best = null;
    for (int position : open) {
      Optional<SortedMap<Integer, Integer>> found = expressions.cheapest(position, readable);
      if (found.isPresent()
          && (best == null || expressions.costOf(found.get()) < expressions.costOf(best))) {
        cheapest = position;
        best = found.get();
      }
    }
    if (best == null) {
      throw new CannotPlanException(
          code.name()
              + ": positions "
              + open
              + " cannot be rebuilt from "
              + new TreeSet<>(readable)
              + "; bring a server with another block of the stripe back");
    }
    Step step = new Step();
    step.outputs.put(cheapest, best);
    return step;
  }

  /** Joins a later step with an earlier step wherever this lowers the cost of the reads. */
  private void join(List<Step> steps) {
    boolean joined = true;
    while (joined) {
      joined = false;
      for (int i = 0; i < steps.size() && !joined; i++) {
        for (int j = i + 1; j < steps.size() && !joined; j++) {
          joined = joinPair(steps, i, j);
        }
      }
    }
  }

  private boolean joinPair(List<Step> steps, int i, int j) {
    for (int between = i + 1; between < j; between++) {
      if (steps.get(j).readsAnyOf(steps.get(between).outputs.keySet())) {
        return false;
      }
    }
    Step both = steps.get(i).with(steps.get(j));
    if (both.cost() >= steps.get(i).cost() + steps.get(j).cost()) {
      return false;
    }
    steps.set(i, both);
    steps.remove(j);
    return true;
  }

  /** A combine that is not final yet: by output position, its coefficients by input position. */
  private final class Step {
    private final SortedMap<Integer, SortedMap<Integer, Integer>> outputs = new TreeMap<>();

    Set<Integer> inputs() {
      Set<Integer> inputs = new TreeSet<>();
      outputs.values().forEach(expression -> inputs.addAll(expression.keySet()));
      return inputs;
    }

    boolean readsAnyOf(Set<Integer> positions) {
      return inputs().stream().anyMatch(positions::contains);
    }

    long cost() {
      return inputs().stream().mapToLong(cost::of).sum();
    }

    /** Both steps in one. It reads this step's inputs where the later step reads its outputs. */
    Step with(Step later) {
      Step both = new Step();
      both.outputs.putAll(outputs);
      later.outputs.forEach(
          (position, expression) -> {
            SortedMap<Integer, Integer> composed = new TreeMap<>();
            expression.forEach((p, c) -> addScaled(composed, p, c));
            both.outputs.put(position, composed);
          });
      return both;
    }

    private void addScaled(SortedMap<Integer, Integer> target, int position, int factor) {
      if (!outputs.containsKey(position)) {
        ExpressionFinder.addTerm(target, position, factor);
        return;
      }
      outputs
          .get(position)
          .forEach((p, c) -> ExpressionFinder.addTerm(target, p, Gf256.multiply(c, factor)));
    }

    CombinePlan toPlan() {
      SortedMap<BlockRef, SortedMap<BlockRef, Integer>> refs = new TreeMap<>();
      outputs.forEach((position, expression) -> refs.put(ref(position), refs(expression)));
      CombinePlan plan = CombinePlan.of(refs);
      PlanVerifier.verify(code, occupied, plan);
      return plan;
    }
  }

  static BlockRef ref(int position) {
    return new BlockRef(0, position);
  }

  static SortedMap<BlockRef, Integer> refs(SortedMap<Integer, Integer> expression) {
    SortedMap<BlockRef, Integer> refs = new TreeMap<>();
    expression.forEach((position, coefficient) -> refs.put(ref(position), coefficient));
    return refs;
  }
}
