package io.ebbfs.coding;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * How the positions of a compact code relate to those of the fast stripes that make it.
 *
 * @param fast the code of the fast stripes
 * @param compact the code of the compact stripe
 * @param stripes how many fast stripes make a compact one
 * @param same the position of the compact stripe that holds the same block
 * @param sums compact parities that are combinations of fast ones, by position
 */
record Pairing(
    ErasureCode fast,
    ErasureCode compact,
    int stripes,
    Map<BlockRef, Integer> same,
    SortedMap<Integer, SortedMap<BlockRef, Integer>> sums) {

  static Pairing of(ErasureCode fast, ErasureCode compact) {
    Pairing pairing = null;
    if (fast.shape() instanceof Shape.Product f && compact.shape() instanceof Shape.Product c) {
      pairing = product(fast, f, compact, c);
    } else if (fast.shape() instanceof Shape.Lrc f && compact.shape() instanceof Shape.Lrc c) {
      pairing = lrc(fast, f, compact, c);
    } else if (fast.shape() instanceof Shape.Rs f && compact.shape() instanceof Shape.Rs c) {
      pairing = rs(fast, f, compact, c);
    }
    if (pairing == null) {
      throw new CannotPlanException(
          "stripes of "
              + fast
              + " and "
              + compact
              + " do not convert into each other; known pairs: "
              + Codes.families().stream().map(f -> f.fast() + " and " + f.compact()).toList());
    }
    return pairing;
  }

  /** The data position of the compact stripe for a data position of a fast one. */
  int compactData(int stripe, int position) {
    return same.get(new BlockRef(stripe, position));
  }

  /** Where a block of the compact stripe is in the fast ones, for blocks that are the same. */
  Map<Integer, BlockRef> inverse() {
    Map<Integer, BlockRef> inverse = new HashMap<>();
    same.forEach((ref, position) -> inverse.put(position, ref));
    return inverse;
  }

  /** The coefficients of a block of a fast stripe over the data of the compact one. */
  byte[] overCompactData(BlockRef ref) {
    byte[] vector = new byte[compact.dataCount()];
    for (int d = 0; d < fast.dataCount(); d++) {
      vector[compactData(ref.stripe(), d)] = (byte) fast.generator().get(ref.position(), d);
    }
    return vector;
  }

  private static Pairing product(
      ErasureCode fast, Shape.Product f, ErasureCode compact, Shape.Product c) {
    if (f.columns() != c.columns() || c.rows() % f.rows() != 0 || c.rows() == f.rows()) {
      return null;
    }
    int stripes = c.rows() / f.rows();
    Map<BlockRef, Integer> same = new HashMap<>();
    SortedMap<Integer, SortedMap<BlockRef, Integer>> sums = new TreeMap<>();
    for (int s = 0; s < stripes; s++) {
      for (int r = 0; r < f.rows(); r++) {
        int row = s * f.rows() + r;
        for (int column = 0; column < f.columns(); column++) {
          same.put(new BlockRef(s, f.data(r, column)), c.data(row, column));
        }
        same.put(new BlockRef(s, f.rowParity(r)), c.rowParity(row));
      }
      for (int column = 0; column < f.columns(); column++) {
        term(sums, c.columnParity(column), s, f.columnParity(column), 1);
      }
      term(sums, c.global(), s, f.global(), 1);
    }
    return new Pairing(fast, compact, stripes, same, sums);
  }

  private static Pairing lrc(ErasureCode fast, Shape.Lrc f, ErasureCode compact, Shape.Lrc c) {
    if (f.data() != c.data()
        || f.globals() != c.globals()
        || f.groups() <= c.groups()
        || f.groups() % c.groups() != 0) {
      return null;
    }
    Map<BlockRef, Integer> same = new HashMap<>();
    SortedMap<Integer, SortedMap<BlockRef, Integer>> sums = new TreeMap<>();
    for (int d = 0; d < f.data(); d++) {
      same.put(new BlockRef(0, d), d);
    }
    for (int g = 0; g < f.globals(); g++) {
      same.put(new BlockRef(0, f.global(g)), c.global(g));
    }
    for (int g = 0; g < f.groups(); g++) {
      int parent = c.localParity(g * c.groups() / f.groups());
      term(sums, parent, 0, f.localParity(g), 1);
    }
    return new Pairing(fast, compact, 1, same, sums);
  }

  private static Pairing rs(ErasureCode fast, Shape.Rs f, ErasureCode compact, Shape.Rs c) {
    if (f.parities() != c.parities() || c.data() % f.data() != 0 || c.data() == f.data()) {
      return null;
    }
    int stripes = c.data() / f.data();
    int[] points = RsCodes.points(f.parities());
    Map<BlockRef, Integer> same = new HashMap<>();
    SortedMap<Integer, SortedMap<BlockRef, Integer>> sums = new TreeMap<>();
    for (int s = 0; s < stripes; s++) {
      for (int d = 0; d < f.data(); d++) {
        same.put(new BlockRef(s, d), s * f.data() + d);
      }
      for (int j = 0; j < f.parities(); j++) {
        term(sums, c.parity(j), s, f.parity(j), Gf256.power(points[j], s * f.data()));
      }
    }
    return new Pairing(fast, compact, stripes, same, sums);
  }

  private static void term(
      SortedMap<Integer, SortedMap<BlockRef, Integer>> sums,
      int parent,
      int stripe,
      int position,
      int coefficient) {
    sums.computeIfAbsent(parent, p -> new TreeMap<>())
        .put(new BlockRef(stripe, position), coefficient);
  }

  /** The sums that this global parity of a product code is of other parities; else empty. */
  List<BlockRef> fastColumnParities(int stripe) {
    List<BlockRef> refs = new ArrayList<>();
    if (fast.shape() instanceof Shape.Product shape) {
      for (int column = 0; column < shape.columns(); column++) {
        refs.add(new BlockRef(stripe, shape.columnParity(column)));
      }
    }
    return refs;
  }

  boolean isProduct() {
    return fast.shape() instanceof Shape.Product;
  }
}
