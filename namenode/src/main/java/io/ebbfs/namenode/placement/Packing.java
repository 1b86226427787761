package io.ebbfs.namenode.placement;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.packing.PackedStripe;
import io.ebbfs.coding.packing.StripePacker;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedList;
import java.util.List;
import java.util.ListIterator;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Packs blocks into groups of stripes. The lengths decide which stripe a block joins ({@link
 * StripePacker}), so that whoever proposes an encoding can forecast its size. Among blocks of one
 * length, Packing prefers blocks with replicas on disks of their own, because placement need not
 * copy them, and keeps the blocks of a file side by side. Pure.
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
   * @param mergesInto the compact code of the stripe that a group of stripes may become later;
   *     empty if the stripes keep their code, and then each stripe is a group of its own
   * @param maxOverhead a stripe that would store more than so many blocks for each data block is
   *     not made, and its blocks are left out. Three replicas store three
   */
  public static Packed pack(
      ErasureCode code,
      Optional<ErasureCode> mergesInto,
      List<StripeBlock> blocks,
      double maxOverhead) {
    int stripesPerGroup =
        mergesInto.map(compact -> compact.dataCount() / code.dataCount()).orElse(1);
    List<StripeBlock> ordered = ordered(blocks, stripesPerGroup * code.dataCount());
    List<PackedStripe> packed =
        StripePacker.pack(code, ordered.stream().map(StripeBlock::lengthBytes).toList());
    List<StripeGroup> groups = new ArrayList<>();
    List<StripeBlock> leftOut = new ArrayList<>();
    Iterator<StripeBlock> next = ordered.iterator();
    for (int first = 0; first < packed.size(); first += stripesPerGroup) {
      List<SortedMap<Integer, StripeBlock>> stripes = new ArrayList<>();
      for (PackedStripe stripe :
          packed.subList(first, Math.min(packed.size(), first + stripesPerGroup))) {
        SortedMap<Integer, StripeBlock> members = new TreeMap<>();
        stripe.lengths().keySet().forEach(position -> members.put(position, next.next()));
        if (stripe.storesAtMost(maxOverhead)) {
          stripes.add(members);
        } else {
          leftOut.addAll(members.values());
        }
      }
      if (!stripes.isEmpty()) {
        groups.add(new StripeGroup(code, List.copyOf(stripes), mergesInto));
      }
    }
    return new Packed(List.copyOf(groups), List.copyOf(leftOut), report(groups));
  }

  /**
   * All blocks, the longest first. Among blocks of one length, the blocks of each group are chosen
   * so that as many as possible have a replica on a disk of their own.
   */
  private static List<StripeBlock> ordered(List<StripeBlock> blocks, int groupBlocks) {
    LinkedList<StripeBlock> queue = new LinkedList<>(blocks);
    queue.sort(LONGEST_FIRST);
    List<StripeBlock> ordered = new ArrayList<>();
    while (!queue.isEmpty()) {
      ordered.addAll(take(queue, groupBlocks));
    }
    return ordered;
  }

  /** Takes up to so many blocks from the front, or later blocks of the same length. */
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
        parity += lengths(code, stripe).parityBytes();
      }
    }
    return new Report(data, parity, Math.round(ideal), empty);
  }

  private static PackedStripe lengths(ErasureCode code, SortedMap<Integer, StripeBlock> stripe) {
    SortedMap<Integer, Long> lengths = new TreeMap<>();
    stripe.forEach((position, block) -> lengths.put(position, block.lengthBytes()));
    return new PackedStripe(code, lengths);
  }
}
