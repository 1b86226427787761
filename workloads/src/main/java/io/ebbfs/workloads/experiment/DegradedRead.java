package io.ebbfs.workloads.experiment;

import io.ebbfs.coding.ErasureCode;
import io.ebbfs.coding.Planner;
import io.ebbfs.coding.ReadCost;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What theory says of a read of a block in a stripe whose server is dead.
 *
 * @param blocks bytes that are read per byte of the block
 * @param overLinks those of them that cross a link at least: if the server that decodes is the one
 *     that holds most of them
 */
record DegradedRead(double blocks, double overLinks) {
  // The number of blocks decides; only between equal numbers does the place.
  private static final int THERE = 999;
  private static final int ELSEWHERE = 1000;

  /**
   * Of a stripe.
   *
   * @param bytes what is read of each block if it is a source, by position; all that there are
   * @param servers where they are, by position
   * @param wanted the position of the block; what else its server holds cannot be read either
   */
  static DegradedRead of(
      ErasureCode code, Map<Integer, Long> bytes, Map<Integer, Integer> servers, int wanted) {
    Integer dead = servers.get(wanted);
    Set<Integer> unavailable = new HashSet<>();
    servers.forEach(
        (position, server) -> {
          if (server.equals(dead)) {
            unavailable.add(position);
          }
        });
    double block = bytes.get(wanted);
    long all = 0;
    for (int source : sources(code, bytes.keySet(), unavailable, wanted, ReadCost.UNIFORM)) {
      all += bytes.get(source);
    }
    long least = all;
    for (int server : new HashSet<>(servers.values())) {
      ReadCost cost = position -> isOn(servers, position, server) ? THERE : ELSEWHERE;
      long over = 0;
      for (int source : sources(code, bytes.keySet(), unavailable, wanted, cost)) {
        over += isOn(servers, source, server) ? 0 : bytes.get(source);
      }
      least = Math.min(least, over);
    }
    return new DegradedRead(all / block, least / block);
  }

  private static boolean isOn(Map<Integer, Integer> servers, int position, int server) {
    return servers.getOrDefault(position, -1) == server;
  }

  private static List<Integer> sources(
      ErasureCode code, Set<Integer> present, Set<Integer> unavailable, int wanted, ReadCost cost) {
    return Planner.readPlan(code, present, unavailable, wanted, cost).inputPositions();
  }
}
