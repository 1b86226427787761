package io.ebbfs.coding.plan;

import io.ebbfs.coding.code.ErasureCode;
import java.util.Collection;
import java.util.TreeSet;
import java.util.function.IntPredicate;

/**
 * Blocks of stripes as vectors over the data blocks that exist. The data of all stripes is numbered
 * in order: position {@code d} of stripe {@code s} has the number {@code s * dataCount + d}. A
 * conversion keeps this order, so the vectors of the stripes before and after it can be compared.
 * Immutable and thread safe.
 */
public final class DataVectors {
  private final int[] present;

  /** Vectors over the data blocks with these numbers. */
  public DataVectors(Collection<Integer> present) {
    this.present = new TreeSet<>(present).stream().mapToInt(Integer::intValue).toArray();
  }

  /** The coefficient of each data block, in the order of their numbers, in a block of a stripe. */
  public byte[] of(ErasureCode code, BlockRef block) {
    return of(code, block, number -> true);
  }

  /** The same for a block of a stripe in which only some data exists. */
  public byte[] of(ErasureCode code, BlockRef block, IntPredicate exists) {
    int k = code.dataCount();
    byte[] vector = new byte[present.length];
    for (int i = 0; i < present.length; i++) {
      if (present[i] / k == block.stripe() && exists.test(present[i])) {
        vector[i] = (byte) code.generator().get(block.position(), present[i] % k);
      }
    }
    return vector;
  }
}
