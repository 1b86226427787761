package io.ebbfs.coding.packing;

import io.ebbfs.coding.code.ErasureCode;
import java.util.ArrayList;
import java.util.List;

/**
 * Chooses how many stripes are rewritten together, so that their live blocks fill the new stripes.
 * Example: a stripe of PC(6x5) with 24 live blocks frees six blocks by itself; five such stripes
 * become four full stripes and free 42. Pure and thread safe.
 */
public final class RewriteBatch {
  /**
   * More blocks in one rewrite would make it long, and each deletion in one of its stripes begins
   * it anew.
   */
  private static final int MOST_BLOCKS = 128;

  /** The most stripes of one rewrite. */
  public static final int MOST_STRIPES = 16;

  /**
   * Stripes that are rewritten together or not at all.
   *
   * @param stripes how many they are
   * @param liveLengths bytes of their live blocks
   * @param storedBytes of them now
   */
  public record Part(int stripes, List<Long> liveLengths, long storedBytes) {}

  /**
   * @param parts how many of the parts, from the first
   */
  public record Choice(int parts, Reclaim reclaim) {}

  private RewriteBatch() {}

  /**
   * The number of first parts that free most for what they move, at least one. Of equal numbers the
   * largest: it leaves fewer stripes that are not full.
   *
   * @param parts in the order in which they should be rewritten, at least one
   */
  public static Choice best(ErasureCode code, List<Part> parts) {
    List<Long> lengths = new ArrayList<>();
    long stored = 0;
    int stripes = 0;
    Choice best = null;
    for (int count = 1; count <= parts.size(); count++) {
      Part part = parts.get(count - 1);
      lengths.addAll(part.liveLengths());
      stored += part.storedBytes();
      stripes += part.stripes();
      if (best != null && (stripes > MOST_STRIPES || lengths.size() > MOST_BLOCKS)) {
        break;
      }
      Reclaim reclaim = Reclaim.rewrite(code, lengths, stored);
      if (best == null || reclaim.price() <= best.reclaim().price()) {
        best = new Choice(count, reclaim);
      }
    }
    return best;
  }
}
