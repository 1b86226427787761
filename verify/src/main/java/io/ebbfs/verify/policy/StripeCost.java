package io.ebbfs.verify.policy;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.plan.CombinePlan;
import io.ebbfs.coding.plan.Planner;
import io.ebbfs.coding.plan.ReadCost;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * What a stripe costs that holds its first data blocks only, by the plans of {@link Planner}. Unit:
 * block moves, summed over the stripe. Immutable.
 *
 * @param parities blocks stored beside the data
 * @param encode moves that write the parities
 * @param repair moves that rebuild each block once, while all others are there
 * @param degraded blocks read for one read of each data block while it is absent
 */
record StripeCost(int parities, int encode, int repair, int degraded) {
  private record Key(String code, int blocks) {}

  private static final Map<Key, StripeCost> KNOWN = new ConcurrentHashMap<>();

  static StripeCost of(ErasureCode code, int blocks) {
    return KNOWN.computeIfAbsent(new Key(code.name(), blocks), key -> planned(code, blocks));
  }

  private static StripeCost planned(ErasureCode code, int blocks) {
    Set<Integer> data = firstData(blocks);
    Set<Integer> all = Set.copyOf(code.occupied(data));
    CombinePlan encode = Planner.encode(code, data);
    int repair =
        all.stream()
            .flatMap(
                lost ->
                    Planner.repair(code, all, Set.of(lost), Set.of(), ReadCost.UNIFORM).stream())
            .mapToInt(plan -> plan.reads() + plan.writes())
            .sum();
    int degraded =
        data.stream()
            .mapToInt(d -> Planner.readPlan(code, all, Set.of(d), d, ReadCost.UNIFORM).reads())
            .sum();
    return new StripeCost(all.size() - blocks, encode.reads() + encode.writes(), repair, degraded);
  }

  /** The first data positions of a code. */
  static Set<Integer> firstData(int blocks) {
    return IntStream.range(0, blocks).boxed().collect(Collectors.toUnmodifiableSet());
  }
}
