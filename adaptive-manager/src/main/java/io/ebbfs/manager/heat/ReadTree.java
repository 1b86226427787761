package io.ebbfs.manager.heat;

import io.ebbfs.manager.config.HalfLives;
import io.ebbfs.manager.view.InodeListener;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongUnaryOperator;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * The reads of all files below each directory, kept up to date by each read, rename and delete: all
 * counts fade at the same pace, so the sum of counts is a count. A change of a file or of a whole
 * directory costs the depth of its path. Not thread-safe.
 *
 * <p>Column families; ids have 8 bytes, big-endian:
 *
 * <ul>
 *   <li>"directories": directory -> the directory that it counts for, 0 for none; the number of
 *       files and directories that count for it; the sum of their reads as in "heat".
 *   <li>"places": file -> the directory that it counts for.
 *   <li>"unplaced": file or directory -> nothing. The view has to be asked for its directory.
 * </ul>
 *
 * The invariant: the reads of a directory are the sum over the files and directories that count for
 * it, and a directory that nothing counts for has no row. Where a file counts follows the view: a
 * moment later, or after a crash, but the sums hold at any time.
 */
final class ReadTree {
  static final String DIRECTORIES = "directories";
  static final String PLACES = "places";
  static final String UNPLACED = "unplaced";

  /** The key of the default family that exists while the first files are being placed. */
  private static final byte[] PLACING = "placing".getBytes(StandardCharsets.UTF_8);

  private static final long NOWHERE = InodeListener.NO_INODE;
  private static final byte[] NOTHING = new byte[0];

  private final RocksDB db;
  private final ColumnFamilyHandle heat;
  private final ColumnFamilyHandle directories;
  private final ColumnFamilyHandle places;
  private final ColumnFamilyHandle unplaced;
  // False only if "unplaced" has no row.
  private boolean mayBeUnplaced = true;
  // Where the search for unplaced ones goes on.
  private long placeFrom;
  // Where the next check begins.
  private long checkFiles;
  private long checkDirectories;

  ReadTree(RocksDB db, ColumnFamilyHandle heat, List<ColumnFamilyHandle> families) {
    this.db = db;
    this.heat = heat;
    this.directories = families.get(0);
    this.places = families.get(1);
    this.unplaced = families.get(2);
  }

  /** Forgets all directories, until each file is placed again. */
  void clear() throws RocksDBException {
    try (WriteOptions write = new WriteOptions()) {
      db.put(write, PLACING, NOTHING);
    }
    for (ColumnFamilyHandle family : List.of(directories, places, unplaced)) {
      db.deleteRange(family, NOTHING, key(-1));
    }
  }

  /** Lets {@link #placeSome} ask for the directory of an inode. */
  void placeLater(WriteBatch batch, long id) throws RocksDBException {
    batch.put(unplaced, key(id), NOTHING);
    mayBeUnplaced = true;
  }

  /** Whether each file that was read counts for its directory, but for those of the last moment. */
  boolean isWhole() throws RocksDBException {
    return db.get(PLACING) == null;
  }

  /** The reads of all files below a directory. */
  Reads of(long directory) throws RocksDBException {
    byte[] row = db.get(directories, key(directory));
    return row == null ? Reads.NONE : Directory.decode(row).reads;
  }

  /** The directory that a file or directory counts for; 0 for none. */
  long placeOf(long id) throws RocksDBException {
    byte[] place = db.get(places, key(id));
    if (place != null) {
      return ByteBuffer.wrap(place).getLong();
    }
    byte[] row = db.get(directories, key(id));
    return row == null ? NOWHERE : Directory.decode(row).parent;
  }

  Change change(WriteBatch batch, HalfLives halfLives) {
    return new Change(batch, halfLives);
  }

