package io.ebbfs.manager.heat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongPredicate;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;
import org.rocksdb.WriteBatch;

/**
 * The files in the order of their decayed reads, in a column family: rank, file id (8 bytes each,
 * big-endian, the sign of the rank flipped) -> nothing.
 *
 * <p>All counts fade at the same pace, so their order does not change with time: a count c of time
 * t has the rank log2(c) + t / half-life for ever. Ranks are rounded down to eighths, so two files
 * of one rank differ by less than 9%, and a file that is read steadily moves eight times in a
 * half-life, however often it is read. Not thread-safe.
 */
final class ReadIndex {
  private static final int STEPS = 8;

  /** A file that is not listed has at most so many times the reads of one that is. */
  static final double MOST_ABOVE = Math.pow(2, 1.0 / STEPS);

  private static final byte[] NOTHING = new byte[0];

  private final RocksDB db;
  private final ColumnFamilyHandle family;
  private long visited;

  ReadIndex(RocksDB db, ColumnFamilyHandle family) {
    this.db = db;
    this.family = family;
  }

  /** The rank of a count, which is the same at any time. */
  static long rank(Decay reads, long halfLifeMillis) {
    return rank(reads.count(), reads.atMillis(), halfLifeMillis);
  }

  private static long rank(double count, long atMillis, long halfLifeMillis) {
    double log = Math.log(count) / Math.log(2);
    return (long) Math.floor(STEPS * (log + (double) atMillis / halfLifeMillis));
  }

  /** Moves a file from its old count, {@link Decay#NONE} for none, to a new one. */
  void move(WriteBatch batch, long fileId, Decay from, Decay to, long halfLifeMillis)
      throws RocksDBException {
    long before = rank(from, halfLifeMillis);
    long after = rank(to, halfLifeMillis);
    if (from.count() > 0 && (to.count() <= 0 || before != after)) {
      batch.delete(family, key(before, fileId));
    }
    if (to.count() > 0 && (from.count() <= 0 || before != after)) {
      batch.put(family, key(after, fileId), NOTHING);
    }
  }

  /**
   * The files of the highest ranks.
   *
   * @param mostRows that are visited
   * @param wanted the other files are passed over
   */
  List<Long> most(int limit, long mostRows, LongPredicate wanted) {
    List<Long> ids = new ArrayList<>();
    long rows = 0;
    try (RocksIterator iterator = db.newIterator(family)) {
      for (iterator.seekToLast();
          iterator.isValid() && ids.size() < limit && rows < mostRows;
          iterator.prev(), rows++) {
        long id = ByteBuffer.wrap(iterator.key()).getLong(8);
        if (wanted.test(id)) {
          ids.add(id);
        }
      }
    }
    visited += rows;
    return ids;
  }

  /** Visits the files with fewer than so many reads at a time, the coldest first; false stops. */
  void eachBelow(double count, long atMillis, long halfLifeMillis, LongPredicate visit) {
    byte[] end = key(rank(count, atMillis, halfLifeMillis) + 1, 0);
    try (Slice upper = new Slice(end);
        ReadOptions read = new ReadOptions().setIterateUpperBound(upper);
        RocksIterator iterator = db.newIterator(family, read)) {
      iterator.seekToFirst();
      while (iterator.isValid() && visit.test(ByteBuffer.wrap(iterator.key()).getLong(8))) {
        visited++;
        iterator.next();
      }
    }
  }

  void clear() throws RocksDBException {
    db.deleteRange(family, NOTHING, key(Long.MAX_VALUE, -1));
  }

  /** How many rows scans have visited. */
  long visited() {
    return visited;
  }

  private static byte[] key(long rank, long fileId) {
    return ByteBuffer.allocate(16).putLong(rank ^ Long.MIN_VALUE).putLong(fileId).array();
  }
}
