package io.ebbfs.coding.code;

import io.ebbfs.coding.gf.Gf256;
import java.util.ArrayList;
import java.util.List;

/**
 * Builds the Reed-Solomon codes by which clients of HDFS encode block groups: the same parities,
 * byte for byte, as Hadoop's codecs "rs" and "rs-legacy" over the same field.
 */
final class HdfsCodes {
  /** Hadoop limits the blocks of a group, and every loss is tried. */
  private static final int MAX_UNITS = 16;

  private HdfsCodes() {}

  /** The codec "rs": parity i has the coefficient 1 / (i xor d) for data d, a Cauchy matrix. */
  static ErasureCode reedSolomon(int data, int parities) {
    String name = "HDFS-RS(" + data + "," + parities + ")";
    check(name, data, parities);
    List<byte[]> rows = new ArrayList<>();
    for (int i = data; i < data + parities; i++) {
      byte[] row = new byte[data];
      for (int d = 0; d < data; d++) {
        row[d] = (byte) Gf256.inverse(i ^ d);
      }
      rows.add(row);
    }
    return proven(name, parities, rows);
  }

  /**
   * The codec "rs-legacy": the parities are the remainder of the data, as a polynomial shifted by
   * the number of parities, divided by the product of (x + 2^i) over all parities i.
   */
  static ErasureCode legacy(int data, int parities) {
    String name = "HDFS-RS-LEGACY(" + data + "," + parities + ")";
    check(name, data, parities);
    int[] generator = generator(parities);
    List<byte[]> rows = new ArrayList<>();
    for (int j = 0; j < parities; j++) {
      rows.add(new byte[data]);
    }
    // The remainder of x^parities, then of each next power: shift, and subtract the generator.
    int[] remainder = java.util.Arrays.copyOf(generator, parities);
    for (int d = 0; d < data; d++) {
      for (int j = 0; j < parities; j++) {
        rows.get(j)[d] = (byte) remainder[j];
      }
      int top = remainder[parities - 1];
      for (int j = parities - 1; j >= 0; j--) {
        remainder[j] = (j == 0 ? 0 : remainder[j - 1]) ^ Gf256.multiply(top, generator[j]);
      }
    }
    return proven(name, parities, rows);
  }

  /** The coefficients of the generator polynomial from the lowest on; the highest is 1. */
  private static int[] generator(int parities) {
    int[] product = new int[parities + 1];
    product[0] = 1;
    for (int i = 0; i < parities; i++) {
      int root = Gf256.power(2, i);
      for (int j = i + 1; j >= 0; j--) {
        product[j] = Gf256.multiply(product[j], root) ^ (j == 0 ? 0 : product[j - 1]);
      }
    }
    return product;
  }

  private static void check(String name, int data, int parities) {
    if (data < 1 || parities < 1 || data + parities > MAX_UNITS) {
      throw new IllegalArgumentException(
          "%s: choose at least 1 data and 1 parity, and at most %d together"
              .formatted(name, MAX_UNITS));
    }
  }

  private static ErasureCode proven(String name, int parities, List<byte[]> rows) {
    return ToleranceCheck.proven(
        GeneralCodes.build(name, "hdfs", parities, rows), "choose fewer data or parities");
  }
}