  /**
   * Places inodes that are not placed yet: so many at most.
   *
   * @return whether there are more of them
   */
  boolean placeSome(WriteBatch batch, HalfLives halfLives, int most, LongUnaryOperator directoryOf)
      throws RocksDBException {
    if (!mayBeUnplaced) {
      return false;
    }
    List<Long> ids = nextUnplaced(most);
    Change change = change(batch, halfLives);
    for (long id : ids) {
      batch.delete(unplaced, key(id));
      change.move(id, directoryOf.applyAsLong(id), directoryOf);
    }
    change.end();
    if (ids.isEmpty()) {
      batch.delete(PLACING);
      mayBeUnplaced = false;
    }
    return mayBeUnplaced;
  }

  /** From where the call before has ended, so that rows that are deleted are passed over once. */
  private List<Long> nextUnplaced(int most) {
    List<Long> ids = new ArrayList<>();
    try (RocksIterator iterator = db.newIterator(unplaced)) {
      iterator.seek(key(placeFrom));
      if (!iterator.isValid()) {
        iterator.seekToFirst();
      }
      for (; iterator.isValid() && ids.size() < most; iterator.next()) {
        ids.add(ByteBuffer.wrap(iterator.key()).getLong());
      }
      placeFrom = iterator.isValid() ? ByteBuffer.wrap(iterator.key()).getLong() : 0;
    }
    return ids;
  }

  /**
   * Has the directories of some files and directories asked for again, the next ones with each
   * call: so a place that is wrong because the machine has lost power does not stay wrong.
   */
  void checkSome(WriteBatch batch, int most) throws RocksDBException {
    checkFiles = check(batch, places, checkFiles, most);
    checkDirectories = check(batch, directories, checkDirectories, most);
  }

  private long check(WriteBatch batch, ColumnFamilyHandle family, long from, int most)
      throws RocksDBException {
    try (RocksIterator iterator = db.newIterator(family)) {
      iterator.seek(key(from));
      for (int looked = 0; iterator.isValid() && looked < most; iterator.next(), looked++) {
        placeLater(batch, ByteBuffer.wrap(iterator.key()).getLong());
      }
      return iterator.isValid() ? ByteBuffer.wrap(iterator.key()).getLong() : 0;
    }
  }

  /** A row of "directories". */
  private static final class Directory {
    long parent;
    long entries;
    Reads reads = Reads.NONE;

    static Directory decode(byte[] value) {
      ByteBuffer buffer = ByteBuffer.wrap(value);
      Directory row = new Directory();
      row.parent = buffer.getLong();
      row.entries = buffer.getLong();
      row.reads = Reads.decode(buffer);
      return row;
    }

    byte[] encoded() {
      return reads
          .encodeTo(ByteBuffer.allocate(16 + Reads.BYTES).putLong(parent).putLong(entries))
          .array();
    }
  }

  /** One change of the tree. It reads what it has written itself, and ends with {@link #end}. */
  final class Change {
    private final WriteBatch batch;
    private final HalfLives halfLives;
    // Rows that were read or changed; null for one that does not exist, or does not any more.
    private final Map<Long, Directory> rows = new HashMap<>();
    private final Set<Long> changed = new HashSet<>();

    private Change(WriteBatch batch, HalfLives halfLives) {
      this.batch = batch;
      this.halfLives = halfLives;
    }

    /** A file was read. */
    void add(long fileId, Reads added) throws RocksDBException {
      byte[] place = db.get(places, key(fileId));
      if (place == null) {
        placeLater(batch, fileId);
      } else {
        addUp(ByteBuffer.wrap(place).getLong(), added, 1);
      }
    }

    /** The count of a file is dropped. */
    void leave(long fileId, Reads reads) throws RocksDBException {
      byte[] place = db.get(places, key(fileId));
      if (place != null) {
        batch.delete(places, key(fileId));
        leaveDirectory(ByteBuffer.wrap(place).getLong(), reads);
      }
    }

    /**
     * Lets a file or directory count for another directory.
     *
     * @param directory 0 for none
     * @param directoryOf asks the view for the directory of a directory
     */
    void move(long id, long directory, LongUnaryOperator directoryOf) throws RocksDBException {
      byte[] reads = db.get(heat, key(id));
      if (reads != null) {
        moveFile(id, Reads.decode(reads), directory, directoryOf);
      } else {
        moveDirectory(id, directory, directoryOf);
      }
    }

