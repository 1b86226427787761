package io.ebbfs.coding.checksum;

import java.util.Collection;

/**
 * Computes CRC-32C checksums from other checksums alone, without reading data (RFC 3720: reflected,
 * state inverted before and after). The checksum of a block is an affine function of its bits:
 * {@code crc(x) = linear(x) + crc(zeros)} for zeros of the same length. So the checksums of blocks
 * give the checksum of their XOR, and of a block padded with zeros. Example: the checksum of a row
 * parity follows from the checksums of the five data blocks of its row. A checksum is an int that
 * holds an unsigned 32-bit number, as in fixed32 fields of protocol buffers. Pure and thread safe.
 *
 * <p>This does not work for a product with a coefficient other than 1, because multiplication in
 * GF(2^8) is unrelated to the polynomial of the checksum.
 */
public final class Crc32cAlgebra {
  private static final int POLYNOMIAL = 0x82f63b78;
  private static final int ONE = 0x80000000;

  /** POWERS[i] is x^(8 * 2^i) modulo the polynomial: i doublings of one zero byte. */
  private static final int[] POWERS = powers();

  private Crc32cAlgebra() {}

  /**
   * The checksum and the length of a block.
   *
   * @param crc32c of all its bytes
   * @param lengthBytes at least 0
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

  /** The checksum of this number of zero bytes. */
  public static int zeros(long lengthBytes) {
    // The state begins inverted, is moved on by the zeros, and is inverted at the end.
    return ~multiply(power(lengthBytes), ~0);
  }

  /**
   * The checksum of a block padded with zeros.
   *
   * @throws IllegalArgumentException if the block is longer than the target
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
   * The checksum of the XOR of blocks, each padded with zeros to the length. Without blocks, the
   * checksum of zeros.
   *
   * @throws IllegalArgumentException if a block is longer than the length
   */
  public static int xor(Collection<Sum> blocks, long lengthBytes) {
    return difference(blocks, lengthBytes) ^ zeros(lengthBytes);
  }

  /**
   * The linear part of the checksum of the XOR of blocks, each padded with zeros to the length. It
   * is 0 if the XOR is all zeros. If the XOR is not, it is 0 with a probability of 2^-32. Two sums
   * over the same length in which the same bits are wrong have the same difference.
   *
   * @throws IllegalArgumentException if a block is longer than the length
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
  static boolean cancelOut(Collection<Sum> blocks) {
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
