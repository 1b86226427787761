package io.ebbfs.coding.packing;

import io.ebbfs.coding.code.CodeParameters;
import io.ebbfs.coding.code.ErasureCode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Packs blocks into stripes by their lengths alone: the longest blocks share a stripe, so that
 * parities cover little padding, and there are as few stripes as possible. Example: eight blocks in
 * RS(6,3) become a stripe of the six longest blocks and a stripe of the other two.
 *
 * <p>The namenode packs with this function, and the manager forecasts with it. Therefore a forecast
 * for the same lengths is exact. Pure and thread safe.
 */
public final class StripePacker {
  private static final double SIMILAR_LENGTHS = 0.02;

  private StripePacker() {}

  /**
   * Packs blocks of these lengths.
   *
   * @param lengths in bytes, in any order
   * @return full stripes, the longest blocks first, and at most one partly filled stripe at the
   *     end; within a stripe the lengths do not grow with the position
   */
  public static List<PackedStripe> pack(ErasureCode code, List<Long> lengths) {
    List<Long> longestFirst = lengths.stream().sorted(Comparator.reverseOrder()).toList();
    List<PackedStripe> stripes = new ArrayList<>();
    for (int first = 0; first < longestFirst.size(); first += code.dataCount()) {
      int end = Math.min(longestFirst.size(), first + code.dataCount());
      stripes.add(stripe(code, longestFirst.subList(first, end)));
    }
    return stripes;
  }

  private static PackedStripe stripe(ErasureCode code, List<Long> lengths) {
    List<Integer> positions = positionsFor(code, lengths.size());
    SortedMap<Integer, Long> stripe = new TreeMap<>();
    for (int i = 0; i < lengths.size(); i++) {
      stripe.put(positions.get(i), lengths.get(i));
    }
    return new PackedStripe(code, stripe);
  }

  /**
   * The data positions that so many blocks of one stripe take, ascending. In a product code these
   * are the rows and columns that need the fewest parities: four blocks of PC(6x5) stand two by two
   * under five parities, not in a row under six.
   */
  public static List<Integer> positionsFor(ErasureCode code, int blocks) {
    List<Integer> positions = new ArrayList<>();
    if (code.parameters() instanceof CodeParameters.Product grid) {
      int width = gridWidth(grid, blocks);
      for (int i = 0; i < blocks; i++) {
        positions.add(grid.data(i / width, i % width));
      }
    } else {
      for (int i = 0; i < blocks; i++) {
        positions.add(i);
      }
    }
    return positions;
  }

  /** How many columns of a grid to use, so that rows and columns together are the fewest. */
  private static int gridWidth(CodeParameters.Product grid, int blocks) {
    int best = grid.columns();
    for (int width = grid.columns(); width >= 1; width--) {
      int rows = (blocks + width - 1) / width;
      int bestRows = (blocks + best - 1) / best;
      if (rows <= grid.rows() && rows + width < bestRows + best) {
        best = width;
      }
    }
    return best;
  }

  /**
   * The class of a length. Placement may exchange two blocks of a group whose lengths are in one
   * class: such lengths differ by about 2% at most, so that the exchange costs hardly any padding.
   *
   * @return 1 or more
   */
  public static int lengthClass(long lengthBytes) {
    return 1 + (int) (Math.log(Math.max(1, lengthBytes)) / SIMILAR_LENGTHS);
  }

  /**
   * For each stripe, the most parity bytes that it may store once placement has exchanged blocks of
   * one length class. Equal to the exact parity bytes if all blocks of a class are equally long.
   *
   * @param stripes all stripes whose blocks may be exchanged
   */
  public static List<Long> mostParityBytes(List<PackedStripe> stripes) {
    Map<Integer, Long> longestOfClass = new HashMap<>();
    for (PackedStripe stripe : stripes) {
      for (long length : stripe.lengths().values()) {
        longestOfClass.merge(lengthClass(length), length, Math::max);
      }
    }
    List<Long> most = new ArrayList<>();
    for (PackedStripe stripe : stripes) {
      SortedMap<Integer, Long> longest = new TreeMap<>(stripe.lengths());
      longest.replaceAll((position, length) -> longestOfClass.get(lengthClass(length)));
      most.add(new PackedStripe(stripe.code(), longest).parityBytes());
    }
    return most;
  }
}
