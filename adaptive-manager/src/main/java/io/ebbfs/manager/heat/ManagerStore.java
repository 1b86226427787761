package io.ebbfs.manager.heat;

import io.ebbfs.manager.config.HalfLives;
import io.ebbfs.manager.economics.FailureRates;
import io.ebbfs.manager.economics.ReadCounts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.LongPredicate;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * Keeps the manager's data across restarts, in a RocksDB: the decayed read counts together with the
 * Kafka offsets that they include, and the samples of the time line. Thread-safe.
 *
 * <p>Column families: "heat" (file id, 8 bytes big-endian -> heat as IEEE double bits, time in ms,
 * remembered reads, time in ms; 8 bytes each; older rows lack the last two), "offset" (topic + '\n'
 * + partition -> next offset, 8 bytes), "sample" (time in ms, 8 bytes -> JSON), "history" (time in
 * ms, number; 8 bytes each -> JSON), "default" ("pausedSince" -> time in ms; "failureRates" -> the
 * three numbers of {@link FailureRates}; "countedSince" -> time in ms; "allReads" -> a row as in
 * "heat", of all files together; "indexedBy" -> the half-lives of the indexes in ms, and byte 1;
 * byte 2, time in ms, transition id and policy -> bytes of a conversion, and 1 byte: 0 open, 1
 * done; numbers have 8 bytes. A conversion that counts on several days has a row for each of them,
 * whose time may lie ahead), "hottest" and "remembered" (see {@link ReadIndex}), "directories",
 * "places" and "unplaced" (see {@link ReadTree}).
 */
public final class ManagerStore implements AutoCloseable {
  private static final List<String> FAMILIES =
      List.of(
          "default",
          "heat",
          "offset",
          "sample",
          "history",
          "hottest",
          "remembered",
          ReadTree.DIRECTORIES,
          ReadTree.PLACES,
          ReadTree.UNPLACED);

  /** The index of an open file is in memory. */
  private static final int MOST_OPEN_FILES = 1_024;

  /**
   * RocksDB shares the limit among parts of its table of open files: with few files in each of many
   * parts, those that are read in turn would be opened anew for each read.
   */
  private static final int OPEN_FILES_SHARD_BITS = 2;

  private static final long DAY_MILLIS = 86_400_000;

  /**
   * For how long conversions are kept: longer than they count, so that one that counts no more is
   * still known while the clocks of manager and namenode differ.
   */
  private static final long KEPT_MILLIS = 2 * DAY_MILLIS;

  /** For how many days a conversion larger than the budget of a day counts at most. */
  static final int MOST_DAYS = 30;

  private static final byte[] FAILURE_RATES = utf8("failureRates");
  private static final byte[] COUNTED_SINCE = utf8("countedSince");
  private static final byte BYTES_OF_OLDER_VERSION = 1;
  private static final byte CONVERSION = 2;
  private static final byte WITH_DIRECTORIES = 1;
  private static final byte OPEN = 0;
  private static final byte DONE = 1;
  private static final byte[] PAUSED_SINCE = utf8("pausedSince");
  private static final byte[] ALL_READS = utf8("allReads");
  private static final byte[] INDEXED_BY = utf8("indexedBy");
  private static final int IDS_PER_LOOK_UP = 1_000;
  private static final int BATCH_BYTES = 1 << 20;

  /** Counts that one pruning drops because the files are read next to never. */
  private static final int MOST_FORGOTTEN = 100_000;

  /** Counts of which one pruning asks whether their files exist. */
  private static final int LOOKED_FOR_DELETED = 20_000;

  /** Files and directories of which one pruning has the directory asked for again. */
  private static final int CHECKED_PLACES = 10_000;

  private final RocksDB db;
  private final List<ColumnFamilyHandle> handles;
  private final ColumnFamilyOptions familyOptions;
  private final DBOptions options;
  private final WriteOptions write = new WriteOptions();
  private final Object heatLock = new Object();
  private final ReadIndex hottest;
  private final ReadIndex remembered;
  private final ReadTree tree;
  // By which half-lives the indexes are; null if that is not known yet.
  private HalfLives indexedBy;
  // Files that did not exist when the files that were read most were listed; the next pruning drops
  // their counts.
  private final Set<Long> deletedMet = new HashSet<>();
  // The file that the next pruning begins at when it looks for deleted ones.
  private long pruneFrom;
  private long visited;
  private volatile boolean closed;

