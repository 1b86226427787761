package io.ebbfs.manager.api;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.plan.CombinePlan;
import io.ebbfs.coding.plan.Planner;
import io.ebbfs.coding.plan.ReadCost;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Asks the planner how many blocks a degraded read of a data block reads. Thread-safe. */
final class DegradedReadCost {
  private final Map<String, Double> blocksByCode = new ConcurrentHashMap<>();

  /** The average over the data blocks of a full stripe that has lost no other block. */
  double blocks(ErasureCode code) {
    return blocksByCode.computeIfAbsent(code.name(), name -> average(code));
  }

  private static double average(ErasureCode code) {
    Set<Integer> all =
        IntStream.range(0, code.size()).boxed().collect(Collectors.toUnmodifiableSet());
    return IntStream.range(0, code.dataCount())
        .mapToObj(lost -> Planner.readPlan(code, all, Set.of(lost), lost, ReadCost.UNIFORM))
        .mapToInt(CombinePlan::reads)
        .average()
        .orElseThrow();
  }
}
