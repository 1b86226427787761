package io.ebbfs.verify.placement;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.packing.PackingCost;
import io.ebbfs.namenode.placement.Packing;
import io.ebbfs.namenode.placement.StripeBlock;
import io.ebbfs.namenode.placement.StripeGroup;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SortedMap;

/**
 * Packs a tree of small files by the namenode's own {@link Packing}. A file has 1, 2 or 3 blocks
 * with equal probability. All its blocks but the last are full. The length of the last is
 * log-normal with a median of a quarter of a block, and at most a block. Equal seeds give equal
 * results.
 */
final class PackingSimulation {
  private static final long BLOCK = 128L << 20;
  private static final double MEDIAN_TAIL = 0.25 * BLOCK;
  private static final double SPREAD = 1.0;
  private static final long SHORTEST = 1024;
  private static final int REPLICAS = 3;
  private static final int SERVERS = 24;
  private static final int DISKS = 10;

  /**
   * The figures of a packed tree. Overheads are bytes stored per byte of data.
   *
   * @param proposals the number of proposals in which the files came, all of the same size
   * @param unfilledPositions data positions of stripes without a block
   * @param leftOut blocks that stay replicated, since a stripe of them would store more
   * @param ofCode the overhead of full stripes of equal blocks
   * @param overhead of the tree, including the blocks left out
   * @param paddingBytes as {@link PackingCost} defines them
   * @param unfilledBytes as {@link PackingCost} defines them
   * @param leftOutBytes what the replicas of the blocks left out take beyond the bytes of stripes
   */
  record Result(
      String code,
      int files,
      int proposals,
      int blocks,
      long dataBytes,
      int unfilledPositions,
      int leftOut,
      double ofCode,
      double overhead,
      long paddingBytes,
      long unfilledBytes,
      long leftOutBytes) {}

  private PackingSimulation() {}

  /** Packs a tree that is proposed in a number of parts. */
  static Result run(ErasureCode code, int files, int proposals, long seed) {
    Random random = new Random(seed);
    List<List<StripeBlock>> parts = new ArrayList<>();
    for (int p = 0; p < proposals; p++) {
      parts.add(new ArrayList<>());
    }
    long block = 1;
    for (int file = 0; file < files; file++) {
      int count = 1 + random.nextInt(3);
      for (int index = 0; index < count; index++) {
        long length = index < count - 1 ? BLOCK : tail(random);
        parts
            .get((int) ((long) file * proposals / files))
            .add(new StripeBlock(block++, length, file, index, replicas(random)));
      }
    }
    long data = 0;
    long stored = 0;
    long padding = 0;
    long unfilled = 0;
    long leftOutBytes = 0;
    int leftOut = 0;
    int empty = 0;
    for (List<StripeBlock> part : parts) {
      Packing.Packed packed =
          Packing.pack(code, PlacementTable.mergesInto(code), part, REPLICAS - 1e-9);
      Packing.Report report = packed.report();
      long out = packed.leftOut().stream().mapToLong(StripeBlock::lengthBytes).sum();
      data += report.dataBytes() + out;
      stored += report.dataBytes() + report.parityBytes() + REPLICAS * out;
      PackingCost cost = cost(packed.groups());
      unfilled += cost.unfilledBytes();
      padding += cost.paddingBytes();
      leftOutBytes += Math.round((REPLICAS - code.overhead()) * out);
      leftOut += packed.leftOut().size();
      empty += report.emptyPositions();
    }
    return new Result(
        code.name(),
        files,
        proposals,
        (int) block - 1,
        data,
        empty,
        leftOut,
        code.overhead(),
        (double) stored / data,
        padding,
        unfilled,
        leftOutBytes);
  }

  private static long tail(Random random) {
    double length = MEDIAN_TAIL * Math.exp(SPREAD * random.nextGaussian());
    return Math.max(SHORTEST, Math.min(BLOCK, (long) length));
  }

  private static List<String> replicas(Random random) {
    List<String> replicas = new ArrayList<>();
    int first = random.nextInt(SERVERS);
    for (int r = 0; r < REPLICAS; r++) {
      int server = (first + r * (1 + random.nextInt(SERVERS / REPLICAS - 1))) % SERVERS;
      replicas.add(server + "-" + random.nextInt(DISKS));
    }
    return replicas;
  }

  private static PackingCost cost(List<StripeGroup> groups) {
    PackingCost sum = PackingCost.NONE;
    for (StripeGroup group : groups) {
      ErasureCode code = group.code();
      for (SortedMap<Integer, StripeBlock> stripe : group.stripes()) {
        long data = stripe.values().stream().mapToLong(StripeBlock::lengthBytes).sum();
        long parities = 0;
        for (int position = code.dataCount(); position < code.size(); position++) {
          parities +=
              code.lengthBytes(
                  position, d -> stripe.containsKey(d) ? stripe.get(d).lengthBytes() : 0);
        }
        sum = sum.plus(PackingCost.of(code, stripe.keySet(), data, 0, parities));
      }
    }
    return sum;
  }
}
