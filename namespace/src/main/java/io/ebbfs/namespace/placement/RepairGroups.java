package io.ebbfs.namespace.placement;

import io.ebbfs.coding.ErasureCode;
import io.ebbfs.coding.Planner;
import io.ebbfs.coding.ReadCost;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Which blocks of a stripe are read to rebuild one at the least cost, for codes that need fewer
 * than all data for that. If one of them is lost along with it, many more must be read, so they
 * should not be on one server. Thread-safe.
 */
final class RepairGroups {
  private static final PerCode<RepairGroups> KNOWN = new PerCode<>(RepairGroups::new);

  // Of each position, the others as bits.
  private final long[] others;

  private RepairGroups(ErasureCode code) {
    others = new long[code.size()];
    Set<Integer> all = IntStream.range(0, code.size()).boxed().collect(Collectors.toSet());
    for (int position = 0; position < others.length && code.size() < Long.SIZE; position++) {
      var plan = Planner.readPlan(code, all, Set.of(), position, ReadCost.UNIFORM);
      if (plan.reads() < code.dataCount()) {
        for (int input : plan.inputPositions()) {
          others[position] |= 1L << input;
        }
      }
    }
  }

  static RepairGroups of(ErasureCode code) {
    return KNOWN.of(code);
  }

  /** How many of a set of positions, given as bits, are read to rebuild this one. */
  int among(long positions, int position) {
    return Long.bitCount(positions & others[position]);
  }
}