  static {
    RocksDB.loadLibrary();
  }

  private ManagerStore(
      RocksDB db,
      List<ColumnFamilyHandle> handles,
      ColumnFamilyOptions familyOptions,
      DBOptions options) {
    this.db = db;
    this.handles = handles;
    this.familyOptions = familyOptions;
    this.options = options;
    this.hottest = new ReadIndex(db, handles.get(5));
    this.remembered = new ReadIndex(db, handles.get(6));
    this.tree = new ReadTree(db, handles.get(1), handles.subList(7, 10));
  }

  /**
   * @throws IOException if the directory cannot be used: held by another process, corrupt, full
   */
  public static ManagerStore open(Path directory) throws IOException {
    Files.createDirectories(directory);
    ColumnFamilyOptions familyOptions = new ColumnFamilyOptions().setWriteBufferSize(4 << 20);
    DBOptions options =
        new DBOptions()
            .setCreateIfMissing(true)
            .setCreateMissingColumnFamilies(true)
            .setMaxOpenFiles(MOST_OPEN_FILES)
            .setTableCacheNumshardbits(OPEN_FILES_SHARD_BITS)
            .setKeepLogFileNum(2)
            .setMaxTotalWalSize(16 << 20);
    List<ColumnFamilyDescriptor> descriptors = new ArrayList<>();
    for (String name : FAMILIES) {
      descriptors.add(new ColumnFamilyDescriptor(utf8(name), familyOptions));
    }
    List<ColumnFamilyHandle> handles = new ArrayList<>();
    try {
      RocksDB db = RocksDB.open(options, directory.toString(), descriptors, handles);
      return new ManagerStore(db, handles, familyOptions, options);
    } catch (RocksDBException e) {
      familyOptions.close();
      options.close();
      throw new IOException(
          "The manager's store "
              + directory
              + " cannot be opened ("
              + e.getMessage()
              + "); stop the process that holds it, or move the directory away: then the read counts"
              + " and the time line begin anew, and no file is affected",
          e);
    }
  }

  /** A partition of a topic, and the offset of the next event that is not counted yet. */
  public record Position(String topic, int partition, long nextOffset) {}

  /** Counts reads and moves the position past them, in one atomic write. */
  public void count(List<OpenEvent> events, Position position, HalfLives halfLives)
      throws RocksDBException {
    synchronized (heatLock) {
      ensureOpen();
      ensureIndexed(halfLives);
      Map<Long, Reads> before = new HashMap<>();
      Map<Long, Reads> changed = new HashMap<>();
      Map<Long, Reads> added = new HashMap<>();
      Reads all = Reads.decode(db.get(ALL_READS));
      for (OpenEvent event : events) {
        if (!changed.containsKey(event.fileId())) {
          Reads stored = Reads.decode(db.get(heat(), key(event.fileId())));
          before.put(event.fileId(), stored);
          changed.put(event.fileId(), stored);
        }
        changed.computeIfPresent(event.fileId(), (id, reads) -> reads.plus(event, halfLives));
        added.merge(
            event.fileId(),
            Reads.NONE.plus(event, halfLives),
            (sum, one) -> sum.plus(one, halfLives, 1));
        all = all.plus(event, halfLives);
      }
      try (WriteBatch batch = new WriteBatch()) {
        for (Map.Entry<Long, Reads> entry : changed.entrySet()) {
          long id = entry.getKey();
          batch.put(heat(), key(id), entry.getValue().encoded());
          index(batch, id, before.get(id), entry.getValue(), halfLives);
        }
        ReadTree.Change inTree = tree.change(batch, halfLives);
        for (Map.Entry<Long, Reads> entry : added.entrySet()) {
          inTree.add(entry.getKey(), entry.getValue());
        }
        inTree.end();
        batch.put(ALL_READS, all.encoded());
        batch.put(
            offsets(), positionKey(position.topic, position.partition), key(position.nextOffset));
        db.write(write, batch);
      }
    }
  }

