package io.ebbfs.namespace.prove;

import io.ebbfs.coding.ErasureCode;
import io.ebbfs.namespace.placement.Disk;
import io.ebbfs.namespace.placement.MinimumServers;
import io.ebbfs.namespace.placement.Packing;
import io.ebbfs.namespace.placement.Placement;
import io.ebbfs.namespace.placement.PlacementResult;
import io.ebbfs.namespace.placement.Refusal;
import io.ebbfs.namespace.placement.ReplicaChoice;
import io.ebbfs.namespace.placement.ReplicaChoice.Candidate;
import io.ebbfs.namespace.placement.StripeBlock;
import io.ebbfs.namespace.placement.StripeGroup;
import io.ebbfs.namespace.placement.StripePlacement;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * A cluster of servers of uneven size that is filled with full stripes: blocks get their replicas
 * and stripes their disks from the namenode's own choices; data drops to one replica. No data, no
 * network. Equal seeds give equal results, but for the times.
 */
public final class PlacementSimulation {
  private static final int FEWEST_DISKS = 8;
  private static final int MOST_DISKS = 12;
  private static final long BLOCK = 1 << 20;
  private static final int REPLICAS = 3;

  /**
   * What came of it.
   *
   * @param groups that were placed
   * @param weakServers stripes that some server's loss would destroy
   * @param weakRacks groups with a rack whose loss a stripe would not survive
   * @param weakPairs pairs of servers that a stripe does not survive, over all groups
   * @param weakPairsMerged the same of the stripes that groups will merge into
   * @param moves blocks that were copied at encoding
   * @param fullest utilisation of the fullest disk, as a multiple of the mean
   * @param forced the least that the tolerance leaves, by {@link ForcedBalance}
   * @param missing what the cluster would need for what it does not survive; empty if nothing
   * @param slowestMillis the longest processor time that the placement of a group took, the first
   *     ones left out
   */
  public record Result(
      String code,
      int servers,
      int racks,
      int disks,
      int groups,
      int weakServers,
      int weakRacks,
      int weakPairs,
      int weakPairsMerged,
      int dataBlocks,
      int moves,
      double fullest,
      double forced,
      double meanMillis,
      double slowestMillis,
      String missing) {
    /**
     * Whether the fullest disk is at most 10% above the mean or, where arithmetic forces more, 2%
     * above that.
     */
    public boolean isBalanced() {
      return fullest <= Math.max(1.1, forced * 1.02);
    }
  }

  private final ErasureCode code;
  private final int racks;
  private final Random random;
  private final List<List<String>> disksOf = new ArrayList<>();
  private final Map<String, Integer> serverOf = new HashMap<>();
  private final Map<String, Integer> used = new HashMap<>();
  private final int diskBlocks;
  private long nextBlock = 1;

  private PlacementSimulation(
      ErasureCode code, int servers, int racks, int diskBlocks, Random random) {
    this.code = code;
    this.racks = racks;
    this.random = random;
    this.diskBlocks = diskBlocks;
    for (int s = 0; s < servers; s++) {
      List<String> disks = new ArrayList<>();
      int count = FEWEST_DISKS + random.nextInt(MOST_DISKS - FEWEST_DISKS + 1);
      for (int d = 0; d < count; d++) {
        String disk = "disk-%02d-%02d".formatted(s, d);
        disks.add(disk);
        serverOf.put(disk, s);
        used.put(disk, 0);
      }
      disksOf.add(disks);
    }
  }

  /**
   * Fills a cluster.
   *
   * @param racks the servers are spread over them, one after the other
   * @param diskBlocks capacity of each disk
   * @param fill share of the cluster that is taken at the end
   */
  public static Result run(
      ErasureCode code, int servers, int racks, int diskBlocks, double fill, long seed) {
    return new PlacementSimulation(code, servers, racks, diskBlocks, new Random(seed)).run(fill);
  }

  private Result run(double fill) {
    int capacity = used.size() * diskBlocks;
    int stored = 0;
    int groups = 0;
    int weakServers = 0;
    int weakRacks = 0;
    int weakPairs = 0;
    int weakPairsMerged = 0;
    int dataBlocks = 0;
    int moves = 0;
    double millis = 0;
    double slowest = 0;
    while (stored < fill * capacity) {
      StripeGroup group = written();
      List<Disk> disks = disks();
      long start = cpuNanos();
      PlacementResult result = StripePlacement.place(group, disks, random.nextLong());
      double took = (cpuNanos() - start) / 1e6;
      if (result instanceof Refusal refusal) {
        throw new IllegalStateException(refusal.reason());
      }
      Placement placement = (Placement) result;
      group.stripes().forEach(stripe -> stripe.values().forEach(b -> change(b.replicas(), -1)));
      for (SortedMap<Integer, Disk> stripe : placement.disks()) {
        stripe.values().forEach(disk -> change(List.of(disk.storageUuid()), 1));
        stored += stripe.size();
      }
      groups++;
      millis += took;
      slowest = groups > 20 ? Math.max(slowest, took) : 0;
      weakServers += placement.survivesAnyServer() ? 0 : 1;
      weakRacks += placement.weakRacks().isEmpty() ? 0 : 1;
      weakPairs += placement.weakServerPairs();
      weakPairsMerged += placement.weakPairsWhenMerged();
      dataBlocks += group.stripes().stream().mapToInt(SortedMap::size).sum();
      moves += placement.moves().size();
    }
    return new Result(
        code.name(),
        disksOf.size(),
        racks,
        used.size(),
        groups,
        weakServers,
        weakRacks,
        weakPairs,
        weakPairsMerged,
        dataBlocks,
        moves,
        fullest(stored),
        forced(),
        millis / groups,
        slowest,
        missing(weakRacks, weakPairs, weakPairsMerged));
  }

