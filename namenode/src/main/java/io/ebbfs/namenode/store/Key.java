package io.ebbfs.namenode.store;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
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

  private static final byte[] EMPTY = new byte[0];
  private static final long MULTIPLIER = 0x9e3779b97f4a7c15L; // 2^64 / golden ratio

  private final long partition;
  private final byte[] rest;

  private Key(long partition, byte[] rest) {
    this.partition = partition;
    this.rest = rest;
  }

  private static long longOf(byte[] bytes) {
    return (long) BIG_ENDIAN.get(bytes, 0);
  }

  private static long mix(long hash, long word) {
    long product = (hash ^ word) * MULTIPLIER;
    return product ^ (product >>> 32);
  }

  /** The rest is not copied and must not change. */
  public static Key of(long partition, byte[] rest) {
    return new Key(partition, rest);
  }

  public static Key of(long partition) {
    return new Key(partition, EMPTY);
  }

  public static Key of(long partition, long first) {
    byte[] rest = new byte[Long.BYTES];
    BIG_ENDIAN.set(rest, 0, first);
    return new Key(partition, rest);
  }

  /** The first key behind a partition, or null behind the last one. */
  public static Key endOf(long partition) {
    return partition == -1L ? null : Key.of(partition + 1);
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
    byte[] encoded = new byte[Long.BYTES + rest.length];
    BIG_ENDIAN.set(encoded, 0, partition);
    System.arraycopy(rest, 0, encoded, Long.BYTES, rest.length);
    return encoded;
  }

  int encodedLength() {
    return Long.BYTES + rest.length;
  }

  public static Key decode(byte[] encoded) {
    return new Key(longOf(encoded), Arrays.copyOfRange(encoded, Long.BYTES, encoded.length));
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
    return hash(0);
  }

  /** A hash of the key. Whoever does not know the seed cannot choose names that collide. */
  int hash(long seed) {
    long hash = mix(seed, partition);
    int i = 0;
    for (; i + Long.BYTES <= rest.length; i += Long.BYTES) {
      hash = mix(hash, (long) BIG_ENDIAN.get(rest, i));
    }
    long tail = rest.length;
    for (; i < rest.length; i++) {
      tail = tail << Byte.SIZE | rest[i] & 0xff;
    }
    return Long.hashCode(mix(hash, tail));
  }

  @Override
  public String toString() {
    return rest.length == 0
        ? "(" + partition + ")"
        : "(" + partition + ", " + HexFormat.of().formatHex(rest) + ")";
  }
}
