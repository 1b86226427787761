package io.ebbfs.namespace.placement;

import io.ebbfs.coding.CodeFamily;
import io.ebbfs.coding.Codes;
import io.ebbfs.coding.ErasureCode;
import io.ebbfs.coding.Shape;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.ListIterator;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Makes stripes of blocks: the longest together, so that parities cover little padding; within that
 * the blocks of a file side by side; as few stripes as possible. Of blocks of one length those are
 * taken first whose replicas are on disks of their own, so that placement need not copy. Where
 * replicas are makes no difference to the lengths in a stripe: whoever proposes stripes reckons
 * with them. Pure.
 */
public final class Packing {
  private static final int LOOK_AHEAD = 64;

  /** Of blocks of one length those of a file together and in order. */
  private static final Comparator<StripeBlock> LONGEST_FIRST =
      Comparator.comparingLong(StripeBlock::lengthBytes)
          .reversed()
          .thenComparingLong(StripeBlock::fileId)
          .thenComparingLong(StripeBlock::index)
          .thenComparingLong(StripeBlock::blockId);

  private Packing() {}

  /**
   * What packing costs.
   *
   * @param dataBytes of the packed blocks
   * @param parityBytes that will be written
   * @param idealParityBytes the same if all stripes were full and all their blocks as long as the
   *     average; the rest is the price of padding and of positions without a block
   * @param emptyPositions data positions without a block
   */
  public record Report(
      long dataBytes, long parityBytes, long idealParityBytes, int emptyPositions) {}

  /**
   * The outcome.
   *
   * @param groups of stripes that belong together, each with at least one block
   * @param leftOut blocks that would cost more in a stripe than they are worth
   */
  public record Packed(List<StripeGroup> groups, List<StripeBlock> leftOut, Report report) {}

  /**
   * Packs all blocks.
   *
   * @param maxOverhead a group that would store more than this many bytes per byte of data (with
   *     blocks of equal length) is not made; its blocks are left out. Three or more replicas cost 3
   */
  public static Packed pack(ErasureCode code, List<StripeBlock> blocks, double maxOverhead) {
    return pack(code, blocks, maxOverhead, false);
  }

  /**
   * Packs all blocks.
   *
   * @param single whether the stripes will keep their code: then each is a group of its own
   */
  public static Packed pack(
      ErasureCode code, List<StripeBlock> blocks, double maxOverhead, boolean single) {
    int stripesPerGroup = single ? 1 : stripesPerGroup(code);
    LinkedList<StripeBlock> queue = new LinkedList<>(blocks);
    queue.sort(LONGEST_FIRST);
    List<StripeGroup> groups = new ArrayList<>();
    List<StripeBlock> leftOut = new ArrayList<>();
    while (!queue.isEmpty()) {
      List<StripeBlock> chosen = take(queue, stripesPerGroup * code.dataCount());
      StripeGroup group = arrange(code, chosen);
      dropTooCostly(group, maxOverhead, leftOut);
      if (!group.stripes().isEmpty()) {
        groups.add(new StripeGroup(code, List.copyOf(group.stripes()), !single));
      }
    }
    return new Packed(List.copyOf(groups), List.copyOf(leftOut), report(groups));
  }

  /** How many stripes of this code are placed as one: as many as merge into a compact one. */
  public static int stripesPerGroup(ErasureCode code) {
    return Codes.familyOf(code.name())
        .filter(family -> family.fast().equals(code.name()))
        .map(CodeFamily::groupSize)
        .orElse(1);
  }

  /**
   * Takes up to so many blocks from the front; a later one of the same length if its disks suit.
   */
  private static List<StripeBlock> take(LinkedList<StripeBlock> queue, int count) {
    List<StripeBlock> chosen = new ArrayList<>();
    Set<String> usedDisks = new HashSet<>();
    while (chosen.size() < count && !queue.isEmpty()) {
      chosen.add(takeOne(queue, usedDisks));
    }
    chosen.sort(LONGEST_FIRST);
    return chosen;
  }

  private static StripeBlock takeOne(LinkedList<StripeBlock> queue, Set<String> usedDisks) {
    ListIterator<StripeBlock> ahead = queue.listIterator();
    for (int looked = 0; looked < LOOK_AHEAD && ahead.hasNext(); looked++) {
      StripeBlock block = ahead.next();
      if (block.lengthBytes() < queue.getFirst().lengthBytes()) {
        break;
      }
      for (String replica : block.replicas()) {
        if (usedDisks.add(replica)) {
          ahead.remove();
          return block;
        }
      }
    }
    return queue.removeFirst();
  }

  /** Puts sorted blocks into stripes, in the way that needs the fewest parities. */
  private static StripeGroup arrange(ErasureCode code, List<StripeBlock> blocks) {
    List<SortedMap<Integer, StripeBlock>> stripes = new ArrayList<>();
    for (int first = 0; first < blocks.size(); first += code.dataCount()) {
      List<StripeBlock> part =
          blocks.subList(first, Math.min(blocks.size(), first + code.dataCount()));
      SortedMap<Integer, StripeBlock> stripe = new TreeMap<>();
      List<Integer> positions = positionsFor(code, part.size());
      for (int i = 0; i < part.size(); i++) {
        stripe.put(positions.get(i), part.get(i));
      }
      stripes.add(stripe);
    }
    return new StripeGroup(code, stripes);
  }

  /** The data positions that so many blocks take. */
  static List<Integer> positionsFor(ErasureCode code, int blocks) {
    int width = code.shape() instanceof Shape.Product grid ? width(grid, blocks) : 0;
    List<Integer> positions = new ArrayList<>();
    for (int i = 0; i < blocks; i++) {
      boolean inGrid = code.shape() instanceof Shape.Product;
      positions.add(inGrid ? ((Shape.Product) code.shape()).data(i / width, i % width) : i);
    }
    return positions;
  }

  /** How many columns to use of a grid: rows and columns together as few as possible. */
  private static int width(Shape.Product grid, int blocks) {
    int best = grid.columns();
    for (int width = grid.columns(); width >= 1; width--) {
      int rows = (blocks + width - 1) / width;
      int bestRows = (blocks + best - 1) / best;
      if (rows <= grid.rows() && rows + width < bestRows + best) {
        best = width;
      }
    }
    return best;
  }

  private static void dropTooCostly(
      StripeGroup group, double maxOverhead, List<StripeBlock> leftOut) {
    group
        .stripes()
        .removeIf(
            stripe -> {
              int stored = group.code().occupied(stripe.keySet()).size();
              boolean tooCostly = stored > maxOverhead * stripe.size();
              if (tooCostly) {
                leftOut.addAll(stripe.values());
              }
              return tooCostly;
            });
  }

  private static Report report(List<StripeGroup> groups) {
    long data = 0;
    long parity = 0;
    double ideal = 0;
    int empty = 0;
    for (StripeGroup group : groups) {
      ErasureCode code = group.code();
      for (SortedMap<Integer, StripeBlock> stripe : group.stripes()) {
        long bytes = stripe.values().stream().mapToLong(StripeBlock::lengthBytes).sum();
        data += bytes;
        ideal += bytes * (code.overhead() - 1);
        empty += code.dataCount() - stripe.size();
        for (int p = code.dataCount(); p < code.size(); p++) {
          parity +=
              code.lengthBytes(p, d -> stripe.containsKey(d) ? stripe.get(d).lengthBytes() : 0);
        }
      }
    }
    return new Report(data, parity, Math.round(ideal), empty);
  }
}