  private String missing(int weakRacks, int weakPairs, int weakPairsMerged) {
    List<String> missing = new ArrayList<>();
    Optional<ErasureCode> merged = PlacementFigures.mergesInto(code);
    if (weakPairs > 0) {
      missing.add("pairs: " + needed(code));
    }
    if (weakPairsMerged > 0) {
      missing.add("merged: " + needed(merged.orElseThrow()));
    }
    if (weakRacks > 0) {
      int own = MinimumServers.of(code);
      int most = Math.max(own, merged.map(MinimumServers::of).orElse(0));
      missing.add("rack: %d racks needed".formatted(most));
    }
    return String.join("; ", missing);
  }

  private static String needed(ErasureCode code) {
    OptionalInt servers = MinimumServers.ofAnyTwo(code);
    return servers.isPresent()
        ? "%d servers needed".formatted(servers.getAsInt())
        : code + " has too few parities";
  }

  /** Of this thread, so that what else runs does not count. */
  private static long cpuNanos() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  /** A group whose blocks have just been written and are still replicated. */
  private StripeGroup written() {
    List<SortedMap<Integer, StripeBlock>> stripes = new ArrayList<>();
    for (int s = 0; s < Packing.stripesPerGroup(code); s++) {
      SortedMap<Integer, StripeBlock> stripe = new TreeMap<>();
      for (int d = 0; d < code.dataCount(); d++) {
        long id = nextBlock++;
        List<String> replicas = replicas();
        change(replicas, 1);
        stripe.put(d, new StripeBlock(id, BLOCK, id, 0, replicas));
      }
      stripes.add(stripe);
    }
    return new StripeGroup(code, stripes);
  }

  private List<String> replicas() {
    List<String> replicas = new ArrayList<>();
    List<String> racksSoFar = new ArrayList<>();
    List<Candidate> candidates = new ArrayList<>();
    for (int s = 0; s < disksOf.size(); s++) {
      double free = 0;
      for (String disk : disksOf.get(s)) {
        free += diskBlocks - used.get(disk);
      }
      double capacity = (double) disksOf.get(s).size() * diskBlocks;
      candidates.add(new Candidate("" + s, rack(s), free, 1 / Math.max(0.01, free / capacity)));
    }
    while (replicas.size() < REPLICAS) {
      Candidate chosen = ReplicaChoice.next(candidates, racksSoFar, random::nextDouble);
      candidates.remove(chosen);
      racksSoFar.add(chosen.rack());
      List<String> disks = new ArrayList<>(disksOf.get(Integer.parseInt(chosen.serverUuid())));
      java.util.Collections.shuffle(disks, random);
      disks.sort(java.util.Comparator.comparing(used::get));
      replicas.add(disks.get(0));
    }
    return replicas;
  }

  private String rack(int server) {
    return "/rack-" + server % racks;
  }

  private void change(List<String> disks, int blocks) {
    disks.forEach(disk -> used.merge(disk, blocks, Integer::sum));
  }

  private List<Disk> disks() {
    List<Disk> disks = new ArrayList<>();
    for (List<String> ofServer : disksOf) {
      for (String disk : ofServer) {
        int server = serverOf.get(disk);
        long free = (diskBlocks - used.get(disk)) * BLOCK;
        disks.add(new Disk(disk, "" + server, rack(server), diskBlocks * BLOCK, free, 0));
      }
    }
    return disks;
  }

  /** Utilisation is used by capacity; all disks have the same capacity here. */
  private double fullest(int stored) {
    int most = used.values().stream().mapToInt(Integer::intValue).max().orElse(0);
    return most / ((double) stored / used.size());
  }

  private double forced() {
    int[] disks = disksOf.stream().mapToInt(List::size).toArray();
    int[] rackOf = IntStream.range(0, disks.length).map(s -> s % racks).toArray();
    return ForcedBalance.of(code, PlacementFigures.mergesInto(code), disks, rackOf);
  }
}
