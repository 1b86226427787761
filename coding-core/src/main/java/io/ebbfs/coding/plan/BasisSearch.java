package io.ebbfs.coding.plan;

import io.ebbfs.coding.gf.Gf256;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.ToIntFunction;

/**
 * Searches the cheapest blocks to read from which wanted blocks can be computed as linear
 * combinations.
 *
 * <p>Every block is a vector of coefficients over the data. In a basis of the readable blocks, each
 * wanted block is exactly one combination of basis blocks. The basis blocks that occur in some
 * combination must be read. So a choice of blocks to read is a choice of a basis. Example: a lost
 * data block of RS(6,3) is a combination of the other five data blocks and one parity.
 *
 * <p>The search works as the simplex method does. A table expresses every block by the basis. A
 * pivot exchanges one block of the basis for another. The search pivots while this lowers the cost,
 * and it starts from several bases. The caller gives an order of the blocks for each first basis: a
 * block that can be computed from the front of the order alone is computed from the front.
 *
 * <p>Deterministic; not thread-safe.
 */
final class BasisSearch {
  /** The most elementary steps, about 50 ms. A larger table keeps its first basis. */
  private static final long MAX_WORK = 50_000_000;

  /** From how many first bases the search pivots; it takes the cheapest. */
  private static final int DESCENTS = 3;

  private final List<BlockRef> readable;
  private final List<BlockRef> wanted;
  private final int[] costs;
  private final byte[][] vectors;
  private final int dimensions;
  private long work;

  /**
   * A solution.
   *
   * @param cost of all blocks that are read
   * @param terms of all combinations together
   * @param expressions by wanted block: coefficient by block that is read
   */
  record Found(
      long cost, int terms, SortedMap<BlockRef, SortedMap<BlockRef, Integer>> expressions) {
    boolean betterThan(Found other) {
      return other == null || cost < other.cost || cost == other.cost && terms < other.terms;
    }
  }

  /**
   * @param readable the vector of each block that can be read
   * @param wanted the vector of each block to compute
   * @param cost of reading a block, at least 1
   */
  BasisSearch(
      SortedMap<BlockRef, byte[]> readable,
      SortedMap<BlockRef, byte[]> wanted,
      ToIntFunction<BlockRef> cost) {
    this.readable = List.copyOf(readable.keySet());
    this.wanted = List.copyOf(wanted.keySet());
    this.costs = this.readable.stream().mapToInt(cost).toArray();
    List<byte[]> columns = new ArrayList<>(readable.values());
    columns.addAll(wanted.values());
    this.vectors = columns.toArray(new byte[0][]);
    this.dimensions = columns.isEmpty() ? 0 : columns.get(0).length;
  }

  /**
   * The cheapest solution that was found from these orders; empty if the readable blocks do not
   * determine the wanted blocks.
   *
   * @param orders each has all readable blocks, the preferred blocks first
   */
  Optional<Found> cheapest(Iterable<List<BlockRef>> orders) {
    List<Table> tables = new ArrayList<>();
    for (List<BlockRef> order : orders) {
      Table table = new Table(order);
      if (!table.spansWanted()) {
        return Optional.empty();
      }
      tables.add(table);
      if (work > MAX_WORK) {
        break;
      }
    }
    tables.sort(Comparator.comparingLong(Table::cost).thenComparingInt(Table::terms));
    Found best = null;
    for (Table table : tables.subList(0, Math.min(DESCENTS, tables.size()))) {
      table.descend();
      Found found = table.found();
      if (found.betterThan(best)) {
        best = found;
      }
    }
    return Optional.ofNullable(best);
  }

  /** Expresses every block (a column) by the blocks of a basis (a row each). */
  private final class Table {
    private final int firstWanted = readable.size();
    private final int columns = vectors.length;
    private final byte[][] rows;
    // By row: the index of its basis block among the readable blocks; only up to the rank.
    private final int[] basis;
    private int rank;

    Table(List<BlockRef> order) {
      rows = new byte[dimensions][columns];
      for (int column = 0; column < columns; column++) {
        for (int row = 0; row < dimensions; row++) {
          rows[row][column] = vectors[column][row];
        }
      }
      basis = new int[dimensions];
      for (BlockRef ref : order) {
        if (rank == dimensions) {
          break;
        }
        int column = java.util.Collections.binarySearch(readable, ref);
        for (int row = rank; row < dimensions; row++) {
          if (rows[row][column] != 0) {
            byte[] swapped = rows[rank];
            rows[rank] = rows[row];
            rows[row] = swapped;
            pivot(rank++, column);
            break;
          }
        }
      }
    }

