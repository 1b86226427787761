package io.ebbfs.manager.view;

import io.ebbfs.protocol.proto.ManagerProtos.ViewInodeRow;
import io.ebbfs.protocol.proto.ManagerProtos.ViewPositionRow;
import io.ebbfs.protocol.proto.ManagerProtos.ViewStripeRow;
import io.ebbfs.protocol.proto.ManagerProtos.ViewSumsRow;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.apache.hadoop.thirdparty.protobuf.InvalidProtocolBufferException;
import org.apache.hadoop.thirdparty.protobuf.Parser;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompressionType;
import org.rocksdb.DBOptions;
import org.rocksdb.FlushOptions;
import org.rocksdb.IndexType;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The rows of the {@link NamespaceView}, in a RocksDB of its own without a log: all column families
 * are flushed together, so after a crash the rows and the position in the change stream are those
 * of one earlier moment, and the view follows the stream from there.
 *
 * <p>Column families: "default" ("position" -> ViewPositionRow, "sums" -> ViewSumsRow, "format",
 * "reading" and "lastSorting" -> their numbers), "inode" (id -> ViewInodeRow), "entry" (parent id,
 * name, 0, id -> nothing), "name" (name, 0, id -> nothing), "stripe" (id -> ViewStripeRow), "due"
 * (policy, 0, modified ms, file id -> length: files that have to be encoded), "fast" (policy, 0,
 * group, stripe id -> nothing: stripes in the fast code of their policy), "worn" (policy, 0, price,
 * stripe id -> nothing: stripes with space to free, the price in thousandths), "pinned" (policy, 0,
 * 0, stripe id -> nothing: stripes that are not in the code that they are pinned to), "spread"
 * (directory id -> name, 0, id: directories whose entries, from the one behind this name on, may
 * not have the path and the pin yet that hold for them). Before the name of a policy stands the
 * number of a {@link Sorting} and a slash. Ids have 8 bytes, big-endian. Not thread-safe but for
 * {@link #committed}. All methods may throw UncheckedIOException.
 */
final class ViewStore implements AutoCloseable {
  /** Key and value of a row in an index; return false to stop. */
  @FunctionalInterface
  interface RowVisitor {
    boolean visit(byte[] key, byte[] value);
  }

  private static final Logger LOG = LoggerFactory.getLogger(ViewStore.class);
  private static final List<String> FAMILIES =
      List.of(
          "default", "inode", "entry", "name", "stripe", "due", "fast", "worn", "other", "pinned",
          "spread");
  private static final byte[] POSITION = utf8("position");
  private static final byte[] SUMS = utf8("sums");
  private static final byte[] READING = utf8("reading");
  private static final byte[] LAST_SORTING = utf8("lastSorting");
  private static final byte[] FORMAT = utf8("format");

  /**
   * 2: rows of files have the owner and the group. 3: rows of files have the replication, and rows
   * of stripes the files that are to leave them.
   */
  private static final long THIS_FORMAT = 3;

  private static final byte[] NOTHING = new byte[0];

  /** Behind all names. */
  private static final byte[] END = {(byte) 0xff};

  /** Less than a write buffer: so RocksDB does not write one in the middle of a change. */
  private static final long FLUSH_BYTES = 12L << 20;

  /** What to pass for the first page of names. */
  static final byte[] FROM_START = NOTHING;

  private static final long CACHE_BYTES = 64L << 20;

  /**
   * All files stay open. RocksDB shares the limit among 64 parts of its table of open files: with
   * 256, five files that lie in one part and are read in turn would be opened anew, and the index
   * and filter of each read, for each read of a row.
   */
  private static final int MOST_OPEN_FILES = 32_768;

  /** Few shards: a block of an index or a filter takes a small part of its shard. */
  private static final int CACHE_SHARD_BITS = 2;

  private static final int BATCH_BYTES = 1 << 20;

  private final Path directory;
  private final RocksDB db;
  private final List<ColumnFamilyHandle> handles;
  private final List<AutoCloseable> resources;
  private final WriteOptions write = new WriteOptions().setDisableWAL(true);
  private final WriteBatch batch = new WriteBatch();
  // Whether the sums in the database agree with its rows and with the batch.
  private boolean settled;
  private long unflushedBytes;
  private final LongAdder visited = new LongAdder();
  private final ReadWriteLock closing = new ReentrantReadWriteLock();
  private final Reader committed = new Reader();
  private volatile boolean closed;

  static {
    RocksDB.loadLibrary();
  }

  private ViewStore(
      Path directory, RocksDB db, List<ColumnFamilyHandle> handles, List<AutoCloseable> resources) {
    this.directory = directory;
    this.db = db;
    this.handles = handles;
    this.resources = resources;
  }

  /**
   * @throws IOException if the directory cannot be used: held by another process, corrupt, full
   */
  static ViewStore open(Path directory) throws IOException {
    Files.createDirectories(directory);
    dropOtherVersion(directory);
    LRUCache cache = new LRUCache(CACHE_BYTES, CACHE_SHARD_BITS);
    BloomFilter bloom = new BloomFilter(10);
    ColumnFamilyOptions familyOptions =
        new ColumnFamilyOptions()
            .setWriteBufferSize(32 << 20)
            .setCompressionType(CompressionType.LZ4_COMPRESSION)
            .setTableFormatConfig(
                new BlockBasedTableConfig()
                    .setBlockCache(cache)
                    .setCacheIndexAndFilterBlocks(true)
                    // In parts: else each point read may read the filter of a whole file.
                    .setIndexType(IndexType.kTwoLevelIndexSearch)
                    .setPartitionFilters(true)
                    .setPinTopLevelIndexAndFilter(true)
                    .setFilterPolicy(bloom));
    DBOptions options =
        new DBOptions()
            .setCreateIfMissing(true)
            .setCreateMissingColumnFamilies(true)
            .setAtomicFlush(true)
            .setMaxOpenFiles(MOST_OPEN_FILES)
            .setKeepLogFileNum(2);
    List<ColumnFamilyDescriptor> descriptors = new ArrayList<>();
    for (String name : FAMILIES) {
      descriptors.add(new ColumnFamilyDescriptor(utf8(name), familyOptions));
    }
    List<ColumnFamilyHandle> handles = new ArrayList<>();
    try {
      RocksDB db = RocksDB.open(options, directory.toString(), descriptors, handles);
      ViewStore store =
          new ViewStore(directory, db, handles, List.of(familyOptions, options, cache, bloom));
      store.forgetPositionOfEarlierVersion();
      return store;
    } catch (RocksDBException e) {
      familyOptions.close();
      options.close();
      cache.close();
      bloom.close();
      throw new IOException(
          "The manager's view "
              + directory
              + " cannot be opened ("
              + e.getMessage()
              + "); stop the process that holds it, or delete the directory: the manager then reads"
              + " all files from the namenode",
          e);
    }
  }

  /** A view of an earlier version is read anew from the namenode. */
  private static void dropOtherVersion(Path directory) throws IOException {
    try (Options options = new Options()) {
      List<byte[]> found = RocksDB.listColumnFamilies(options, directory.toString());
      List<String> names =
          found.stream().map(name -> new String(name, StandardCharsets.UTF_8)).toList();
      if (!names.isEmpty() && !Set.copyOf(names).equals(Set.copyOf(FAMILIES))) {
        LOG.info("{} is of an earlier version: all files are read anew", directory);
        RocksDB.destroyDB(directory.toString(), options);
      }
    } catch (RocksDBException e) {
      throw new IOException(
          "The manager's view %s cannot be read (%s); delete the directory: the manager then reads all files from the namenode"
              .formatted(directory, e.getMessage()),
          e);
    }
  }

  // ---- rows -------------------------------------------------------------------------------------

  /** Whether there is neither an inode nor a stripe. */
  boolean isEmpty() {
    boolean[] empty = {true};
    for (ColumnFamilyHandle family : List.of(inodes(), stripes())) {
      each(family, NOTHING, NOTHING, (key, value) -> empty[0] = false);
    }
    return empty[0];
  }

  /** Null if there is none. */
  ViewInodeRow inode(long id) {
    return get(inodes(), key(id), ViewInodeRow.parser());
  }

  void putInode(long id, ViewInodeRow row) {
    put(inodes(), key(id), row.toByteArray());
  }

  void deleteInode(long id) {
    delete(inodes(), key(id));
  }

  /** Visits the inodes behind an id; the visit may write. */
  void eachInode(long after, Predicate<ViewInodeRow> visit) {
    each(
        inodes(),
        key(after + 1),
        NOTHING,
        (key, value) -> visit.test(parse(value, ViewInodeRow.parser())));
  }

  /** An inode, whose row is read only if it is asked for; return false to stop. */
  @FunctionalInterface
  interface InodeVisitor {
    boolean visit(long id, Supplier<ViewInodeRow> row);
  }

  void putEntry(long parent, String name, long id) {
    put(entries(), entryKey(parent, name, id), NOTHING);
    put(names(), nameKey(name, id), NOTHING);
  }

  void deleteEntry(long parent, String name, long id) {
    delete(entries(), entryKey(parent, name, id));
    delete(names(), nameKey(name, id));
  }

  /**
   * A name and its inode; return false to stop.
   *
   * <p>"rest" is the position after this name: pass it on to continue there.
   */
  @FunctionalInterface
  interface NameVisitor {
    boolean visit(byte[] rest, long id);
  }

  /** Visits the entries of a directory whose names begin with a prefix, in order. */
  void eachEntry(long parent, byte[] namePrefix, byte[] after, NameVisitor visitor) {
    commit();
    committed.eachEntry(parent, namePrefix, after, visitor);
  }

  /** The prefix of this name and of no longer one. */
  static byte[] exactly(String name) {
    return concat(utf8(name), new byte[1]);
  }

  // ---- directories whose paths and pins spread ----------------------------------------------

  void putSpread(long directory, byte[] after) {
    put(spread(), key(directory), after);
  }

  void deleteSpread(long directory) {
    delete(spread(), key(directory));
  }

  /**
   * A directory whose path and pin spread.
   *
   * @param after the position in {@link #eachEntry} up to which the entries have them
   */
  record Spread(long directory, byte[] after) {}

  /** The first one of a directory with at least this id; null if there is none. */
  Spread nextSpread(long fromDirectory) {
    Spread[] next = {null};
    each(
        spread(),
        key(fromDirectory),
        NOTHING,
        (key, value) -> {
          next[0] = new Spread(lastLong(key, 0), value);
          return false;
        });
    return next[0];
  }

  // ---- stripes ------------------------------------------------------------------------------

  /** Null if there is none. */
  ViewStripeRow stripe(long id) {
    return get(stripes(), key(id), ViewStripeRow.parser());
  }

  void putStripe(long id, ViewStripeRow row) {
    put(stripes(), key(id), row.toByteArray());
  }

  void deleteStripe(long id) {
    delete(stripes(), key(id));
  }

  /** Visits the stripes behind an id; the visit may write. */
  void eachStripe(long after, Predicate<ViewStripeRow> visit) {
    each(
        stripes(),
        key(after + 1),
        NOTHING,
        (key, value) -> visit.test(parse(value, ViewStripeRow.parser())));
  }

  // ---- indexes ----------------------------------------------------------------------------------

  void putDue(String policy, long modifiedMillis, long fileId, long lengthBytes) {
    put(due(), policyKey(policy, modifiedMillis, fileId), key(lengthBytes));
  }

  void deleteDue(String policy, long modifiedMillis, long fileId) {
    delete(due(), policyKey(policy, modifiedMillis, fileId));
  }

  /** A file that has to be encoded; return false to stop. */
  @FunctionalInterface
  interface DueVisitor {
    boolean visit(long modifiedMillis, long fileId, long lengthBytes);
  }

  /**
   * Visits the files of a policy that have to be encoded and are newer than a time, oldest first.
   */
  void eachDue(String policy, long newerThanMillis, DueVisitor visitor) {
    eachDueFrom(policy, newerThanMillis + 1, 0, visitor);
  }

  /**
   * Visits the files of a policy that have to be encoded from this one on, oldest first, and those
   * of one time by their ids.
   */
  void eachDueFrom(String policy, long modifiedMillis, long fileId, DueVisitor visitor) {
    each(
        due(),
        policyKey(policy, modifiedMillis, fileId),
        policyPrefix(policy),
        (key, value) ->
            visitor.visit(lastLong(key, 1), lastLong(key, 0), ByteBuffer.wrap(value).getLong()));
  }

  /** An index of stripes by policy and group. */
  enum StripeIndex {
    /** In the fast code of their policy. */
    FAST(6),
    /** In a code that their policy does not name. */
    OTHER_CODE(8);

    private final int handle;

    StripeIndex(int handle) {
      this.handle = handle;
    }
  }

  void putStripe(StripeIndex index, String policy, long group, long stripeId) {
    put(handles.get(index.handle), policyKey(policy, group, stripeId), NOTHING);
  }

  void deleteStripe(StripeIndex index, String policy, long group, long stripeId) {
    delete(handles.get(index.handle), policyKey(policy, group, stripeId));
  }

  /** A stripe and its group; return false to stop. */
  @FunctionalInterface
  interface StripeVisitor {
    boolean visit(long group, long stripeId);
  }

  /** Visits stripes of a policy from a group on, a group after the other. */
  void eachStripe(StripeIndex index, String policy, long fromGroup, StripeVisitor visitor) {
    each(
        handles.get(index.handle),
        policyKey(policy, fromGroup, 0),
        policyPrefix(policy),
        (key, value) -> visitor.visit(lastLong(key, 1), lastLong(key, 0)));
  }

  void putWorn(String policy, long price, long stripeId) {
    put(worn(), policyKey(policy, price, stripeId), NOTHING);
  }

  void deleteWorn(String policy, long price, long stripeId) {
    delete(worn(), policyKey(policy, price, stripeId));
  }

  /** The first stripes of a policy with space to free, the cheapest first. */
  List<Long> worn(String policy, int most) {
    List<Long> ids = new ArrayList<>();
    each(
        worn(),
        policyPrefix(policy),
        policyPrefix(policy),
        (key, value) -> ids.size() < most && ids.add(lastLong(key, 0)));
    return ids;
  }

  void putPinned(String policy, long stripeId) {
    put(pinned(), policyKey(policy, 0, stripeId), NOTHING);
  }

  void deletePinned(String policy, long stripeId) {
    delete(pinned(), policyKey(policy, 0, stripeId));
  }

  /** Visits the stripes of a policy that are not in the code of their pin, behind an id. */
  void eachPinned(String policy, long afterId, Predicate<Long> visit) {
    each(
        pinned(),
        policyKey(policy, 0, afterId + 1),
        policyPrefix(policy),
        (key, value) -> visit.test(lastLong(key, 0)));
  }

  /** What the names of policies begin with in the indexes of a sorting. */
  static String prefixOf(long sorting) {
    return sorting + "/";
  }

  /** Drops the indexes of one sorting. */
  void dropSorting(long sorting) {
    byte[] prefix = utf8(prefixOf(sorting));
    dropIndexes(prefix, successor(prefix));
  }

  /** Drops the indexes of all sortings but one, or of all if the number is negative. */
  void dropSortingsBut(long sorting) {
    if (sorting < 0) {
      dropIndexes(NOTHING, END);
      return;
    }
    byte[] prefix = utf8(prefixOf(sorting));
    dropIndexes(NOTHING, prefix);
    dropIndexes(successor(prefix), END);
  }

  private void dropIndexes(byte[] from, byte[] to) {
    ensureOpen();
    try {
      unsettle();
      commit();
      for (ColumnFamilyHandle family :
          List.of(due(), handles.get(6), worn(), handles.get(8), pinned())) {
        db.deleteRange(family, write, from, to);
      }
    } catch (RocksDBException e) {
      throw failure(e);
    }
  }

  // ---- numbers and sums -------------------------------------------------------------------------

  /** The number of the last reading of everything; 2^32 if only an earlier version knows it. */
  long reading() {
    return number(READING, 1L << 32);
  }

  void putReading(long reading) {
    put(handles.get(0), READING, key(reading));
  }

  /** The number of the last sorting that was begun; 0 for none. */
  long lastSorting() {
    return number(LAST_SORTING, 0);
  }

  void putLastSorting(long number) {
    put(handles.get(0), LAST_SORTING, key(number));
  }

  private long number(byte[] name, long otherwise) {
    commit();
    try {
      byte[] value = db.get(handles.get(0), name);
      return value == null ? otherwise : ByteBuffer.wrap(value).getLong();
    } catch (RocksDBException e) {
      throw failure(e);
    }
  }

  /** The sums, if they agree with all rows; else null. */
  ViewSumsRow sums() {
    ViewSumsRow row = get(handles.get(0), SUMS, ViewSumsRow.parser());
    settled = row != null;
    return row;
  }

  /**
   * Commits, with sums that agree with all rows. Now and then the rows go to the disk: a process
   * that is killed finds a moment there at which the sums agreed with the rows, unless one change
   * was so large that RocksDB had to write in the middle of it.
   *
   * @param sums gives null if there are none
   */
  void settle(Supplier<ViewSumsRow> sums) {
    ViewSumsRow row = settled ? null : sums.get();
    if (row != null) {
      put(handles.get(0), SUMS, row.toByteArray());
      settled = true;
    }
    commit();
    if (unflushedBytes > FLUSH_BYTES) {
      flush();
    }
  }

  private void flush() {
    try (FlushOptions options = new FlushOptions().setWaitForFlush(false)) {
      db.flush(options, handles);
      unflushedBytes = 0;
    } catch (RocksDBException e) {
      throw failure(e);
    }
  }

  /** The first change after the sums were written makes them wrong. */
  private void unsettle() throws RocksDBException {
    if (settled) {
      settled = false;
      batch.delete(handles.get(0), SUMS);
    }
  }

  /** How many rows were read or visited since the view was opened. */
  long visited() {
    return visited.sum();
  }

  // ---- the position -----------------------------------------------------------------------------

  /** Null if the view was never filled. */
  ViewPositionRow position() {
    return get(handles.get(0), POSITION, ViewPositionRow.parser());
  }

  void putPosition(ViewPositionRow position) {
    put(handles.get(0), POSITION, position.toByteArray());
  }

  /**
   * Forgets the position if an earlier version has filled the view, whose rows lack what this
   * version reads: everything is then read anew.
   */
  private void forgetPositionOfEarlierVersion() throws RocksDBException {
    byte[] format = db.get(handles.get(0), FORMAT);
    if (format == null || ByteBuffer.wrap(format).getLong() != THIS_FORMAT) {
      delete(handles.get(0), POSITION);
      put(handles.get(0), FORMAT, key(THIS_FORMAT));
      commit();
    }
  }

  // ---- readers beside the writer ------------------------------------------------------------

  /** Reads what is committed. */
  Reader committed() {
    return committed;
  }

  /** Reads committed rows while another thread writes. Thread-safe. */
  final class Reader {
    private Reader() {}

    /** Null if there is none. */
    ViewInodeRow inode(long id) {
      return read(inodes(), key(id), ViewInodeRow.parser());
    }

    /** Null if there is none. */
    ViewStripeRow stripe(long id) {
      return read(stripes(), key(id), ViewStripeRow.parser());
    }

    /** Visits the inodes behind an id. */
    void eachInodeId(long after, InodeVisitor visitor) {
      visitRows(
          inodes(),
          key(after + 1),
          NOTHING,
          (key, value) ->
              visitor.visit(lastLong(key, 0), () -> parse(value, ViewInodeRow.parser())));
    }

    /** Visits the stripes behind an id. */
    void eachStripe(long after, Predicate<ViewStripeRow> visit) {
      visitRows(
          stripes(),
          key(after + 1),
          NOTHING,
          (key, value) -> visit.test(parse(value, ViewStripeRow.parser())));
    }

    /** Visits the entries of a directory whose names begin with a prefix, in order. */
    void eachEntry(long parent, byte[] namePrefix, byte[] after, NameVisitor visitor) {
      byte[] prefix = concat(key(parent), namePrefix);
      byte[] from = after.length == 0 ? prefix : concat(key(parent), after, new byte[1]);
      visitRows(
          entries(),
          from,
          prefix,
          (key, value) -> visitor.visit(Arrays.copyOfRange(key, 8, key.length), lastLong(key, 0)));
    }

    /** Visits the names of the whole namespace that begin with a prefix, in order. */
    void eachNamed(byte[] namePrefix, byte[] after, NameVisitor visitor) {
      byte[] from = after.length == 0 ? namePrefix : concat(after, new byte[1]);
      visitRows(names(), from, namePrefix, (key, value) -> visitor.visit(key, lastLong(key, 0)));
    }
  }

  // ---- the database -----------------------------------------------------------------------------

  /**
   * A thread that has not stopped in time must not touch a closed database: that ends the process.
   */
  private void ensureOpen() {
    if (closed) {
      throw new IllegalStateException("the manager's view is closed");
    }
  }

  private <V> V get(ColumnFamilyHandle family, byte[] key, Parser<V> parser) {
    commit();
    return read(family, key, parser);
  }

  /** The database is not closed meanwhile. */
  private <V> V read(ColumnFamilyHandle family, byte[] key, Parser<V> parser) {
    closing.readLock().lock();
    try {
      ensureOpen();
      visited.increment();
      byte[] value = db.get(family, key);
      return value == null ? null : parse(value, parser);
    } catch (RocksDBException e) {
      throw failure(e);
    } finally {
      closing.readLock().unlock();
    }
  }

  private <V> V parse(byte[] value, Parser<V> parser) {
    try {
      return parser.parseFrom(value);
    } catch (InvalidProtocolBufferException e) {
      throw failure(e);
    }
  }

  private void put(ColumnFamilyHandle family, byte[] key, byte[] value) {
    ensureOpen();
    try {
      unsettle();
      batch.put(family, key, value);
      commitIfLong();
    } catch (RocksDBException e) {
      throw failure(e);
    }
  }

  private void delete(ColumnFamilyHandle family, byte[] key) {
    ensureOpen();
    try {
      unsettle();
      batch.delete(family, key);
      commitIfLong();
    } catch (RocksDBException e) {
      throw failure(e);
    }
  }

  private void commitIfLong() {
    if (batch.getDataSize() > BATCH_BYTES) {
      commit();
    }
  }

  /** Writes what was put and deleted. Reads do so themselves. */
  void commit() {
    ensureOpen();
    if (batch.count() == 0) {
      return;
    }
    try {
      db.write(write, batch);
      unflushedBytes += batch.getDataSize();
      batch.clear();
    } catch (RocksDBException e) {
      throw failure(e);
    }
  }

  /** Visits the rows from a key on that begin with a prefix, as they are before the visits. */
  private void each(ColumnFamilyHandle family, byte[] from, byte[] prefix, RowVisitor visitor) {
    commit();
    visitRows(family, from, prefix, visitor);
  }

  /** Visits committed rows alone. The database stays open until the visit ends. */
  private void visitRows(
      ColumnFamilyHandle family, byte[] from, byte[] prefix, RowVisitor visitor) {
    byte[] end = successor(prefix);
    closing.readLock().lock();
    try (Slice upper = end == null ? null : new Slice(end);
        ReadOptions read = new ReadOptions()) {
      ensureOpen();
      if (upper != null) {
        read.setIterateUpperBound(upper);
      }
      try (RocksIterator iterator = db.newIterator(family, read)) {
        iterator.seek(from);
        while (iterator.isValid()) {
          visited.increment();
          if (!visitor.visit(iterator.key(), iterator.value())) {
            break;
          }
          iterator.next();
        }
        iterator.status();
      }
    } catch (RocksDBException e) {
      throw failure(e);
    } finally {
      closing.readLock().unlock();
    }
  }

  /** The first key that does not begin with a prefix; null for the empty prefix. */
  private static byte[] successor(byte[] prefix) {
    for (int i = prefix.length - 1; i >= 0; i--) {
      if (prefix[i] != (byte) 0xff) {
        byte[] end = Arrays.copyOf(prefix, i + 1);
        end[i]++;
        return end;
      }
    }
    return null;
  }

  private UncheckedIOException failure(Exception e) {
    return new UncheckedIOException(
        new IOException(
            "The manager's view "
                + directory
                + " fails ("
                + e.getMessage()
                + "): see that its disk has space and is well; the directory may be deleted while"
                + " the manager is down",
            e));
  }

  private ColumnFamilyHandle inodes() {
    return handles.get(1);
  }

  private ColumnFamilyHandle entries() {
    return handles.get(2);
  }

  private ColumnFamilyHandle names() {
    return handles.get(3);
  }

  private ColumnFamilyHandle stripes() {
    return handles.get(4);
  }

  private ColumnFamilyHandle due() {
    return handles.get(5);
  }

  private ColumnFamilyHandle worn() {
    return handles.get(7);
  }

  private ColumnFamilyHandle pinned() {
    return handles.get(9);
  }

  private ColumnFamilyHandle spread() {
    return handles.get(10);
  }

  private static byte[] key(long value) {
    return ByteBuffer.allocate(8).putLong(value).array();
  }

  private static byte[] entryKey(long parent, String name, long id) {
    return concat(key(parent), exactly(name), key(id));
  }

  private static byte[] nameKey(String name, long id) {
    return concat(exactly(name), key(id));
  }

  private static byte[] concat(byte[]... parts) {
    ByteBuffer all = ByteBuffer.allocate(Arrays.stream(parts).mapToInt(p -> p.length).sum());
    for (byte[] part : parts) {
      all.put(part);
    }
    return all.array();
  }

  private static byte[] policyPrefix(String policy) {
    byte[] name = utf8(policy);
    return Arrays.copyOf(name, name.length + 1);
  }

  private static byte[] policyKey(String policy, long first, long second) {
    byte[] prefix = policyPrefix(policy);
    return ByteBuffer.allocate(prefix.length + 16)
        .put(prefix)
        .putLong(first)
        .putLong(second)
        .array();
  }

  /** One of the longs at the end of a key: 0 is the last one. */
  private static long lastLong(byte[] key, int fromEnd) {
    return ByteBuffer.wrap(key).getLong(key.length - 8 * (fromEnd + 1));
  }

  static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  boolean isClosed() {
    return closed;
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    commit();
    closing.writeLock().lock();
    closed = true;
    closing.writeLock().unlock();
    try {
      db.flush(new org.rocksdb.FlushOptions().setWaitForFlush(true), handles);
    } catch (RocksDBException e) {
      throw failure(e);
    } finally {
      batch.close();
      handles.forEach(ColumnFamilyHandle::close);
      db.close();
      write.close();
      for (AutoCloseable resource : resources) {
        try {
          resource.close();
        } catch (Exception e) {
          throw failure(e);
        }
      }
    }
  }
}
