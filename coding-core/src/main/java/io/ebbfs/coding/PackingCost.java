package io.ebbfs.coding;

import java.util.Set;

/**
 * Why stripes store more than their code's overhead of their live bytes. With m blocks of data in a
 * stripe, under p parities, of a code with P parities over k data:
 *
 * <ul>
 *   <li>own = live * P / k: the parities of the live bytes in full stripes of equal blocks;
 *   <li>dead = tombstones, and P / k of their bytes: they keep their share of the parities;
 *   <li>unfilled = (live + tombstones) * (p / m - P / k): fewer blocks share a parity;
 *   <li>padding = parities - (live + tombstones) * p / m: a parity is as long as the longest block
 *       that it covers. Negative if the longer blocks stand under fewer parities than the shorter.
 * </ul>
 *
 * <p>The sum of all four is exactly what the stripe stores beside its live bytes: each stripe is
 * rounded to whole bytes so that it holds. Costs of many stripes add up. All in bytes. Immutable.
 */
public record PackingCost(
    long liveBytes, long ownBytes, long paddingBytes, long unfilledBytes, long deadBytes) {
  public static final PackingCost NONE = new PackingCost(0, 0, 0, 0, 0);

  /**
   * Of one stripe.
   *
   * @param dataPositions that hold a block, tombstones included
   * @param tombstoneBytes of deleted blocks that parities still cover
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

  public PackingCost plus(PackingCost other) {
    return new PackingCost(
        liveBytes + other.liveBytes,
        ownBytes + other.ownBytes,
        paddingBytes + other.paddingBytes,
        unfilledBytes + other.unfilledBytes,
        deadBytes + other.deadBytes);
  }

  /** What the stripes store beyond their live bytes and the code's own parities for them. */
  public long moreBytes() {
    return paddingBytes + unfilledBytes + deadBytes;
  }

  /** Live bytes, tombstones and parities. */
  public long storedBytes() {
    return liveBytes + ownBytes + moreBytes();
  }

  /** Such bytes per live byte: what they add to the overhead; 0 without live bytes. */
  public double perLiveByte(long bytes) {
    return liveBytes == 0 ? 0 : (double) bytes / liveBytes;
  }
}
