package io.ebbfs.coding;

import java.util.Collection;

/**
 * What follows from CRC-32C values alone (RFC 3720: reflected, state inverted before and after).
 * The checksum of a block is an affine function of its bits: {@code crc(x) = linear(x) +
 * crc(zeros)} for zeros of the same length. So the checksum of an XOR of blocks, and of a block
 * padded with zeros, follow without a byte of data being read. Checksums are ints as unsigned 32
 * bit numbers, the way fixed32 fields of protocol buffers come. Pure functions; thread safe.
 *
 * <p>There is no such way through a product with a coefficient other than 1: GF(2^8) and the
 * polynomial of the checksum have nothing to do with each other.
 */
public final class Crc32cAlgebra {
  private static final int POLYNOMIAL = 0x82f63b78;
  private static final int ONE = 0x80000000;

  /** POWERS[i] is x^(8 * 2^i) modulo the polynomial: i doublings of one zero byte. */
  private static final int[] POWERS = powers();

  private Crc32cAlgebra() {}

  /**
   * A block as far as its checksum tells of it.
   *
   * @param crc32c of all its bytes
   * @param lengthBytes its length, at least 0
   */
  public record Sum(int crc32c, long lengthBytes) {
    public Sum {
      if (lengthBytes < 0) {
        throw new IllegalArgumentException("a block has no " + lengthBytes + " bytes");
      }
    }
  }

  /** The checksum of A followed by B, from those of A and B and the length of B in bytes. */
  public static int concat(int crcA, int crcB, long lengthB) {
    return multiply(power(lengthB), crcA) ^ crcB;
  }

  /** The checksum of so many zero bytes. */
  public static int zeros(long lengthBytes) {
    // The state begins inverted, is moved on by the zeros, and is inverted at the end.
    return ~multiply(power(lengthBytes), ~0);
  }

  /**
   * The checksum of a block padded with zeros.
   *
   * @throws IllegalArgumentException if the block is longer than that
   */
  public static int zeroExtended(Sum block, long toLengthBytes) {
    long padding = toLengthBytes - block.lengthBytes();
    if (padding < 0) {
      throw new IllegalArgumentException(
          "a block of %d bytes cannot be padded to %d"
              .formatted(block.lengthBytes(), toLengthBytes));
    }
    return concat(block.crc32c(), zeros(padding), padding);
  }

  /**
   * The checksum of the XOR of blocks, each padded with zeros to the length. Of no blocks: that of
   * zeros.
   *
   * @throws IllegalArgumentException if a block is longer than that
   */
  public static int xor(Collection<Sum> blocks, long lengthBytes) {
    return difference(blocks, lengthBytes) ^ zeros(lengthBytes);
  }

  /**
   * The linear part of the checksum of the XOR of blocks, each padded with zeros to the length: 0
   * if the XOR is all zeros, and if it is not, 0 by chance once in 2^32. Two sums over the same
   * length that are off by the same bits have the same difference.
   *
   * @throws IllegalArgumentException if a block is longer than that
   */
  public static int difference(Collection<Sum> blocks, long lengthBytes) {
    int zeros = zeros(lengthBytes);
    int sum = 0;
    for (Sum block : blocks) {
      sum ^= zeroExtended(block, lengthBytes) ^ zeros;
    }
    return sum;
  }

  /** Whether the XOR of blocks, each padded to the longest of them, is all zeros. */
  public static boolean cancelOut(Collection<Sum> blocks) {
    long longest = blocks.stream().mapToLong(Sum::lengthBytes).max().orElse(0);
    return difference(blocks, longest) == 0;
  }

  /** x^(8 * bytes) modulo the polynomial. */
  private static int power(long bytes) {
    if (bytes < 0) {
      throw new IllegalArgumentException("a length of " + bytes + " bytes");
    }
    int product = ONE;
    for (int i = 0; i < POWERS.length; i++) {
      if ((bytes >>> i & 1) != 0) {
        product = multiply(product, POWERS[i]);
      }
    }
    return product;
  }

  private static int[] powers() {
    int[] powers = new int[Long.SIZE - 1];
    powers[0] = ONE >>> 8;
    for (int i = 1; i < powers.length; i++) {
      powers[i] = multiply(powers[i - 1], powers[i - 1]);
    }
    return powers;
  }

  /** The product of two polynomials, bit-reflected, modulo the polynomial of the checksum. */
  private static int multiply(int a, int b) {
    int product = 0;
    for (int bit = ONE; bit != 0; bit >>>= 1) {
      if ((a & bit) != 0) {
        product ^= b;
      }
      b = (b >>> 1) ^ ((b & 1) != 0 ? POLYNOMIAL : 0);
    }
    return product;
  }
}
