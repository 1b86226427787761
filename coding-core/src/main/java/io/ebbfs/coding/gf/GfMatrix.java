package io.ebbfs.coding.gf;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** A matrix over {@link Gf256}. Immutable and thread safe. */
public final class GfMatrix {
  private final byte[][] cells;
  private final int columns;

  private GfMatrix(byte[][] cells, int columns) {
    this.cells = cells;
    this.columns = columns;
  }

  /** A matrix of these rows, which are copied. Every row must have this number of columns. */
  public static GfMatrix ofRows(List<byte[]> rows, int columns) {
    byte[][] cells = new byte[rows.size()][];
    for (int r = 0; r < cells.length; r++) {
      byte[] row = rows.get(r);
      if (row.length != columns) {
        throw new IllegalArgumentException(
            "row " + r + " has " + row.length + " columns, the matrix has " + columns);
      }
      cells[r] = row.clone();
    }
    return new GfMatrix(cells, columns);
  }

  /** The identity of this size. */
  public static GfMatrix identity(int size) {
    byte[][] cells = new byte[size][size];
    for (int i = 0; i < size; i++) {
      cells[i][i] = 1;
    }
    return new GfMatrix(cells, size);
  }

  public int rows() {
    return cells.length;
  }

  public int columns() {
    return columns;
  }

  /** The element, 0..255. */
  public int get(int row, int column) {
    return cells[row][column] & 0xff;
  }

  /** A copy of one row. */
  public byte[] row(int row) {
    return cells[row].clone();
  }

  public GfMatrix multiply(GfMatrix right) {
    if (columns != right.rows()) {
      throw new IllegalArgumentException(
          "cannot multiply: " + columns + " columns by " + right.rows() + " rows");
    }
    byte[][] product = new byte[rows()][right.columns];
    for (int r = 0; r < rows(); r++) {
      for (int i = 0; i < columns; i++) {
        Gf256.addMultiple(product[r], get(r, i), right.cells[i]);
      }
    }
    return new GfMatrix(product, right.columns);
  }

  GfMatrix transpose() {
    byte[][] turned = new byte[columns][rows()];
    for (int r = 0; r < rows(); r++) {
      for (int c = 0; c < columns; c++) {
        turned[c][r] = cells[r][c];
      }
    }
    return new GfMatrix(turned, rows());
  }

  /** The number of linearly independent rows. */
  public int rank() {
    byte[][] work = copyOfCells();
    return eliminate(work, columns);
  }

  /** The inverse matrix; empty if this matrix is singular or not square. */
  public Optional<GfMatrix> invert() {
    if (rows() != columns) {
      return Optional.empty();
    }
    byte[][] work = new byte[rows()][];
    for (int r = 0; r < rows(); r++) {
      work[r] = Arrays.copyOf(cells[r], 2 * columns);
      work[r][columns + r] = 1;
    }
    if (eliminate(work, columns) < columns) {
      return Optional.empty();
    }
    for (int r = 0; r < work.length; r++) {
      work[r] = Arrays.copyOfRange(work[r], columns, 2 * columns);
    }
    return Optional.of(new GfMatrix(work, columns));
  }

  /** A solution x of {@code this * x = right}, with zero for free unknowns; empty if none. */
  public Optional<byte[]> solve(byte[] right) {
    if (right.length != rows()) {
      throw new IllegalArgumentException(
          "right side has " + right.length + " elements, the matrix " + rows() + " rows");
    }
    byte[][] work = new byte[rows()][];
    for (int r = 0; r < rows(); r++) {
      work[r] = Arrays.copyOf(cells[r], columns + 1);
      work[r][columns] = right[r];
    }
    int rank = eliminate(work, columns);
    for (int r = rank; r < work.length; r++) {
      if (work[r][columns] != 0) {
        return Optional.empty();
      }
    }
    byte[] solution = new byte[columns];
    for (int r = 0; r < rank; r++) {
      solution[leadingColumn(work[r])] = work[r][columns];
    }
    return Optional.of(solution);
  }

  /**
   * Brings the rows to reduced echelon form, with pivots in the first {@code pivotColumns} columns.
   * Returns the rank; the rows that hold a pivot come first.
   */
  private static int eliminate(byte[][] rows, int pivotColumns) {
    int rank = 0;
    for (int c = 0; c < pivotColumns && rank < rows.length; c++) {
      int pivot = rank;
      while (pivot < rows.length && rows[pivot][c] == 0) {
        pivot++;
      }
      if (pivot == rows.length) {
        continue;
      }
      byte[] row = rows[pivot];
      rows[pivot] = rows[rank];
      rows[rank] = row;
      scale(row, Gf256.inverse(row[c] & 0xff));
      for (int r = 0; r < rows.length; r++) {
        if (r != rank) {
          Gf256.addMultiple(rows[r], rows[r][c] & 0xff, row);
        }
      }
      rank++;
    }
    return rank;
  }

  private static void scale(byte[] row, int factor) {
    for (int i = 0; i < row.length; i++) {
      row[i] = (byte) Gf256.multiply(row[i] & 0xff, factor);
    }
  }

  private static int leadingColumn(byte[] row) {
    int c = 0;
    while (row[c] == 0) {
      c++;
    }
    return c;
  }

  private byte[][] copyOfCells() {
    byte[][] copy = new byte[cells.length][];
    for (int r = 0; r < copy.length; r++) {
      copy[r] = cells[r].clone();
    }
    return copy;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof GfMatrix that
        && columns == that.columns
        && Arrays.deepEquals(cells, that.cells);
  }

  @Override
  public int hashCode() {
    return 31 * columns + Arrays.deepHashCode(cells);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    for (byte[] row : cells) {
      for (byte cell : row) {
        text.append(String.format("%02x ", cell & 0xff));
      }
      text.append('\n');
    }
    return text.toString();
  }
}
