package io.ebbfs.coding.gf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class Gf256Test {
  @Test
  void multipliesLikePolynomialsModulo11d() {
    for (int a = 0; a < 256; a++) {
      for (int b = 0; b < 256; b++) {
        assertThat(Gf256.multiply(a, b)).isEqualTo(longhand(a, b));
      }
    }
  }

  private static int longhand(int a, int b) {
    int product = 0;
    for (int bit = 7; bit >= 0; bit--) {
      product <<= 1;
      if ((product & 0x100) != 0) {
        product ^= 0x11d;
      }
      if ((b >> bit & 1) != 0) {
        product ^= a;
      }
    }
    return product;
  }

  @Test
  void invertsEverythingButZero() {
    for (int a = 1; a < 256; a++) {
      assertThat(Gf256.multiply(a, Gf256.inverse(a))).isEqualTo(1);
      assertThat(Gf256.divide(a, a)).isEqualTo(1);
    }
    assertThatThrownBy(() -> Gf256.inverse(0)).isInstanceOf(ArithmeticException.class);
  }

  @Test
  void powersAreRepeatedProducts() {
    for (int a = 0; a < 256; a++) {
      int product = 1;
      for (int n = 0; n < 300; n++) {
        assertThat(Gf256.power(a, n)).as("%d^%d", a, n).isEqualTo(product);
        product = Gf256.multiply(product, a);
      }
    }
  }

  @Test
  void matricesInvertAndSolve() {
    long seed = 20261121;
    Random random = new Random(seed);
    int regular = 0;
    for (int round = 0; round < 200; round++) {
      int size = 1 + random.nextInt(8);
      GfMatrix matrix = random(random, size);
      byte[] x = new byte[size];
      random.nextBytes(x);
      GfMatrix column = GfMatrix.ofRows(List.of(x), size).transpose();
      byte[] right = matrix.multiply(column).transpose().row(0);
      byte[] solved = matrix.solve(right).orElseThrow();
      GfMatrix again = GfMatrix.ofRows(List.of(solved), size).transpose();
      assertThat(matrix.multiply(again).transpose().row(0)).as("seed %d", seed).isEqualTo(right);
      if (matrix.invert().isPresent()) {
        regular++;
        assertThat(matrix.rank()).isEqualTo(size);
        assertThat(matrix.multiply(matrix.invert().get())).isEqualTo(GfMatrix.identity(size));
      } else {
        assertThat(matrix.rank()).isLessThan(size);
      }
    }
    assertThat(regular).isBetween(150, 200);
  }

  @Test
  void contradictionsHaveNoSolution() {
    GfMatrix twice = GfMatrix.ofRows(List.of(new byte[] {1, 2}, new byte[] {1, 2}), 2);
    assertThat(twice.solve(new byte[] {1, 3})).isEmpty();
    assertThat(twice.rank()).isEqualTo(1);
    assertThat(twice.invert()).isEmpty();
  }

  private static GfMatrix random(Random random, int size) {
    List<byte[]> rows = new ArrayList<>();
    for (int r = 0; r < size; r++) {
      byte[] row = new byte[size];
      random.nextBytes(row);
      rows.add(row);
    }
    return GfMatrix.ofRows(rows, size);
  }
}
