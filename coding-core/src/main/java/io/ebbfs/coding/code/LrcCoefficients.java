package io.ebbfs.coding.code;

import java.util.BitSet;
import java.util.Optional;

/**
 * Searches coefficients for the globals of locally repairable codes: global j is the sum of
 * c(i)^(j+1) * d(i). The searches are deterministic. {@link ToleranceCheck} proves the code
 * afterwards, loss by loss.
 *
 * <p>A local parity counts as an element with coefficient 0. With two globals, a loss of two blocks
 * in each of two groups decodes if and only if the coefficients of the two pairs have different
 * sums. So it is enough that no two pairs of elements have the same sum: the elements are a Sidon
 * set, and such sets in GF(2^8) have at most 18 elements, 0 included. A Sidon set suits any groups.
 * Therefore codes with different groups have the same globals and convert without touching them.
 * For more data only pairs of different groups get different sums.
 */
final class LrcCoefficients {
  private static final int FIELD = 256;

  private LrcCoefficients() {}

  /** The coefficients 1, 2, 3, ..., which suffice for one global. */
  static int[] counting(int data) {
    int[] coefficients = new int[data];
    for (int i = 0; i < data; i++) {
      coefficients[i] = i + 1;
    }
    return coefficients;
  }

  /** Coefficients of which no two pairs have one sum, 0 included; empty if none were found. */
  static Optional<int[]> distinctSums(int data) {
    int[] found = new int[data + 1];
    BitSet sums = new BitSet(FIELD);
    for (int count = 1; count <= data; count++) {
      int c = 1;
      while (c < FIELD && !isNew(c, found, count, sums)) {
        c++;
      }
      if (c == FIELD) {
        return Optional.empty();
      }
      for (int i = 0; i < count; i++) {
        sums.set(c ^ found[i]);
      }
      found[count] = c;
    }
    return Optional.of(java.util.Arrays.copyOfRange(found, 1, data + 1));
  }

  private static boolean isNew(int c, int[] found, int count, BitSet sums) {
    for (int i = 0; i < count; i++) {
      if (found[i] == c || sums.get(c ^ found[i])) {
        return false;
      }
    }
    return true;
  }

  /** Pairs of different groups have different sums; empty if no such coefficients were found. */
  static Optional<int[]> distinctSumsBetweenGroups(int data, int groups) {
    int size = data / groups;
    int[] found = new int[data];
    BitSet others = new BitSet(FIELD);
    for (int g = 0; g < groups; g++) {
      int[] group = new int[size + 1];
      for (int count = 1; count <= size; count++) {
        int c = 1;
        while (c < FIELD && !isNew(c, group, count, others)) {
          c++;
        }
        if (c == FIELD) {
          return Optional.empty();
        }
        group[count] = c;
        found[g * size + count - 1] = c;
      }
      for (int i = 0; i <= size; i++) {
        for (int j = 0; j < i; j++) {
          others.set(group[i] ^ group[j]);
        }
      }
    }
    return Optional.of(found);
  }
}