  /** The next offset to count; -1 if none was counted. */
  long nextOffset(String topic, int partition) throws RocksDBException {
    synchronized (heatLock) {
      ensureOpen();
      byte[] value = db.get(offsets(), positionKey(topic, partition));
      return value == null ? -1 : ByteBuffer.wrap(value).getLong();
    }
  }

  /**
   * The counts of reads as of a time.
   *
   * @param heat for the temperature that thresholds are compared with
   * @param remembered for weighing conversions
   */
  public record Counts(ReadCounts heat, ReadCounts remembered) {}

  /** The counts at a time; they are read when they are asked for. */
  public Counts counts(long nowMillis, HalfLives halfLives) {
    return new Counts(
        new StoredCounts(nowMillis, halfLives, true),
        new StoredCounts(nowMillis, halfLives, false));
  }

  /** Counts of this store, of one of the two kinds. */
  private final class StoredCounts implements ReadCounts {
    private final long nowMillis;
    private final HalfLives halfLives;
    private final boolean isHeat;

    StoredCounts(long nowMillis, HalfLives halfLives, boolean isHeat) {
      this.nowMillis = nowMillis;
      this.halfLives = halfLives;
      this.isHeat = isHeat;
    }

    private double at(Reads reads) {
      return isHeat
          ? reads.heat().at(nowMillis, halfLives.heatMillis())
          : reads.memory().at(nowMillis, halfLives.memoryMillis());
    }

    @Override
    public double of(long fileId) {
      return of(List.of(fileId)).getOrDefault(fileId, 0.0);
    }

    @Override
    public List<Long> mostRead(int limit, LongPredicate exists) {
      synchronized (heatLock) {
        ensureOpen();
        try {
          ensureIndexed(halfLives);
        } catch (RocksDBException e) {
          throw failure(e);
        }
        return (isHeat ? hottest : remembered)
            .most(
                limit, (long) LOOKED_AT_PER_FILE * limit, id -> exists.test(id) || noteDeleted(id));
      }
    }

    @Override
    public double all() {
      synchronized (heatLock) {
        ensureOpen();
        try {
          return at(Reads.decode(db.get(ALL_READS)));
        } catch (RocksDBException e) {
          throw failure(e);
        }
      }
    }

    /** Others may use the store between two parts of the answer. */
    @Override
    public Map<Long, Double> of(Collection<Long> fileIds) {
      Map<Long, Double> counts = new HashMap<>();
      List<Long> ids = List.copyOf(fileIds);
      for (int from = 0; from < ids.size(); from += IDS_PER_LOOK_UP) {
        lookUp(ids.subList(from, Math.min(ids.size(), from + IDS_PER_LOOK_UP)), counts);
      }
      return counts;
    }

    private void lookUp(List<Long> ids, Map<Long, Double> counts) {
      synchronized (heatLock) {
        ensureOpen();
        try {
          List<byte[]> rows =
              db.multiGetAsList(
                  Collections.nCopies(ids.size(), heat()),
                  ids.stream().map(ManagerStore::key).toList());
          for (int i = 0; i < rows.size(); i++) {
            if (rows.get(i) != null) {
              counts.put(ids.get(i), at(Reads.decode(rows.get(i))));
            }
          }
        } catch (RocksDBException e) {
          throw failure(e);
        }
      }
    }
  }

  private static UncheckedIOException failure(RocksDBException e) {
    return new UncheckedIOException(
        new IOException(
            "The counts of reads cannot be read ("
                + e.getMessage()
                + "): see that the disk of the manager's store is well",
            e));
  }

