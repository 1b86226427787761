package io.ebbfs.namenode.store;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Stream;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompressionType;
import org.rocksdb.DBOptions;
import org.rocksdb.IndexType;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WALRecoveryMode;

/** Opens and closes the files of a RocksDB store: the lock, the options, the column families. */
final class RocksDbFiles implements AutoCloseable {
  private static final String DEFAULT_FAMILY = "default";

  /**
   * All files stay open. RocksDB shares the limit among 64 parts of its table of open files: with
   * 512, nine files that lie in one part and are read in turn would be opened anew, and the index
   * and filter of each read, for each read of a row.
   */
  private static final int MOST_OPEN_FILES = 32_768;

  private static final long ARENA_BLOCK_BYTES = 128L << 10;

  /**
   * Tables whose partitions grow at their ends: files are often made in the order of their names.
   */
  private static final Set<Table<?>> GROWING_PARTITIONS =
      Set.of(Tables.CALL, Tables.LEASE, Tables.INODE, Tables.STORAGE_REPLICA, Tables.INVALIDATION);

  /** The bytes that 2^24 ids in a row share. */
  private static final int ID_RANGE_BYTES = 5;

  private static final String LOCK_FILE = "ebbfs.lock";

  private final Path directory;
  private final FileChannel lockChannel;
  private final List<AutoCloseable> resources;
  private final RocksDB database;
  private final ColumnFamilyHandle[] families;
  private final int[] familyIds;

  private RocksDbFiles(
      Path directory,
      FileChannel lockChannel,
      List<AutoCloseable> resources,
      RocksDB database,
      List<ColumnFamilyHandle> handles) {
    this.directory = directory;
    this.lockChannel = lockChannel;
    this.resources = resources;
    this.database = database;
    // Handles come in the order of the descriptors: the default family, then Tables.ALL.
    this.families = handles.subList(1, handles.size()).toArray(ColumnFamilyHandle[]::new);
    this.familyIds = Arrays.stream(families).mapToInt(ColumnFamilyHandle::getID).toArray();
  }

  static RocksDbFiles open(Path directory, StoreMemory memory) throws IOException {
    RocksDB.loadLibrary();
    FileChannel lock = lock(directory);
    boolean opened = false;
    try {
      refuseForeign(directory);
      RocksDbFiles files = openDatabase(directory, lock, memory);
      opened = true;
      return files;
    } finally {
      if (!opened) {
        lock.close();
      }
    }
  }

  RocksDB database() {
    return database;
  }

  ColumnFamilyHandle family(Table<?> table) {
    return families[table.order()];
  }

  int familyId(Table<?> table) {
    return familyIds[table.order()];
  }

  Path directory() {
    return directory;
  }

