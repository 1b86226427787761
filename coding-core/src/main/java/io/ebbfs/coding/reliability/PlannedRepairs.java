package io.ebbfs.coding.reliability;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.plan.Planner;
import io.ebbfs.coding.plan.ReadCost;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Repairs by the plans of {@link Planner}: all lost blocks of a stripe together, at the bandwidth
 * of one server. Not thread-safe.
 */
final class PlannedRepairs implements RepairModel {
  private static final double SECONDS_PER_YEAR = 3600 * 24 * 365.0;

  private final ErasureCode code;
  private final SimulatedCluster cluster;
  private final Set<Integer> all = new TreeSet<>();
  // By lost positions: the blocks that their repair reads and writes.
  private final Map<Set<Integer>, Integer> moved = new HashMap<>();

  PlannedRepairs(ErasureCode code, SimulatedCluster cluster) {
    this.code = code;
    this.cluster = cluster;
    code.positions().forEach(position -> all.add(position.index()));
  }

  @Override
  public Repair next(SortedSet<Integer> lost, Random random) {
    Set<Integer> positions = Set.copyOf(lost);
    double bytes = moved.computeIfAbsent(positions, this::blocksMoved) * cluster.blockBytes();
    return new Repair(positions, bytes / cluster.repairBytesPerSecond() / SECONDS_PER_YEAR, bytes);
  }

  private int blocksMoved(Set<Integer> lost) {
    return Planner.repair(code, all, lost, Set.of(), ReadCost.UNIFORM).stream()
        .mapToInt(plan -> plan.reads() + plan.writes())
        .sum();
  }

  @Override
  public boolean restartsAfterLoss() {
    return false;
  }
}
