package io.ebbfs.namenode.store;

import java.security.SecureRandom;

/** The key of a row of any table. */
final class RowKey {
  private static final long SEED = new SecureRandom().nextLong();

  private final Table<?> table;
  private final Key key;
  private final int hash;

  RowKey(Table<?> table, Key key) {
    this.table = table;
    this.key = key;
    this.hash = key.hash(SEED + table.order());
  }

  Table<?> table() {
    return table;
  }

  Key key() {
    return key;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RowKey row
        && hash == row.hash
        && table == row.table
        && key.equals(row.key);
  }

  @Override
  public int hashCode() {
    return hash;
  }

  @Override
  public String toString() {
    return "row " + key + " of table '" + table.name() + "'";
  }
}
