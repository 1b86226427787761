package io.ebbfs.coding.gf;

/**
 * Arithmetic of GF(2^8) with the polynomial 0x11d, the field of ISA-L and jerasure. Elements are
 * ints in 0..255. Addition and subtraction are both XOR. Thread safe: the tables never change.
 */
public final class Gf256 {
  /** x^8 + x^4 + x^3 + x^2 + 1. */
  public static final int POLYNOMIAL = 0x11d;

  private static final int ORDER = 255;
  private static final byte[] EXP = new byte[2 * ORDER];
  private static final int[] LOG = new int[256];

  /** PRODUCTS[a][b] = a * b. */
  private static final byte[][] PRODUCTS = new byte[256][256];

  static {
    int x = 1;
    for (int i = 0; i < ORDER; i++) {
      EXP[i] = (byte) x;
      EXP[i + ORDER] = (byte) x;
      LOG[x] = i;
      x <<= 1;
      if (x > ORDER) {
        x ^= POLYNOMIAL;
      }
    }
    for (int a = 1; a < 256; a++) {
      for (int b = 1; b < 256; b++) {
        PRODUCTS[a][b] = EXP[LOG[a] + LOG[b]];
      }
    }
  }

  private Gf256() {}

  /** The product of two elements. */
  public static int multiply(int a, int b) {
    return PRODUCTS[a][b] & 0xff;
  }

  /**
   * The inverse of an element.
   *
   * @throws ArithmeticException for zero
   */
  public static int inverse(int a) {
    if (a == 0) {
      throw new ArithmeticException("zero has no inverse in GF(2^8)");
    }
    return EXP[ORDER - LOG[a]] & 0xff;
  }

  /** a divided by b, which is not zero. */
  public static int divide(int a, int b) {
    return multiply(a, inverse(b));
  }

  /** The n-th power, n at least 0; 0 to the power of 0 is 1. */
  public static int power(int a, int n) {
    if (n == 0) {
      return 1;
    }
    return a == 0 ? 0 : EXP[(int) ((long) LOG[a] * n % ORDER)] & 0xff;
  }

  /** target[i] += coefficient * source[i] for the length of the source. */
  public static void addMultiple(byte[] target, int coefficient, byte[] source) {
    if (coefficient == 0) {
      return;
    }
    byte[] products = PRODUCTS[coefficient];
    for (int i = 0; i < source.length; i++) {
      target[i] ^= products[source[i] & 0xff];
    }
  }
}
