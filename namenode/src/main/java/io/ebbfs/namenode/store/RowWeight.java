package io.ebbfs.namenode.store;

import java.util.List;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;

/**
 * Estimates how much memory a cached row takes, rather too much than too little. {@code
 * RowWeightTest} compares the estimates with the heap.
 */
final class RowWeight {
  /** An entry of the cache, its links and its share of the hash table and the sketch. */
  private static final int ENTRY = 104;

  /** A key without its bytes: {@link RowKey} or {@link Row}, {@link Key}, header of the array. */
  private static final int KEY = 24 + 24 + 16;

  /** The object of a row, and what its size does not tell: headers of strings, padding. */
  private static final int ROW = 128;

  private RowWeight() {}

  static int ofAbsent(Key key) {
    return ENTRY + KEY + padded(key.rest().length);
  }

  static int of(Key key, MessageLite row) {
    return ENTRY + row(key, row);
  }

  static int of(List<Row<?>> partition) {
    long sum = ENTRY + KEY;
    for (Row<?> row : partition) {
      sum += row(row.key(), row.value());
    }
    return (int) Math.min(sum, Integer.MAX_VALUE);
  }

  private static int row(Key key, MessageLite row) {
    return KEY + padded(key.rest().length) + ROW + 3 * row.getSerializedSize();
  }

  private static int padded(int bytes) {
    return bytes + 7 & ~7;
  }
}
