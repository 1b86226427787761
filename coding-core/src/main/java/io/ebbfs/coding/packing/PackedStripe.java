package io.ebbfs.coding.packing;

import io.ebbfs.coding.code.ErasureCode;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The lengths of the data blocks of one stripe. Immutable and thread safe.
 *
 * @param lengths bytes of the block at each data position that has one
 */
public record PackedStripe(ErasureCode code, SortedMap<Integer, Long> lengths) {
  public PackedStripe {
    lengths = Collections.unmodifiableSortedMap(new TreeMap<>(lengths));
  }

  public static PackedStripe of(ErasureCode code, Map<Integer, Long> lengths) {
    return new PackedStripe(code, new TreeMap<>(lengths));
  }

  /** How many data positions have a block. */
  public int blocks() {
    return lengths.size();
  }

  public long dataBytes() {
    return lengths.values().stream().mapToLong(Long::longValue).sum();
  }

  /**
   * Bytes of all parities. A parity is as long as the longest block that it covers; a parity that
   * covers no block is not stored.
   */
  public long parityBytes() {
    long bytes = 0;
    for (int position = code.dataCount(); position < code.size(); position++) {
      bytes += code.lengthBytes(position, data -> lengths.getOrDefault(data, 0L));
    }
    return bytes;
  }

  /**
   * Whether the stripe stores no more blocks than so many for each data block. Example: one data
   * block of RS(6,3) is stored as four blocks, and three replicas would store less.
   */
  public boolean storesAtMost(double blocksPerDataBlock) {
    return code.occupied(lengths.keySet()).size() <= blocksPerDataBlock * blocks();
  }
}