  /**
   * Sorts all files by their counts, once: if an earlier version has counted, or if the half-lives
   * in the configuration have changed.
   */
  private void ensureIndexed(HalfLives halfLives) throws RocksDBException {
    if (halfLives.equals(indexedBy)) {
      return;
    }
    byte[] wanted = indexes(halfLives);
    if (!Arrays.equals(db.get(INDEXED_BY), wanted)) {
      db.delete(write, INDEXED_BY);
      hottest.clear();
      remembered.clear();
      tree.clear();
      Reads all = Reads.NONE;
      try (WriteBatch batch = new WriteBatch();
          RocksIterator iterator = db.newIterator(heat())) {
        for (iterator.seekToFirst(); iterator.isValid(); iterator.next()) {
          Reads reads = Reads.decode(iterator.value());
          long id = ByteBuffer.wrap(iterator.key()).getLong();
          index(batch, id, Reads.NONE, reads, halfLives);
          tree.placeLater(batch, id);
          all = all.plus(reads, halfLives, 1);
          if (batch.getDataSize() > BATCH_BYTES) {
            db.write(write, batch);
            batch.clear();
          }
        }
        batch.put(ALL_READS, all.encoded());
        batch.put(INDEXED_BY, wanted);
        db.write(write, batch);
      }
    }
    indexedBy = halfLives;
  }

  /** By what the indexes are. It changes when a version adds another index. */
  private static byte[] indexes(HalfLives halfLives) {
    return ByteBuffer.allocate(17)
        .putLong(halfLives.heatMillis())
        .putLong(halfLives.memoryMillis())
        .put(WITH_DIRECTORIES)
        .array();
  }

  /** Work on the counts, which nobody else changes meanwhile. */
  interface Work<T> {
    T run() throws RocksDBException;
  }

  /** Does work while nobody else uses the counts, and the indexes are by these half-lives. */
  <T> T alone(HalfLives halfLives, Work<T> work) {
    synchronized (heatLock) {
      ensureOpen();
      try {
        ensureIndexed(halfLives);
        return work.run();
      } catch (RocksDBException e) {
        throw failure(e);
      }
    }
  }

  /** The reads by directory. Only to be used within {@link #alone}. */
  ReadTree tree() {
    return tree;
  }

  RocksDB db() {
    return db;
  }

  /** The reads of directories, by counts with these half-lives. */
  public DirectoryReads directoryReads(HalfLives halfLives) {
    return new DirectoryReads(this, halfLives);
  }

  private void index(WriteBatch batch, long fileId, Reads from, Reads to, HalfLives halfLives)
      throws RocksDBException {
    hottest.move(batch, fileId, from.heat(), to.heat(), halfLives.heatMillis());
    remembered.move(batch, fileId, from.memory(), to.memory(), halfLives.memoryMillis());
  }

  /** How many rows of counts were visited by scans since the store was opened. */
  public long visited() {
    synchronized (heatLock) {
      return visited + hottest.visited() + remembered.visited();
    }
  }

  /**
   * Drops the counts of files that are read next to never, and of deleted files. A file that was
   * read after the listing began may be newer than the listing, so its count stays. One call looks
   * at some thousand files, and the next call goes on behind them.
   *
   * @return how many counts were dropped
   */
  public int prune(
      long nowMillis, HalfLives halfLives, double below, LongPredicate exists, long listedMillis)
      throws RocksDBException {
    synchronized (heatLock) {
      ensureOpen();
      ensureIndexed(halfLives);
      Map<Long, Reads> dropped = new HashMap<>();
      addForgotten(dropped, nowMillis, halfLives, below);
      addDeleted(dropped, exists, listedMillis);
      Reads all = Reads.decode(db.get(ALL_READS));
      try (WriteBatch batch = new WriteBatch()) {
        ReadTree.Change inTree = tree.change(batch, halfLives);
        for (Map.Entry<Long, Reads> entry : dropped.entrySet()) {
          batch.delete(heat(), key(entry.getKey()));
          index(batch, entry.getKey(), entry.getValue(), Reads.NONE, halfLives);
          inTree.leave(entry.getKey(), entry.getValue());
          all = all.plus(entry.getValue(), halfLives, -1);
        }
        inTree.end();
        tree.checkSome(batch, CHECKED_PLACES);
        batch.put(ALL_READS, all.encoded());
        db.write(write, batch);
      }
      return dropped.size();
    }
  }

  private void addForgotten(
      Map<Long, Reads> dropped, long nowMillis, HalfLives halfLives, double below)
      throws RocksDBException {
    List<Long> cold = new ArrayList<>();
    remembered.eachBelow(
        below,
        nowMillis,
        halfLives.memoryMillis(),
        id -> cold.add(id) && cold.size() < MOST_FORGOTTEN);
    for (long id : cold) {
      Reads reads = Reads.decode(db.get(heat(), key(id)));
      if (reads.isForgotten(nowMillis, halfLives, below)) {
        dropped.put(id, reads);
      }
    }
  }

