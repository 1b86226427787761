package io.ebbfs.workloads.experiment;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.plan.Planner;
import io.ebbfs.coding.plan.ReadCost;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The theoretical cost of a read of an encoded block whose server is dead.
 *
 * @param blocks bytes that are read per byte of the block
 * @param overLinks the least of these bytes that cross a link: the server that decodes may be the
 *     one that holds most of them
 */
record DegradedRead(double blocks, double overLinks) {
  // The number of blocks decides first, the place decides between equal numbers.
  private static final int THERE = 999;
  private static final int ELSEWHERE = 1000;

  /**
   * The cost in one stripe.
   *
   * @param bytes the bytes that are read of each present block if it is a source, by position
   * @param servers the server of each block, by position
   * @param wanted the position of the block; other blocks of its server cannot be read either
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
