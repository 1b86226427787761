package io.ebbfs.verify.placement;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.tolerance.MinimumServers;
import io.ebbfs.namenode.placement.Placement;
import io.ebbfs.namenode.placement.PlacementDisk;
import io.ebbfs.namenode.placement.PlacementRefusal;
import io.ebbfs.namenode.placement.PlacementResult;
import io.ebbfs.namenode.placement.ReplicaServerChooser;
import io.ebbfs.namenode.placement.ReplicaServerChooser.Candidate;
import io.ebbfs.namenode.placement.StripeBlock;
import io.ebbfs.namenode.placement.StripeGroup;
import io.ebbfs.namenode.placement.search.AnyTwoServers;
import io.ebbfs.namenode.placement.search.StripePlacer;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * Fills a cluster of servers of uneven size with full stripes. The namenode's own classes choose
 * the disks of replicas and of stripes. There are no bytes and no network. Equal seeds give equal
 * results, except for the times.
 */
final class PlacementSimulation {
  private static final int FEWEST_DISKS = 8;
  private static final int MOST_DISKS = 12;
  private static final long BLOCK = 1 << 20;
  private static final int REPLICAS = 3;

  /**
   * The figures of a filled cluster.
   *
   * @param groups the number of placed groups
   * @param groupsLostWithServer groups with a stripe that does not survive the loss of some server
   * @param groupsLostWithRack groups with a stripe that does not survive the loss of some rack
   * @param fatalPairs pairs of servers whose loss some stripe does not survive, over all groups
   * @param fatalPairsMerged the same for the compact stripes that groups will merge into
   * @param moves blocks that were copied at encoding
   * @param fullest utilisation of the fullest disk, as a multiple of the mean
   * @param forced the lower bound of {@code fullest}, by {@link BalanceLowerBound}
   * @param missing the servers or racks that the cluster would need to survive all; empty if none
   * @param slowestMillis the longest processor time of the placement of a group, without the first
   *     20
   */
  record Result(
      String code,
      int servers,
      int racks,
      int disks,
      int groups,
      int groupsLostWithServer,
      int groupsLostWithRack,
      int fatalPairs,
      int fatalPairsMerged,
      int dataBlocks,
      int moves,
      double fullest,
      double forced,
      double meanMillis,
      double slowestMillis,
      String missing) {
    /**
     * Whether the fullest disk is at most 10% above the mean or, if the lower bound is higher, at
     * most 2% above the bound.
     */
    boolean isBalanced() {
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
   * @param racks the number of racks; the servers join them in turn
   * @param diskBlocks capacity of each disk, in blocks
   * @param fill share of the capacity that is used at the end
   */
  static Result run(
      ErasureCode code, int servers, int racks, int diskBlocks, double fill, long seed) {
    return new PlacementSimulation(code, servers, racks, diskBlocks, new Random(seed)).run(fill);
  }

  private Result run(double fill) {
    int capacity = used.size() * diskBlocks;
    int stored = 0;
    int groups = 0;
    int groupsLostWithServer = 0;
    int groupsLostWithRack = 0;
    int fatalPairs = 0;
    int fatalPairsMerged = 0;
    int dataBlocks = 0;
    int moves = 0;
    double millis = 0;
    double slowest = 0;
    while (stored < fill * capacity) {
      StripeGroup group = writeGroup();
      List<PlacementDisk> disks = disks();
      long start = cpuNanos();
      PlacementResult result = StripePlacer.place(group, disks, random.nextLong());
      double took = (cpuNanos() - start) / 1e6;
      if (result instanceof PlacementRefusal refusal) {
        throw new IllegalStateException(refusal.reason());
      }
      Placement placement = (Placement) result;
      group.stripes().forEach(stripe -> stripe.values().forEach(b -> change(b.replicas(), -1)));
      for (SortedMap<Integer, PlacementDisk> stripe : placement.disks()) {
        stripe.values().forEach(disk -> change(List.of(disk.storageUuid()), 1));
        stored += stripe.size();
      }
      groups++;
      millis += took;
      slowest = groups > 20 ? Math.max(slowest, took) : 0;
      groupsLostWithServer += placement.survivesAnyServer() ? 0 : 1;
      groupsLostWithRack += placement.fatalRacks().isEmpty() ? 0 : 1;
      fatalPairs += placement.fatalServerPairs();
      fatalPairsMerged += placement.fatalPairsWhenMerged();
      dataBlocks += group.stripes().stream().mapToInt(SortedMap::size).sum();
      moves += placement.moves().size();
    }
    return new Result(
        code.name(),
        disksOf.size(),
        racks,
        used.size(),
        groups,
        groupsLostWithServer,
        groupsLostWithRack,
        fatalPairs,
        fatalPairsMerged,
        dataBlocks,
        moves,
        fullest(stored),
        forced(),
        millis / groups,
        slowest,
        missing(groupsLostWithRack, fatalPairs, fatalPairsMerged));
  }

  private String missing(int groupsLostWithRack, int fatalPairs, int fatalPairsMerged) {
    List<String> missing = new ArrayList<>();
    Optional<ErasureCode> merged = PlacementTable.mergesInto(code);
    if (fatalPairs > 0) {
      missing.add("pairs: " + needed(code));
    }
    if (fatalPairsMerged > 0) {
      missing.add("merged: " + needed(merged.orElseThrow()));
    }
    if (groupsLostWithRack > 0) {
      int own = MinimumServers.of(code);
      int most = Math.max(own, merged.map(MinimumServers::of).orElse(0));
      missing.add("rack: %d racks needed".formatted(most));
    }
    return String.join("; ", missing);
  }

  private static String needed(ErasureCode code) {
    OptionalInt servers = AnyTwoServers.needed(code);
    return servers.isPresent()
        ? "%d servers needed".formatted(servers.getAsInt())
        : code + " has too few parities";
  }

  /** The processor time of this thread, which does not count other work on the machine. */
  private static long cpuNanos() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  /** Writes the blocks of a group. They are still replicated. */
  private StripeGroup writeGroup() {
    List<SortedMap<Integer, StripeBlock>> stripes = new ArrayList<>();
    for (int s = 0; s < CodeRegistry.builtIn().stripesPerGroup(code); s++) {
      SortedMap<Integer, StripeBlock> stripe = new TreeMap<>();
      for (int d = 0; d < code.dataCount(); d++) {
        long id = nextBlock++;
        List<String> replicas = replicas();
        change(replicas, 1);
        stripe.put(d, new StripeBlock(id, BLOCK, id, 0, replicas));
      }
      stripes.add(stripe);
    }
    return new StripeGroup(code, stripes, PlacementTable.mergesInto(code));
  }

  private List<String> replicas() {
    List<String> replicas = new ArrayList<>();
    List<String> racksSoFar = new ArrayList<>();
    List<Candidate> candidates = new ArrayList<>();
    double[] loads = new double[disksOf.size()];
    for (int s = 0; s < disksOf.size(); s++) {
      double free = 0;
      for (String disk : disksOf.get(s)) {
        free += diskBlocks - used.get(disk);
      }
      double capacity = (double) disksOf.get(s).size() * diskBlocks;
      candidates.add(new Candidate(rack(s), free));
      loads[s] = 1 / Math.max(0.01, free / capacity);
    }
    ReplicaServerChooser chooser = new ReplicaServerChooser(candidates);
    Set<Integer> taken = new HashSet<>();
    while (replicas.size() < REPLICAS) {
      int chosen =
          chooser
              .next(racksSoFar, s -> !taken.contains(s), s -> loads[s], random::nextDouble)
              .orElseThrow();
      taken.add(chosen);
      racksSoFar.add(rack(chosen));
      List<String> disks = new ArrayList<>(disksOf.get(chosen));
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

  private List<PlacementDisk> disks() {
    List<PlacementDisk> disks = new ArrayList<>();
    for (List<String> ofServer : disksOf) {
      for (String disk : ofServer) {
        int server = serverOf.get(disk);
        long free = (diskBlocks - used.get(disk)) * BLOCK;
        disks.add(new PlacementDisk(disk, "" + server, rack(server), diskBlocks * BLOCK, free, 0));
      }
    }
    return disks;
  }

  /** The utilisation of the fullest disk by that of the mean. All disks have one capacity. */
  private double fullest(int stored) {
    int most = used.values().stream().mapToInt(Integer::intValue).max().orElse(0);
    return most / ((double) stored / used.size());
  }

  private double forced() {
    int[] disks = disksOf.stream().mapToInt(List::size).toArray();
    int[] rackOf = IntStream.range(0, disks.length).map(s -> s % racks).toArray();
    return BalanceLowerBound.of(code, PlacementTable.mergesInto(code), disks, rackOf);
  }
}
