package io.ebbfs.coding.code;

import java.util.ArrayList;
import java.util.List;

/**
 * Builds product codes PC(rows x columns): a sum for each row and each column of a grid of data,
 * and one over all data. Any three losses decode; some losses of four do not. As in HACFS
 * (FAST'15).
 */
final class ProductCodes {
  private static final int TOLERANCE = 3;
  private static final int MAX_POSITIONS = 1024;

  private ProductCodes() {}

  static ErasureCode build(int rows, int columns) {
    String name = "PC(" + rows + "x" + columns + ")";
    if (rows < 1 || columns < 1 || (rows + 1) * (columns + 1) > MAX_POSITIONS) {
      throw new IllegalArgumentException(
          name
              + ": rows and columns must be at least 1 and its positions at most "
              + MAX_POSITIONS
              + "; use a smaller grid");
    }
    CodeParameters.Product grid = new CodeParameters.Product(rows, columns);
    int size = (rows + 1) * (columns + 1);
    return new ErasureCode(
        name,
        "product",
        grid,
        rows * columns,
        TOLERANCE,
        positions(grid),
        parityRows(grid),
        equations(grid, size));
  }

  private static List<Position> positions(CodeParameters.Product grid) {
    List<Position> positions = new ArrayList<>();
    for (int r = 0; r < grid.rows(); r++) {
      for (int c = 0; c < grid.columns(); c++) {
        positions.add(new Position(grid.data(r, c), "D" + r + "." + c, PositionKind.DATA));
      }
    }
    for (int r = 0; r < grid.rows(); r++) {
      positions.add(new Position(grid.rowParity(r), "R" + r, PositionKind.ROW_PARITY));
    }
    for (int c = 0; c < grid.columns(); c++) {
      positions.add(new Position(grid.columnParity(c), "C" + c, PositionKind.COLUMN_PARITY));
    }
    positions.add(new Position(grid.global(), "G", PositionKind.GLOBAL_PARITY));
    return positions;
  }

  private static List<byte[]> parityRows(CodeParameters.Product grid) {
    int data = grid.rows() * grid.columns();
    List<byte[]> parities = new ArrayList<>();
    for (int j = 0; j < grid.rows() + grid.columns() + 1; j++) {
      parities.add(new byte[data]);
    }
    for (int r = 0; r < grid.rows(); r++) {
      for (int c = 0; c < grid.columns(); c++) {
        int d = grid.data(r, c);
        parities.get(grid.rowParity(r) - data)[d] = 1;
        parities.get(grid.columnParity(c) - data)[d] = 1;
        parities.get(grid.global() - data)[d] = 1;
      }
    }
    return parities;
  }

  private static List<ParityEquation> equations(CodeParameters.Product grid, int size) {
    List<ParityEquation> equations = new ArrayList<>();
    byte[] ofRowParities = new byte[size];
    byte[] ofColumnParities = new byte[size];
    for (int r = 0; r < grid.rows(); r++) {
      byte[] row = new byte[size];
      for (int c = 0; c < grid.columns(); c++) {
        row[grid.data(r, c)] = 1;
      }
      row[grid.rowParity(r)] = 1;
      ofRowParities[grid.rowParity(r)] = 1;
      equations.add(ParityEquation.of(row));
    }
    for (int c = 0; c < grid.columns(); c++) {
      byte[] column = new byte[size];
      for (int r = 0; r < grid.rows(); r++) {
        column[grid.data(r, c)] = 1;
      }
      column[grid.columnParity(c)] = 1;
      ofColumnParities[grid.columnParity(c)] = 1;
      equations.add(ParityEquation.of(column));
    }
    ofRowParities[grid.global()] = 1;
    ofColumnParities[grid.global()] = 1;
    equations.add(ParityEquation.of(ofRowParities));
    equations.add(ParityEquation.of(ofColumnParities));
    return equations;
  }
}