  /** Lets the next pruning drop the count of a file that does not exist. Returns false. */
  private boolean noteDeleted(long id) {
    if (deletedMet.size() < LOOKED_FOR_DELETED) {
      deletedMet.add(id);
    }
    return false;
  }

  private void addDeleted(Map<Long, Reads> dropped, LongPredicate exists, long listedMillis)
      throws RocksDBException {
    for (long id : deletedMet) {
      Reads reads = Reads.decode(db.get(heat(), key(id)));
      if (reads.heat().atMillis() < listedMillis && !exists.test(id)) {
        dropped.put(id, reads);
      }
    }
    visited += deletedMet.size();
    deletedMet.clear();
    int looked = 0;
    try (RocksIterator iterator = db.newIterator(heat())) {
      for (iterator.seek(key(pruneFrom));
          iterator.isValid() && looked < LOOKED_FOR_DELETED;
          iterator.next()) {
        looked++;
        long id = ByteBuffer.wrap(iterator.key()).getLong();
        Reads reads = Reads.decode(iterator.value());
        if (reads.heat().atMillis() < listedMillis && !exists.test(id)) {
          dropped.put(id, reads);
        }
      }
      pruneFrom = iterator.isValid() ? ByteBuffer.wrap(iterator.key()).getLong() : 0;
    }
    visited += looked;
  }

  /** The failure rates that were kept last; the prior before. */
  public FailureRates failureRates() throws RocksDBException {
    synchronized (heatLock) {
      ensureOpen();
      byte[] value = db.get(FAILURE_RATES);
      if (value == null) {
        return FailureRates.PRIOR;
      }
      ByteBuffer buffer = ByteBuffer.wrap(value);
      return new FailureRates(buffer.getDouble(), buffer.getDouble(), buffer.getDouble());
    }
  }

  public void putFailureRates(FailureRates rates) throws RocksDBException {
    synchronized (heatLock) {
      ensureOpen();
      db.put(
          write,
          FAILURE_RATES,
          ByteBuffer.allocate(24)
              .putDouble(rates.observedDays())
              .putDouble(rates.lostSum())
              .putDouble(rates.unavailableDays())
              .array());
    }
  }

  /** A conversion that was proposed within a day, and of which it is not known how it ended. */
  public record OpenConversion(long transitionId, long atMillis, String policy, long bytes) {
    /** The part of the conversion that counts so many days later. */
    private OpenConversion onDay(int days, long part) {
      return new OpenConversion(transitionId, atMillis + days * DAY_MILLIS, policy, part);
    }
  }

  /**
   * Notes a conversion that was proposed, and forgets those of two days ago. A conversion that is
   * larger than the budget of a day counts on the following days as well, at most for {@link
   * #MOST_DAYS} days.
   *
   * @param bytesPerDay the most that counts on one day; at least 1
   */
  public void addConversion(OpenConversion conversion, long bytesPerDay) throws RocksDBException {
    long left = conversion.bytes();
    for (int day = 0; day < MOST_DAYS && (day == 0 || left > 0); day++) {
      putConversion(conversion.onDay(day, Math.min(left, bytesPerDay)), OPEN);
      left -= bytesPerDay;
    }
    synchronized (heatLock) {
      ensureOpen();
      db.deleteRange(
          write,
          new byte[] {BYTES_OF_OLDER_VERSION},
          conversionKey(Math.max(0, conversion.atMillis() - KEPT_MILLIS), 0, ""));
    }
  }

  /** Notes how a conversion has ended. One that was not carried out no longer counts. */
  public void endConversion(OpenConversion conversion, boolean converted) throws RocksDBException {
    if (converted) {
      putConversion(conversion, DONE);
      return;
    }
    synchronized (heatLock) {
      ensureOpen();
      for (int day = 0; day < MOST_DAYS; day++) {
        long at = conversion.atMillis() + day * DAY_MILLIS;
        db.delete(write, conversionKey(at, conversion.transitionId(), conversion.policy()));
      }
    }
  }