    private void pivot(int row, int column) {
      byte[] pivotRow = rows[row];
      int inverse = Gf256.inverse(pivotRow[column] & 0xff);
      if (inverse != 1) {
        for (int i = 0; i < columns; i++) {
          pivotRow[i] = (byte) Gf256.multiply(pivotRow[i] & 0xff, inverse);
        }
      }
      for (int other = 0; other < dimensions; other++) {
        if (other != row && rows[other][column] != 0) {
          Gf256.addMultiple(rows[other], rows[other][column] & 0xff, pivotRow);
          work += columns;
        }
      }
      basis[row] = column;
      work += dimensions;
    }

    boolean spansWanted() {
      for (int row = rank; row < dimensions; row++) {
        if (isRead(row)) {
          return false;
        }
      }
      return true;
    }

    /** Whether some wanted block is computed from the basis block of this row. */
    private boolean isRead(int row) {
      for (int column = firstWanted; column < columns; column++) {
        if (rows[row][column] != 0) {
          return true;
        }
      }
      return false;
    }

    /** Pivots while this lowers the cost, or the number of terms at the same cost. */
    void descend() {
      boolean better = true;
      while (better && work <= MAX_WORK) {
        better = false;
        long bestChange = 0;
        int bestTerms = 0;
        int bestRow = -1;
        int bestColumn = -1;
        BitSet read = new BitSet();
        for (int row = 0; row < rank; row++) {
          read.set(row, isRead(row));
        }
        for (int row = read.nextSetBit(0); row >= 0; row = read.nextSetBit(row + 1)) {
          for (int column = 0; column < firstWanted; column++) {
            if (rows[row][column] == 0 || basis[row] == column) {
              continue;
            }
            long change = changeOfCost(row, column, read);
            if (change > bestChange) {
              continue;
            }
            int terms = changeOfTerms(row, column);
            if (change < bestChange || terms < bestTerms) {
              bestChange = change;
              bestTerms = terms;
              bestRow = row;
              bestColumn = column;
            }
          }
        }
        if (bestRow >= 0) {
          pivot(bestRow, bestColumn);
          better = true;
        }
      }
    }

    /** How much the cost of the reads rises if this block replaces the basis block of the row. */
    private long changeOfCost(int row, int column, BitSet read) {
      long change = (long) costs[column] - costs[basis[row]];
      int inverse = Gf256.inverse(rows[row][column] & 0xff);
      work += rank;
      for (int other = 0; other < rank; other++) {
        if (other == row || rows[other][column] == 0) {
          continue;
        }
        if (!read.get(other)) {
          change += costs[basis[other]];
        } else if (isMultiple(other, row, Gf256.multiply(rows[other][column] & 0xff, inverse))) {
          change -= costs[basis[other]];
        }
      }
      return change;
    }

    private boolean isMultiple(int row, int ofRow, int factor) {
      for (int column = firstWanted; column < columns; column++) {
        if ((rows[row][column] & 0xff) != Gf256.multiply(factor, rows[ofRow][column] & 0xff)) {
          return false;
        }
      }
      return true;
    }

    private int changeOfTerms(int row, int column) {
      int change = 0;
      int inverse = Gf256.inverse(rows[row][column] & 0xff);
      for (int other = 0; other < rank; other++) {
        if (other == row || rows[other][column] == 0) {
          continue;
        }
        int factor = Gf256.multiply(rows[other][column] & 0xff, inverse);
        work += columns - firstWanted;
        for (int w = firstWanted; w < columns; w++) {
          int was = rows[other][w] & 0xff;
          int becomes = was ^ Gf256.multiply(factor, rows[row][w] & 0xff);
          change += (becomes == 0 ? 0 : 1) - (was == 0 ? 0 : 1);
        }
      }
      return change;
    }

    long cost() {
      long cost = 0;
      for (int row = 0; row < rank; row++) {
        cost += isRead(row) ? costs[basis[row]] : 0;
      }
      return cost;
    }

    int terms() {
      int terms = 0;
      for (int row = 0; row < rank; row++) {
        for (int column = firstWanted; column < columns; column++) {
          terms += rows[row][column] == 0 ? 0 : 1;
        }
      }
      return terms;
    }

    Found found() {
      SortedMap<BlockRef, SortedMap<BlockRef, Integer>> expressions = new TreeMap<>();
      for (int w = 0; w < wanted.size(); w++) {
        SortedMap<BlockRef, Integer> expression = new TreeMap<>();
        for (int row = 0; row < rank; row++) {
          int coefficient = rows[row][firstWanted + w] & 0xff;
          if (coefficient != 0) {
            expression.put(readable.get(basis[row]), coefficient);
          }
        }
        expressions.put(wanted.get(w), expression);
      }
      return new Found(cost(), terms(), expressions);
    }
  }
}
