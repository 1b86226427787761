package io.ebbfs.namenode.store;

import java.security.SecureRandom;

/** The key of a row of any table. */
public final class RowKey {
  private static final long SEED = new SecureRandom().nextLong();

  private final Table<?> table;
  private final Key key;
  private final int hash;

  public RowKey(Table<?> table, Key key) {
    this.table = table;
    this.key = key;
    this.hash = key.hash(SEED + table.order());
  }

  public Table<?> table() {
    return table;
  }

  public Key key() {
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