  private static FileChannel lock(Path directory) throws IOException {
    FileChannel channel;
    try {
      Files.createDirectories(directory);
      channel =
          FileChannel.open(
              directory.resolve(LOCK_FILE), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    } catch (IOException e) {
      throw new StoreOpenException(
          "metadata directory %s cannot be written (%s): give a writable directory with --data"
              .formatted(directory, e),
          e);
    }
    FileLock lock = null;
    try {
      lock = channel.tryLock();
    } catch (OverlappingFileLockException e) {
      // This process holds the lock; the error is the same as for another process.
    }
    if (lock == null) {
      channel.close();
      throw new StoreOpenException(
          "metadata directory %s is in use by another namenode: stop it, or give another directory with --data"
              .formatted(directory),
          null);
    }
    return channel;
  }

  private static void refuseForeign(Path directory) throws IOException {
    if (Files.exists(directory.resolve("CURRENT"))) {
      refuseForeignFamilies(directory);
      return;
    }
    try (Stream<Path> files = Files.list(directory)) {
      List<String> others =
          files.map(f -> f.getFileName().toString()).filter(f -> !isOfNewStore(f)).toList();
      if (!others.isEmpty()) {
        throw new StoreOpenException(
            "metadata directory %s holds no metadata store but other files (%s ...): give an empty directory with --data"
                .formatted(directory, others.get(0)),
            null);
      }
    }
  }

  /** True for files of a store whose first start was interrupted. */
  private static boolean isOfNewStore(String name) {
    return name.equals(LOCK_FILE)
        || name.equals("LOCK")
        || name.equals("IDENTITY")
        || name.startsWith("LOG")
        || name.startsWith("MANIFEST-")
        || name.startsWith("OPTIONS-")
        || name.endsWith(".log")
        || name.endsWith(".dbtmp");
  }

  private static void refuseForeignFamilies(Path directory) throws IOException {
    Set<String> ours = new HashSet<>(Set.of(DEFAULT_FAMILY));
    Tables.ALL.forEach(table -> ours.add(table.name()));
    try (Options options = new Options()) {
      for (byte[] name : RocksDB.listColumnFamilies(options, directory.toString())) {
        String text = new String(name, StandardCharsets.UTF_8);
        if (!ours.contains(text)) {
          throw new StoreOpenException(
              "metadata directory %s holds a table '%s' that this version does not know: it belongs to another program or a newer version"
                  .formatted(directory, text),
              null);
        }
      }
    } catch (RocksDBException e) {
      throw damaged(directory, e);
    }
  }

  private static RocksDbFiles openDatabase(Path directory, FileChannel lock, StoreMemory memory)
      throws IOException {
    List<AutoCloseable> resources = new ArrayList<>();
    try {
      LRUCache cache = kept(resources, new LRUCache(memory.blockBytes()));
      DBOptions options = kept(resources, databaseOptions(memory.writeBytes()));
      ColumnFamilyOptions byId = kept(resources, familyOptions(resources, cache, ID_RANGE_BYTES));
      ColumnFamilyOptions byPartition =
          kept(resources, familyOptions(resources, cache, Long.BYTES));
      List<ColumnFamilyDescriptor> descriptors = new ArrayList<>();
      descriptors.add(
          new ColumnFamilyDescriptor(DEFAULT_FAMILY.getBytes(StandardCharsets.UTF_8), byId));
      for (Table<?> table : Tables.ALL) {
        descriptors.add(
            new ColumnFamilyDescriptor(
                table.name().getBytes(StandardCharsets.UTF_8),
                GROWING_PARTITIONS.contains(table) ? byPartition : byId));
      }
      List<ColumnFamilyHandle> handles = new ArrayList<>();
      RocksDB database = RocksDB.open(options, directory.toString(), descriptors, handles);
      return new RocksDbFiles(directory, lock, resources, database, handles);
    } catch (RocksDBException e) {
      closeAll(resources);
      throw damaged(directory, e);
    }
  }

  private static DBOptions databaseOptions(long writeBufferBytes) {
    return new DBOptions()
        .setCreateIfMissing(true)
        .setCreateMissingColumnFamilies(true)
        .setDbWriteBufferSize(writeBufferBytes)
        .setMaxTotalWalSize(256L << 20)
        .setMaxBackgroundJobs(2)
        .setMaxOpenFiles(MOST_OPEN_FILES)
        .setKeepLogFileNum(4)
        .setMaxLogFileSize(4L << 20)
        .setInfoLogLevel(InfoLogLevel.WARN_LEVEL)
        .setStatsDumpPeriodSec(0)
        // The log is written once for all commits that share a sync.
        .setManualWalFlush(true)
        .setAllowConcurrentMemtableWrite(false)
        // Records behind a torn record at the end of the log were never acknowledged.
        .setWalRecoveryMode(WALRecoveryMode.PointInTimeRecovery);
  }

  /**
   * The options of a table.
   *
   * @param nearBytes keys with the same first bytes are written near each other: RocksDB remembers
   *     for each such group where it inserted last, and searches the next place from there. A
   *     search from the top of a memory table took a fifth of the time of a create.
   */
  private static ColumnFamilyOptions familyOptions(
      List<AutoCloseable> resources, LRUCache cache, int nearBytes) {
    BlockBasedTableConfig table =
        new BlockBasedTableConfig()
            .setBlockCache(cache)
            .setFilterPolicy(kept(resources, new BloomFilter(10)))
            // Indexes and filters of a large store exceed its cache: a read fetches small parts of
            // them.
            .setIndexType(IndexType.kTwoLevelIndexSearch)
            .setPartitionFilters(true)
            .setPinTopLevelIndexAndFilter(true)
            .setCacheIndexAndFilterBlocks(true)
            .setCacheIndexAndFilterBlocksWithHighPriority(true)
            .setPinL0FilterAndIndexBlocksInCache(true);
    Properties near = new Properties(); // RocksDB's Java interface has no setter for it
    near.setProperty(
        "memtable_insert_with_hint_prefix_extractor", "rocksdb.FixedPrefix." + nearBytes);
    return ColumnFamilyOptions.getColumnFamilyOptionsFromProps(near)
        .setTableFormatConfig(table)
        .setWriteBufferSize(16L << 20)
        // Each table with rows in memory takes a block at least. Blocks of 2 MiB, RocksDB's own
        // choice, would fill the memory of a small store, so that it writes files all the time.
        .setArenaBlockSize(ARENA_BLOCK_BYTES)
        .setMaxWriteBufferNumber(3)
        // Most reads of RocksDB ask for rows that do not exist yet: the row cache has the others.
        .setMemtableWholeKeyFiltering(true)
        .setMemtablePrefixBloomSizeRatio(0.02)
        .setCompressionType(CompressionType.LZ4_COMPRESSION);
  }

  private static StoreOpenException damaged(Path directory, RocksDBException e) {
    return new StoreOpenException(
        "metadata store %s cannot be opened, its files are damaged or not readable: %s; restore it from a backup"
            .formatted(directory, e.getMessage()),
        e);
  }

  private static <T extends AutoCloseable> T kept(List<AutoCloseable> resources, T resource) {
    resources.add(resource);
    return resource;
  }

  private static void closeAll(List<AutoCloseable> resources) throws IOException {
    for (int i = resources.size() - 1; i >= 0; i--) {
      try {
        resources.get(i).close();
      } catch (Exception e) {
        throw new IOException("closing the metadata store failed", e);
      }
    }
  }

  @Override
  public void close() throws IOException {
    try (lockChannel) {
      for (ColumnFamilyHandle family : families) {
        family.close();
      }
      try {
        database.closeE();
      } catch (RocksDBException e) {
        throw new IOException("closing the metadata store " + directory + " failed", e);
      } finally {
        closeAll(resources);
      }
    }
  }
}
