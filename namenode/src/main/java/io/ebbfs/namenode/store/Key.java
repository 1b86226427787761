package io.ebbfs.namenode.store;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * The key of a row: a partition, and the rest, which is unique within the partition. Keys sort by
 * partition (as an unsigned number), then by the bytes of the rest (unsigned). The encoded form
 * sorts in the same way.
 */
public final class Key implements Comparable<Key> {
  private static final VarHandle BIG_ENDIAN =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private final long partition;
  private final byte[] rest;

  private Key(long partition, byte[] rest) {
    this.partition = partition;
    this.rest = rest;
  }

  private static long longOf(byte[] bytes) {
    return (long) BIG_ENDIAN.get(bytes, 0);
  }

  /** The rest is not copied and must not change. */
  public static Key of(long partition, byte[] rest) {
    return new Key(partition, rest);
  }

  public static Key of(long partition) {
    return new Key(partition, new byte[0]);
  }

  public static Key of(long partition, long first) {
    return new Key(partition, ByteBuffer.allocate(Long.BYTES).putLong(first).array());
  }

  public long partition() {
    return partition;
  }

  /** Not a copy: do not change it. */
  public byte[] rest() {
    return rest;
  }

  /** The first eight bytes of the rest as a number: the index of a block, the id of a replica. */
  public long firstLong() {
    return longOf(rest);
  }

  /** Eight bytes of the partition, big endian, then the rest. */
  public byte[] encode() {
    return ByteBuffer.allocate(Long.BYTES + rest.length).putLong(partition).put(rest).array();
  }

  public static Key decode(byte[] encoded) {
    ByteBuffer buffer = ByteBuffer.wrap(encoded);
    long partition = buffer.getLong();
    byte[] rest = new byte[buffer.remaining()];
    buffer.get(rest);
    return new Key(partition, rest);
  }

  @Override
  public int compareTo(Key other) {
    if (partition != other.partition) {
      return Long.compareUnsigned(partition, other.partition);
    }
    // Most rests have eight bytes; two numbers are compared faster than two arrays.
    return rest.length == Long.BYTES && other.rest.length == Long.BYTES
        ? Long.compareUnsigned(longOf(rest), longOf(other.rest))
        : Arrays.compareUnsigned(rest, other.rest);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Key key && partition == key.partition && Arrays.equals(rest, key.rest);
  }

  @Override
  public int hashCode() {
    return Long.hashCode(partition) * 31 + Arrays.hashCode(rest);
  }

  @Override
  public String toString() {
    return rest.length == 0
        ? "(" + partition + ")"
        : "(" + partition + ", " + HexFormat.of().formatHex(rest) + ")";
  }
}
