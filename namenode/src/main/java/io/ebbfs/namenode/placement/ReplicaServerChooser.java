package io.ebbfs.namenode.placement;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.DoubleSupplier;
import java.util.function.IntPredicate;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;

/**
 * Chooses the servers for the replicas of a new block. Two servers are drawn, each with a
 * probability that follows its free space, and the less loaded of the two is taken. As in HDFS, the
 * second replica is on another rack than the first, the third on the rack of the second, and
 * further replicas are anywhere.
 *
 * <p>Because servers are drawn, consecutive blocks get different combinations of servers. So the
 * blocks can form a stripe later in which each keeps one replica on a disk of its own.
 *
 * <p>A choice looks at the servers that are drawn, not at all servers, which the constructor has
 * looked at: a server that does not fit is drawn again, which gives each server that fits the same
 * chance as a draw among these alone. Only if draws fail again and again are all servers looked at.
 * Immutable; the random numbers are handed in.
 */
public final class ReplicaServerChooser {
  /** Draws until all servers are looked at. If half of the servers fit, one of a million fails. */
  private static final int DRAWS = 20;

  private static final int NONE = -1;

  /**
   * A server that replicas may be put on.
   *
   * @param freeBytes on its disks in service
   */
  public record Candidate(String rack, double freeBytes) {}

  /** Servers to draw from. */
  private static final class Pool {
    private final int[] servers;
    // For each server the free bytes of the servers up to it.
    private final double[] freeUpTo;

    private Pool(int[] servers, List<Candidate> all) {
      this.servers = servers;
      this.freeUpTo = new double[servers.length];
      double sum = 0;
      for (int i = 0; i < servers.length; i++) {
        sum += Math.max(1, all.get(servers[i]).freeBytes());
        freeUpTo[i] = sum;
      }
    }

    private int draw(DoubleSupplier random) {
      double at = random.getAsDouble() * freeUpTo[freeUpTo.length - 1];
      int found = Arrays.binarySearch(freeUpTo, at);
      // A number that is equal to a sum belongs to the next server.
      return servers[Math.min(servers.length - 1, found >= 0 ? found + 1 : -found - 1)];
    }
  }

  private final List<Candidate> servers;
  private final Pool all;
  private final Map<String, Pool> byRack = new HashMap<>();

  /**
   * A chooser among these servers, which are named by their places in the list.
   *
   * @param servers may be empty
   */
  public ReplicaServerChooser(List<Candidate> servers) {
    this.servers = List.copyOf(servers);
    this.all = pool(IntStream.range(0, servers.size()));
    Map<String, List<Integer>> ofRacks = new HashMap<>();
    for (int i = 0; i < servers.size(); i++) {
      ofRacks.computeIfAbsent(servers.get(i).rack(), rack -> new ArrayList<>()).add(i);
    }
    ofRacks.forEach((rack, of) -> byRack.put(rack, pool(of.stream().mapToInt(Integer::intValue))));
  }

  private Pool pool(IntStream of) {
    return new Pool(of.toArray(), servers);
  }

  /**
   * The next server of a pipeline; empty if no server fits.
   *
   * @param racksSoFar the racks of the replicas chosen so far, in their order
   * @param fits whether a server may be taken
   * @param load the work of a server in relation to its free space; lower is better
   * @param random numbers from 0 to below 1
   */
  public OptionalInt next(
      List<String> racksSoFar, IntPredicate fits, IntToDoubleFunction load, DoubleSupplier random) {
    Pool pool = all;
    IntPredicate suits = fits;
    long distinct = racksSoFar.stream().distinct().count();
    if (distinct == 1) {
      String rack = racksSoFar.get(0);
      pool = byRack.containsKey(rack) && byRack.size() == 1 ? null : all;
      suits = server -> !servers.get(server).rack().equals(rack) && fits.test(server);
    } else if (racksSoFar.size() == 2) {
      pool = byRack.get(racksSoFar.get(1));
    }
    int one = draw(pool, suits, random);
    if (one == NONE) {
      pool = all;
      suits = fits;
      one = draw(pool, suits, random);
    }
    if (one == NONE) {
      return OptionalInt.empty();
    }
    int other = draw(pool, suits, random);
    boolean isOneBetter =
        other == NONE // which fits no more
            || one == other
            || load.applyAsDouble(one) <= load.applyAsDouble(other);
    return OptionalInt.of(isOneBetter ? one : other);
  }

  private int draw(Pool pool, IntPredicate suits, DoubleSupplier random) {
    if (pool == null || pool.servers.length == 0) {
      return NONE;
    }
    for (int i = 0; i < DRAWS; i++) {
      int server = pool.draw(random);
      if (suits.test(server)) {
        return server;
      }
    }
    Pool suitable = pool(Arrays.stream(pool.servers).filter(suits));
    return suitable.servers.length == 0 ? NONE : suitable.draw(random);
  }
}
