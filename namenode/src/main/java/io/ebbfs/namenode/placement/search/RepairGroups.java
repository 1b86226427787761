package io.ebbfs.namenode.placement.search;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.plan.Planner;
import io.ebbfs.coding.plan.ReadCost;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The repair group of each position: the blocks that the cheapest repair of its block reads. Only
 * repairs that read fewer blocks than the code has data blocks count. A block should not share a
 * server with its repair group: if both are lost, many more blocks must be read. Thread-safe.
 */
final class RepairGroups {
  private static final PerCodeCache<RepairGroups> KNOWN = new PerCodeCache<>(RepairGroups::new);

  // By position: the other blocks of its repair group as bits.
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

  /** How many of the positions in a set, given as bits, are in the repair group of a position. */
  int among(long positions, int position) {
    return Long.bitCount(positions & others[position]);
  }
}
