package io.ebbfs.coding.packing;

import io.ebbfs.coding.code.ErasureCode;
import java.util.Set;

/**
 * Why stripes store more bytes than live bytes times the overhead of their code. A stripe has m
 * data blocks and p parities, of a code with k data positions and P parities:
 *
 * <ul>
 *   <li>own = live * P / k: the parities of the live bytes in full stripes of equal blocks;
 *   <li>dead = tombstones, and P / k of their bytes: deleted blocks keep their share of the
 *       parities;
 *   <li>unfilled = (live + tombstones) * (p / m - P / k): fewer blocks share a parity;
 *   <li>padding = parities - (live + tombstones) * p / m: a parity is as long as the longest block
 *       that it covers. Padding is negative if long blocks have fewer parities than short blocks.
 * </ul>
 *
 * <p>The sum of these four is exactly the bytes that the stripe stores beside its live bytes; the
 * parts of each stripe are rounded to whole bytes in this way. Costs of stripes add up. All values
 * are bytes. Immutable.
 */
public record PackingCost(
    long liveBytes, long ownBytes, long paddingBytes, long unfilledBytes, long deadBytes) {
  public static final PackingCost NONE = new PackingCost(0, 0, 0, 0, 0);

  /**
   * The costs of one stripe.
   *
   * @param dataPositions the data positions that hold a block, tombstones included
   * @param tombstoneBytes of deleted blocks, which the parities still cover
   * @param parityBytes as stored
   * @throws IllegalArgumentException if the code has no such data position
   */
  public static PackingCost of(
      ErasureCode code,
      Set<Integer> dataPositions,
      long liveBytes,
      long tombstoneBytes,
      long parityBytes) {
    int blocks = dataPositions.size();
    int parities = code.occupied(dataPositions).size() - blocks;
    long data = liveBytes + tombstoneBytes;
    long ownOfData = share(data, code.parityCount(), code.dataCount());
    long own = share(liveBytes, code.parityCount(), code.dataCount());
    long ofEqualBlocks = blocks == 0 ? 0 : share(data, parities, blocks);
    return new PackingCost(
        liveBytes,
        own,
        parityBytes - ofEqualBlocks,
        ofEqualBlocks - ownOfData,
        tombstoneBytes + ownOfData - own);
  }

  private static long share(long bytes, int parities, int blocks) {
    return Math.round((double) bytes * parities / blocks);
  }

  /** All costs times a number; -1 takes the costs away from a sum. */
  public PackingCost times(long factor) {
    return new PackingCost(
        liveBytes * factor,
        ownBytes * factor,
        paddingBytes * factor,
        unfilledBytes * factor,
        deadBytes * factor);
  }

  public PackingCost plus(PackingCost other) {
    return new PackingCost(
        liveBytes + other.liveBytes,
        ownBytes + other.ownBytes,
        paddingBytes + other.paddingBytes,
        unfilledBytes + other.unfilledBytes,
        deadBytes + other.deadBytes);
  }

  /** The bytes that the stripes store beyond their live bytes and the own parities of these. */
  long moreBytes() {
    return paddingBytes + unfilledBytes + deadBytes;
  }

  /** Live bytes, tombstones and parities. */
  public long storedBytes() {
    return liveBytes + ownBytes + moreBytes();
  }

  /** These bytes per live byte, as a part of the overhead; 0 without live bytes. */
  public double perLiveByte(long bytes) {
    return liveBytes == 0 ? 0 : (double) bytes / liveBytes;
  }
}
