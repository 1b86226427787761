package io.ebbfs.coding;

/** The parameters of a code, by family. */
public sealed interface Shape {
  /** Data in a grid, a parity for each row and each column, and one over everything. */
  record Product(int rows, int columns) implements Shape {
    /** Index of the data position at a row and a column. */
    public int data(int row, int column) {
      return row * columns + column;
    }

    public int rowParity(int row) {
      return rows * columns + row;
    }

    public int columnParity(int column) {
      return rows * columns + rows + column;
    }

    public int global() {
      return rows * columns + rows + columns;
    }
  }

  /** Data in equal groups, a parity for each group, and globals over everything. */
  record Lrc(int data, int groups, int globals) implements Shape {
    public int groupSize() {
      return data / groups;
    }

    public int localParity(int group) {
      return data + group;
    }

    public int global(int index) {
      return data + groups + index;
    }
  }

  /** Reed-Solomon: every parity over all data. */
  record Rs(int data, int parities) implements Shape {
    public int parity(int index) {
      return data + index;
    }
  }

  /** Parities over any of the data, as a user defines them; also a single sum. */
  record General(int data, int parities) implements Shape {}
}
