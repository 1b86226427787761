package io.ebbfs.coding;

import java.util.ArrayList;
import java.util.List;

/** Product codes of two single parities: any three losses decode, some of four do not. */
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
    Shape.Product shape = new Shape.Product(rows, columns);
    int size = (rows + 1) * (columns + 1);
    return new ErasureCode(
        name,
        "product",
        shape,
        rows * columns,
        TOLERANCE,
        positions(shape),
        parityRows(shape),
        equations(shape, size));
  }

  private static List<Position> positions(Shape.Product shape) {
    List<Position> positions = new ArrayList<>();
    for (int r = 0; r < shape.rows(); r++) {
      for (int c = 0; c < shape.columns(); c++) {
        positions.add(new Position(shape.data(r, c), "D" + r + "." + c, PositionKind.DATA));
      }
    }
    for (int r = 0; r < shape.rows(); r++) {
      positions.add(new Position(shape.rowParity(r), "R" + r, PositionKind.ROW_PARITY));
    }
    for (int c = 0; c < shape.columns(); c++) {
      positions.add(new Position(shape.columnParity(c), "C" + c, PositionKind.COLUMN_PARITY));
    }
    positions.add(new Position(shape.global(), "G", PositionKind.GLOBAL_PARITY));
    return positions;
  }

  private static List<byte[]> parityRows(Shape.Product shape) {
    int data = shape.rows() * shape.columns();
    List<byte[]> parities = new ArrayList<>();
    for (int j = 0; j < shape.rows() + shape.columns() + 1; j++) {
      parities.add(new byte[data]);
    }
    for (int r = 0; r < shape.rows(); r++) {
      for (int c = 0; c < shape.columns(); c++) {
        int d = shape.data(r, c);
        parities.get(shape.rowParity(r) - data)[d] = 1;
        parities.get(shape.columnParity(c) - data)[d] = 1;
        parities.get(shape.global() - data)[d] = 1;
      }
    }
    return parities;
  }

  private static List<Equation> equations(Shape.Product shape, int size) {
    List<Equation> equations = new ArrayList<>();
    byte[] ofRowParities = new byte[size];
    byte[] ofColumnParities = new byte[size];
    for (int r = 0; r < shape.rows(); r++) {
      byte[] row = new byte[size];
      for (int c = 0; c < shape.columns(); c++) {
        row[shape.data(r, c)] = 1;
      }
      row[shape.rowParity(r)] = 1;
      ofRowParities[shape.rowParity(r)] = 1;
      equations.add(Equation.of(row));
    }
    for (int c = 0; c < shape.columns(); c++) {
      byte[] column = new byte[size];
      for (int r = 0; r < shape.rows(); r++) {
        column[shape.data(r, c)] = 1;
      }
      column[shape.columnParity(c)] = 1;
      ofColumnParities[shape.columnParity(c)] = 1;
      equations.add(Equation.of(column));
    }
    ofRowParities[shape.global()] = 1;
    ofColumnParities[shape.global()] = 1;
    equations.add(Equation.of(ofRowParities));
    equations.add(Equation.of(ofColumnParities));
    return equations;
  }
}
