package io.ebbfs.namenode.store;

import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;

/** Rows of any tables that were read in one round trip. */
public final class RowSet {
  // An empty Optional is a row that does not exist.
  private final Map<RowKey, Optional<? extends MessageLite>> rows;

  public RowSet(Map<RowKey, Optional<? extends MessageLite>> rows) {
    this.rows = rows;
  }

  /**
   * The row as it was read.
   *
   * @throws IllegalArgumentException if this row was not asked for
   */
  @SuppressWarnings("unchecked") // a row was read as its table's type
  public <V extends MessageLite> Optional<V> get(Table<V> table, Key key) {
    RowKey row = new RowKey(table, key);
    Optional<? extends MessageLite> found = rows.get(row);
    if (found == null) {
      throw new IllegalArgumentException(row + " was not read: name it in the call that reads");
    }
    return (Optional<V>) found;
  }
}
