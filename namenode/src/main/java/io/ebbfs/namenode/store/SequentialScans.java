package io.ebbfs.namenode.store;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;

/**
 * Scans that share one iterator per table. Scans of partitions that follow each other cost a step
 * each, and no search. They see a table as it is at the first scan of the table. Not thread-safe.
 */
final class SequentialScans implements AutoCloseable {
  /** Rows that are passed over before a search is cheaper. */
  private static final int MOST_STEPS = 4;

  private final Function<Table<?>, RocksIterator> open;
  private final Map<Table<?>, Position> positions = new HashMap<>();

  /**
   * @param open makes an iterator of a table
   */
  SequentialScans(Function<Table<?>, RocksIterator> open) {
    this.open = open;
  }

  <V extends MessageLite> List<Row<V>> scan(Table<V> table, byte[] from, byte[] to, int limit)
      throws RocksDBException {
    Position position = positions.computeIfAbsent(table, t -> new Position(open.apply(t)));
    List<Row<V>> rows = new ArrayList<>();
    position.moveTo(from);
    while (position.isBefore(to) && rows.size() < limit) {
      Key key = Key.decode(position.key);
      rows.add(new Row<>(key, table.parse(key, position.iterator.value())));
      position.next();
    }
    position.iterator.status();
    return rows;
  }

  /** Where an iterator is: there is no row from "empty" on, inclusive, up to its row. */
  private static final class Position {
    private final RocksIterator iterator;
    private byte[] empty;
    // Of the row; null at the end of the table, and before the first search.
    private byte[] key;

    Position(RocksIterator iterator) {
      this.iterator = iterator;
    }

    void moveTo(byte[] from) {
      if (empty != null && Arrays.compareUnsigned(empty, from) <= 0) {
        for (int steps = 0; isBefore(from); steps++) {
          if (steps == MOST_STEPS) {
            seek(from);
            return;
          }
          next();
        }
      } else {
        seek(from);
      }
    }

    private void seek(byte[] from) {
      iterator.seek(from);
      empty = from;
      key = iterator.isValid() ? iterator.key() : null;
    }

    void next() {
      empty = Arrays.copyOf(key, key.length + 1); // the first key behind it
      iterator.next();
      key = iterator.isValid() ? iterator.key() : null;
    }

    /**
     * @param end null for the end of the table
     */
    boolean isBefore(byte[] end) {
      return key != null && (end == null || Arrays.compareUnsigned(key, end) < 0);
    }
  }

  @Override
  public void close() {
    positions.values().forEach(position -> position.iterator.close());
  }
}
