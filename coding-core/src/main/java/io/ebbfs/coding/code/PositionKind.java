package io.ebbfs.coding.code;

/** What a position of a code holds. */
public enum PositionKind {
  DATA,
  /** Product codes: the sum of a row of data. Shared by the fast and the compact code. */
  ROW_PARITY,
  /** Product codes: the sum of a column of data. */
  COLUMN_PARITY,
  /** Locally repairable codes: the sum of a group of data. */
  LOCAL_PARITY,
  /** Covers all data. */
  GLOBAL_PARITY;

  public boolean isParity() {
    return this != DATA;
  }
}
