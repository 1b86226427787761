package io.ebbfs.namenode.store;

/** A row to lock: shared by many transactions, or exclusive to one. */
public record RowLock(Table<?> table, Key key, Mode mode) implements Comparable<RowLock> {
  /** Whether other transactions may hold the same row. */
  public enum Mode {
    SHARED,
    EXCLUSIVE
  }

  public static RowLock shared(Table<?> table, Key key) {
    return new RowLock(table, key, Mode.SHARED);
  }

  public static RowLock exclusive(Table<?> table, Key key) {
    return new RowLock(table, key, Mode.EXCLUSIVE);
  }

  /** The total order in which locks are taken: by table, then by key; the mode does not count. */
  @Override
  public int compareTo(RowLock other) {
    int byTable = Integer.compare(table.order(), other.table.order());
    return byTable != 0 ? byTable : key.compareTo(other.key);
  }
}
