package io.ebbfs.ignite;

import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Table;
import io.ebbfs.namenode.store.Tables;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The key of a row in the cache of all tables: the partition, which places the row on nodes, and
 * the bytes that order it: two for the table, then those of {@link Key#encode}. The names of the
 * class and of its fields are part of the durable format.
 */
final class RowId implements Comparable<RowId> {
  /** The field that tells the nodes of a row. */
  static final String PARTITION_FIELD = "partition";

  /** The field that orders rows. */
  static final String ORDER_FIELD = "order";

  private static final int TABLE_BYTES = Short.BYTES;

  @SuppressWarnings("unused") // Ignite reads the field
  private long partition;

  private byte[] order;

  private RowId(long partition, byte[] order) {
    this.partition = partition;
    this.order = order;
  }

  static RowId of(Table<?> table, Key key) {
    return new RowId(key.partition(), orderOf(table, key));
  }

  /** The bytes that order a row: all rows of a table, then of a partition, are neighbours. */
  static byte[] orderOf(Table<?> table, Key key) {
    byte[] encoded = key.encode();
    return ByteBuffer.allocate(TABLE_BYTES + encoded.length)
        .putShort(numberOf(table))
        .put(encoded)
        .array();
  }

  /** Bytes before all rows of a table. */
  static byte[] startOf(Table<?> table) {
    return ByteBuffer.allocate(TABLE_BYTES).putShort(numberOf(table)).array();
  }

  /** Bytes behind all rows of a table. */
  static byte[] endOf(Table<?> table) {
    return ByteBuffer.allocate(TABLE_BYTES).putShort((short) (numberOf(table) + 1)).array();
  }

  /**
   * The number of a table in keys, made of its durable name. A test makes sure that no two tables
   * have the same, and that none has the last.
   */
  static short numberOf(Table<?> table) {
    int hash = 0x811c9dc5; // FNV-1a, 32 bits, folded
    for (byte b : table.name().getBytes(StandardCharsets.UTF_8)) {
      hash = (hash ^ (b & 0xff)) * 0x01000193;
    }
    return (short) (hash ^ hash >>> Short.SIZE);
  }

  /** What orders this row; not a copy. */
  byte[] order() {
    return order;
  }

  Key key() {
    return keyOf(order);
  }

  /** The key of a row that has been ordered by {@link #orderOf}. */
  static Key keyOf(byte[] order) {
    return Key.decode(Arrays.copyOfRange(order, TABLE_BYTES, order.length));
  }

  /**
   * The table of a row that has been ordered by {@link #orderOf}.
   *
   * @throws IllegalArgumentException if this version does not know the table
   */
  static Table<?> tableOf(byte[] order) {
    short number = ByteBuffer.wrap(order).getShort();
    return Tables.ALL.stream()
        .filter(table -> numberOf(table) == number)
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "a row of an unknown table (number %d); a newer version has written it"
                        .formatted(number)));
  }

  @Override
  public int compareTo(RowId other) {
    return Arrays.compareUnsigned(order, other.order);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RowId row && Arrays.equals(order, row.order);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(order);
  }
}
