package io.ebbfs.coding.code;

/**
 * The sizes that the name of a code gives, by family, and the indexes of its positions. Immutable.
 */
public sealed interface CodeParameters {
  /** A product code: data in a grid, a parity for each row and column, and one over all data. */
  record Product(int rows, int columns) implements CodeParameters {
    /** The position of the data block at a row and a column, both counted from 0. */
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

  /** A locally repairable code: equal groups of data, a parity for each group, and globals. */
  record Lrc(int data, int groups, int globals) implements CodeParameters {
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

  /** A Reed-Solomon code: every parity covers all data. */
  record Rs(int data, int parities) implements CodeParameters {
    public int parity(int index) {
      return data + index;
    }
  }

  /** A code whose parities cover any part of the data: a code of a user, or XOR(k,1). */
  record General(int data, int parities) implements CodeParameters {}
}