  private void putConversion(OpenConversion conversion, byte state) throws RocksDBException {
    synchronized (heatLock) {
      ensureOpen();
      db.put(
          write,
          conversionKey(conversion.atMillis(), conversion.transitionId(), conversion.policy()),
          ByteBuffer.allocate(9).putLong(conversion.bytes()).put(state).array());
    }
  }

  /** The conversions within 24 hours of which it is not known how they ended. */
  public List<OpenConversion> openConversions(long nowMillis) {
    List<OpenConversion> open = new ArrayList<>();
    eachConversion(
        nowMillis - DAY_MILLIS,
        nowMillis,
        (conversion, state) -> {
          if (state == OPEN) {
            open.add(conversion);
          }
        });
    return open;
  }

  /** By policy: the bytes of the conversions within 24 hours that were not given up. */
  public Map<String, Long> convertedWithinDay(long nowMillis) {
    Map<String, Long> sums = new HashMap<>();
    eachConversion(
        nowMillis - DAY_MILLIS,
        nowMillis,
        (conversion, state) -> sums.merge(conversion.policy(), conversion.bytes(), Long::sum));
    return sums;
  }

  /** The transitions of the conversions that were noted lately, whatever became of them. */
  public Set<Long> notedConversions(long nowMillis) {
    Set<Long> noted = new HashSet<>();
    eachConversion(
        nowMillis - KEPT_MILLIS,
        nowMillis + DAY_MILLIS,
        (conversion, state) -> noted.add(conversion.transitionId()));
    return noted;
  }

  /** Visits the conversions of a time, both ends included. */
  private void eachConversion(
      long fromMillis, long toMillis, BiConsumer<OpenConversion, Byte> visit) {
    synchronized (heatLock) {
      ensureOpen();
      byte[] end = conversionKey(toMillis + 1, 0, "");
      try (RocksIterator iterator = db.newIterator()) {
        iterator.seek(conversionKey(Math.max(0, fromMillis), 0, ""));
        for (;
            iterator.isValid() && Arrays.compareUnsigned(iterator.key(), end) < 0;
            iterator.next()) {
          ByteBuffer key = ByteBuffer.wrap(iterator.key(), 1, iterator.key().length - 1);
          long atMillis = key.getLong();
          long id = key.getLong();
          String policy = StandardCharsets.UTF_8.decode(key).toString();
          ByteBuffer value = ByteBuffer.wrap(iterator.value());
          visit.accept(new OpenConversion(id, atMillis, policy, value.getLong()), value.get());
        }
      }
    }
  }

  /** Since when reads have been counted and none were lost; now if that is not known. */
  public long countedSince(long nowMillis) throws RocksDBException {
    synchronized (heatLock) {
      ensureOpen();
      byte[] value = db.get(COUNTED_SINCE);
      if (value != null) {
        return ByteBuffer.wrap(value).getLong();
      }
      db.put(write, COUNTED_SINCE, key(nowMillis));
      return nowMillis;
    }
  }

  /** Notes that events of reads were lost: only from this time on are reads counted in full. */
  public void countAnew(long nowMillis) throws RocksDBException {
    synchronized (heatLock) {
      ensureOpen();
      db.put(write, COUNTED_SINCE, key(nowMillis));
    }
  }

  /** Since when the manager proposes nothing by itself, in milliseconds since 1970; or empty. */
  public OptionalLong pausedSince() throws RocksDBException {
    synchronized (heatLock) {
      ensureOpen();
      byte[] value = db.get(PAUSED_SINCE);
      return value == null
          ? OptionalLong.empty()
          : OptionalLong.of(ByteBuffer.wrap(value).getLong());
    }
  }

  /** Pauses; the first pause counts. On the disk when the call returns. */
  public void pause(long nowMillis) throws RocksDBException {
    synchronized (heatLock) {
      if (pausedSince().isEmpty()) {
        try (WriteOptions synced = new WriteOptions().setSync(true)) {
          db.put(synced, PAUSED_SINCE, key(nowMillis));
        }
      }
    }
  }

  /** Ends a pause. On the disk when the call returns. */
  public void resume() throws RocksDBException {
    synchronized (heatLock) {
      ensureOpen();
      try (WriteOptions synced = new WriteOptions().setSync(true)) {
        db.delete(synced, PAUSED_SINCE);
      }
    }
  }