    private void moveFile(long id, Reads reads, long directory, LongUnaryOperator directoryOf)
        throws RocksDBException {
      byte[] place = db.get(places, key(id));
      if (place != null && ByteBuffer.wrap(place).getLong() == directory) {
        return;
      }
      leave(id, reads);
      if (directory != NOWHERE) {
        enterDirectory(directory, reads, directoryOf);
        batch.put(places, key(id), key(directory));
      }
    }

    private void moveDirectory(long id, long directory, LongUnaryOperator directoryOf)
        throws RocksDBException {
      Directory row = row(id);
      if (row == null || row.parent == directory) {
        return;
      }
      changed.add(id);
      long before = row.parent;
      row.parent = NOWHERE;
      if (before != NOWHERE) {
        leaveDirectory(before, row.reads);
      }
      attach(id, row, directory, directoryOf);
    }

    /**
     * Lets a directory that counts for none count for another one. While several renames become
     * known one after the other, the other one may lie below it: then it waits.
     */
    private void attach(long id, Directory row, long directory, LongUnaryOperator directoryOf)
        throws RocksDBException {
      if (directory == NOWHERE) {
        return;
      }
      // First, as it makes the rows above the directory.
      rowOrNew(directory, directoryOf);
      if (isAtOrBelow(directory, id)) {
        dropIfEmpty(directory);
        placeLater(batch, id);
        return;
      }
      row.parent = directory;
      enterDirectory(directory, row.reads, directoryOf);
    }

    private boolean isAtOrBelow(long directory, long other) throws RocksDBException {
      for (long at = directory; at != NOWHERE; at = row(at).parent) {
        if (at == other) {
          return true;
        }
      }
      return false;
    }

    private void enterDirectory(long directory, Reads reads, LongUnaryOperator directoryOf)
        throws RocksDBException {
      rowOrNew(directory, directoryOf).entries++;
      addUp(directory, reads, 1);
    }

    private void leaveDirectory(long directory, Reads reads) throws RocksDBException {
      row(directory).entries--;
      addUp(directory, reads, -1);
      dropIfEmpty(directory);
    }

    private void addUp(long directory, Reads reads, int sign) throws RocksDBException {
      for (long at = directory; at != NOWHERE; ) {
        Directory row = row(at);
        row.reads = row.reads.plus(reads, halfLives, sign);
        changed.add(at);
        at = row.parent;
      }
    }

    /** The reads that an empty directory still has are errors of rounding. */
    private void dropIfEmpty(long directory) throws RocksDBException {
      Directory row = row(directory);
      if (row.entries == 0) {
        rows.put(directory, null);
        changed.add(directory);
        if (row.parent != NOWHERE) {
          leaveDirectory(row.parent, row.reads);
        }
      }
    }

    private Directory rowOrNew(long id, LongUnaryOperator directoryOf) throws RocksDBException {
      Directory row = row(id);
      if (row == null) {
        row = new Directory();
        rows.put(id, row);
        attach(id, row, directoryOf.applyAsLong(id), directoryOf);
        changed.add(id);
        rows.put(id, row); // a circle of renames that are half known may have dropped it
      }
      return row;
    }

    private Directory row(long id) throws RocksDBException {
      if (!rows.containsKey(id)) {
        byte[] value = db.get(directories, key(id));
        rows.put(id, value == null ? null : Directory.decode(value));
      }
      return rows.get(id);
    }

    /** Puts what has changed into the batch. */
    void end() throws RocksDBException {
      for (long id : changed) {
        Directory row = rows.get(id);
        if (row == null) {
          batch.delete(directories, key(id));
        } else {
          batch.put(directories, key(id), row.encoded());
        }
      }
    }
  }

  private static byte[] key(long value) {
    return ByteBuffer.allocate(8).putLong(value).array();
  }
}
