package io.ebbfs.namenode.placement;

import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleSupplier;

/**
 * Chooses the servers for the replicas of a new block. Two servers are drawn, each with a
 * probability that follows its free space, and the less loaded of the two is taken. As in HDFS, the
 * second replica is on another rack than the first, the third on the rack of the second, and
 * further replicas are anywhere.
 *
 * <p>Because servers are drawn, consecutive blocks get different combinations of servers. So the
 * blocks can form a stripe later in which each keeps one replica on a disk of its own. Pure: the
 * random numbers are handed in.
 */
public final class ReplicaServerChooser {
  private ReplicaServerChooser() {}

  /**
   * A server that could take a replica.
   *
   * @param freeBytes on its disks in service
   * @param load its work in relation to its free space; lower is better
   */
  public record Candidate(String serverUuid, String rack, double freeBytes, double load) {}

  /**
   * The next server of a pipeline.
   *
   * @param candidates the servers that may be taken; not empty
   * @param racksSoFar the racks of the replicas chosen so far, in their order
   * @param random numbers from 0 to below 1
   */
  public static Candidate next(
      List<Candidate> candidates, List<String> racksSoFar, DoubleSupplier random) {
    List<Candidate> suitable = suitable(candidates, racksSoFar);
    List<Candidate> from = suitable.isEmpty() ? candidates : suitable;
    Candidate one = draw(from, random);
    Candidate other = draw(from, random);
    return one.load() <= other.load() ? one : other;
  }

  private static List<Candidate> suitable(List<Candidate> candidates, List<String> racks) {
    long distinct = racks.stream().distinct().count();
    List<Candidate> suitable = new ArrayList<>();
    for (Candidate candidate : candidates) {
      boolean suits = true;
      if (distinct == 1) {
        suits = !racks.contains(candidate.rack());
      } else if (racks.size() == 2) {
        suits = racks.get(1).equals(candidate.rack());
      }
      if (suits) {
        suitable.add(candidate);
      }
    }
    return suitable;
  }

  private static Candidate draw(List<Candidate> candidates, DoubleSupplier random) {
    double total = 0;
    for (Candidate candidate : candidates) {
      total += Math.max(1, candidate.freeBytes());
    }
    double at = random.getAsDouble() * total;
    for (Candidate candidate : candidates) {
      at -= Math.max(1, candidate.freeBytes());
      if (at < 0) {
        return candidate;
      }
    }
    return candidates.get(candidates.size() - 1);
  }
}