  /** Adds an entry to the history; the number keeps entries of one time apart. */
  public void putHistory(long timeMillis, long number, String json) throws RocksDBException {
    synchronized (heatLock) {
      ensureOpen();
      db.put(history(), write, keys(timeMillis, number), utf8(json));
    }
  }

  /** An entry of the history. */
  public record HistoryRow(long timeMillis, long number, String json) {}

  /**
   * Entries of the history, the newest first.
   *
   * @param before only entries before this one; null for the newest
   */
  public List<HistoryRow> history(HistoryRow before, int limit) {
    synchronized (heatLock) {
      ensureOpen();
      List<HistoryRow> found = new ArrayList<>();
      try (RocksIterator iterator = db.newIterator(history())) {
        if (before == null) {
          iterator.seekToLast();
        } else {
          iterator.seekForPrev(keys(before.timeMillis, before.number));
          if (iterator.isValid()
              && Arrays.equals(iterator.key(), keys(before.timeMillis, before.number))) {
            iterator.prev();
          }
        }
        for (; iterator.isValid() && found.size() < limit; iterator.prev()) {
          ByteBuffer key = ByteBuffer.wrap(iterator.key());
          found.add(
              new HistoryRow(
                  key.getLong(),
                  key.getLong(),
                  new String(iterator.value(), StandardCharsets.UTF_8)));
        }
      }
      return found;
    }
  }

  /** Drops the oldest entries of the history, all but so many. */
  public void trimHistory(int kept) throws RocksDBException {
    synchronized (heatLock) {
      List<HistoryRow> newest = history(null, kept);
      if (newest.size() == kept) {
        HistoryRow oldest = newest.get(kept - 1);
        db.deleteRange(history(), write, keys(0, 0), keys(oldest.timeMillis, oldest.number));
      }
    }
  }

  /** Keeps a sample of the time line. */
  public void putSample(long timeMillis, String json) throws RocksDBException {
    synchronized (heatLock) {
      ensureOpen();
      db.put(samples(), write, key(timeMillis), utf8(json));
    }
  }

  /** The samples from a time on, in order, each as JSON. */
  public List<String> samplesSince(long fromMillis) {
    synchronized (heatLock) {
      ensureOpen();
      List<String> found = new ArrayList<>();
      try (RocksIterator iterator = db.newIterator(samples())) {
        for (iterator.seek(key(fromMillis)); iterator.isValid(); iterator.next()) {
          found.add(new String(iterator.value(), StandardCharsets.UTF_8));
        }
      }
      return found;
    }
  }

  public void dropSamplesBefore(long timeMillis) throws RocksDBException {
    synchronized (heatLock) {
      ensureOpen();
      db.deleteRange(samples(), write, key(0), key(Math.max(0, timeMillis)));
    }
  }

  private void ensureOpen() {
    if (closed) {
      throw new IllegalStateException("the manager's store is closed");
    }
  }

  private ColumnFamilyHandle heat() {
    return handles.get(1);
  }

  private ColumnFamilyHandle offsets() {
    return handles.get(2);
  }

  private ColumnFamilyHandle samples() {
    return handles.get(3);
  }

  private ColumnFamilyHandle history() {
    return handles.get(4);
  }

  private static byte[] keys(long first, long second) {
    return ByteBuffer.allocate(16).putLong(first).putLong(second).array();
  }

  private static byte[] conversionKey(long millis, long transitionId, String policy) {
    byte[] name = utf8(policy);
    return ByteBuffer.allocate(17 + name.length)
        .put(CONVERSION)
        .putLong(millis)
        .putLong(transitionId)
        .put(name)
        .array();
  }

  private static byte[] key(long value) {
    return ByteBuffer.allocate(8).putLong(value).array();
  }

  private static byte[] positionKey(String topic, int partition) {
    return utf8(topic + "\n" + partition);
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    synchronized (heatLock) {
      if (!closed) {
        closed = true;
        handles.forEach(ColumnFamilyHandle::close);
        db.close();
        write.close();
        familyOptions.close();
        options.close();
      }
    }
  }
}
