package io.ebbfs.coding.packing;

import io.ebbfs.coding.code.ErasureCode;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What it frees and moves to take deleted data out of stripes. A subtraction reads the dead blocks
 * and the parities that cover them, and writes these parities anew. A rewrite reads the live blocks
 * of several stripes, and writes the parities of the fewer stripes that they fill. Immutable.
 *
 * @param freedBytes stored bytes that are not stored afterwards; negative if more are stored
 * @param movedBytes bytes read and written
 */
public record Reclaim(long freedBytes, long movedBytes) {
  /**
   * The subtraction of dead blocks from a stripe. Sometimes the plan moves less, where it reads
   * live blocks instead.
   *
   * @param lengths bytes of the block at each data position that has one
   * @param dead some of these positions
   */
  public static Reclaim subtract(ErasureCode code, Map<Integer, Long> lengths, Set<Integer> dead) {
    long freed = 0;
    long moved = 0;
    for (int position : dead) {
      freed += lengths.get(position);
      moved += lengths.get(position);
    }
    for (int parity = code.dataCount(); parity < code.size(); parity++) {
      if (covers(code, parity, dead)) {
        long before = code.lengthBytes(parity, data -> lengths.getOrDefault(data, 0L));
        long after =
            code.lengthBytes(
                parity, data -> dead.contains(data) ? 0 : lengths.getOrDefault(data, 0L));
        freed += before - after;
        moved += after == 0 ? 0 : before + after;
      }
    }
    return new Reclaim(freed, moved);
  }

  private static boolean covers(ErasureCode code, int parity, Set<Integer> data) {
    return data.stream().anyMatch(position -> code.generator().get(parity, position) != 0);
  }

  /**
   * The rewrite of stripes together. The new stripes store at most what is forecast here.
   *
   * @param liveLengths bytes of the live blocks of all stripes, in any order
   * @param storedBytes of these stripes now
   */
  public static Reclaim rewrite(ErasureCode code, List<Long> liveLengths, long storedBytes) {
    List<PackedStripe> packed = StripePacker.pack(code, liveLengths);
    long live = sum(liveLengths);
    long parities = sum(StripePacker.mostParityBytes(packed));
    return new Reclaim(storedBytes - live - parities, live + parities);
  }

  /**
   * The share of one stripe in a rewrite of many stripes, which fill the new stripes.
   *
   * @param liveBlocks data blocks that are not dead
   */
  public static Reclaim rewriteAmongMany(
      ErasureCode code, int liveBlocks, long liveBytes, long deadBytes, long parityBytes) {
    long parities = Math.round((double) parityBytes * liveBlocks / code.dataCount());
    return new Reclaim(deadBytes + parityBytes - parities, liveBytes + parities);
  }

  private static long sum(Collection<Long> lengths) {
    return lengths.stream().mapToLong(Long::longValue).sum();
  }

  public Reclaim plus(Reclaim other) {
    return new Reclaim(freedBytes + other.freedBytes, movedBytes + other.movedBytes);
  }

  /** Bytes moved for each byte freed; infinite if nothing is freed. */
  public double price() {
    return freedBytes <= 0 ? Double.POSITIVE_INFINITY : (double) movedBytes / freedBytes;
  }
}
