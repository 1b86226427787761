package io.ebbfs.namenode.store;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.EnvOptions;
import org.rocksdb.IngestExternalFileOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDBException;
import org.rocksdb.SstFileWriter;

/**
 * Fills a new store with very many rows. The rows go into sorted files, which become part of the
 * store as they are: no log, no memory table and no compaction handles a row again. The sums of the
 * store count the rows; the change stream does not tell of them.
 *
 * <p>The store must have no row of such a key, and nobody may have asked for one. A failure leaves
 * perhaps a part of the rows. Used by one thread. Several may add rows at the same time, and the
 * files of a table need no compaction if the ranges of their keys do not overlap.
 */
public final class SortedRows implements AutoCloseable {
  private final RocksDbFiles files;
  private final ChangeLog changes;
  private final Path directory;
  private final EnvOptions environment = new EnvOptions();
  private final DBOptions database = new DBOptions();
  private final Map<Table<?>, SortedFile> sorted = new HashMap<>();
  private Usage usage = Usage.NONE;

  SortedRows(RocksDbFiles files, ChangeLog changes) throws IOException {
    this.files = files;
    this.changes = changes;
    this.directory = Files.createTempDirectory(files.directory(), "sorted-");
  }

  /** A file of a table, which has all options of the table. */
  private final class SortedFile implements AutoCloseable {
    private final Table<?> table;
    private final Path path;
    private final ColumnFamilyOptions family;
    private final Options options;
    private final SstFileWriter writer;

    SortedFile(Table<?> table) throws RocksDBException {
      this.table = table;
      this.path = directory.resolve(table.name() + ".sst").toAbsolutePath();
      this.family = files.family(table).getDescriptor().getOptions();
      this.options = new Options(database, family);
      this.writer = new SstFileWriter(environment, options);
      writer.open(path.toString());
    }

    void becomePart() throws RocksDBException {
      writer.finish();
      try (IngestExternalFileOptions moved = new IngestExternalFileOptions().setMoveFiles(true)) {
        files.database().ingestExternalFile(files.family(table), List.of(path.toString()), moved);
      }
    }

    @Override
    public void close() {
      writer.close();
      options.close();
      family.close();
    }
  }

  /**
   * Adds a row.
   *
   * @param key above the keys of all rows of the table that were added before
   */
  public <V extends MessageLite> void add(Table<V> table, Key key, V row) throws IOException {
    try {
      SortedFile file = sorted.get(table);
      if (file == null) {
        file = new SortedFile(table);
        sorted.put(table, file);
      }
      file.writer.put(key.encode(), row.toByteArray());
    } catch (RocksDBException e) {
      throw failed("row " + key + " of table '" + table.name() + "'", e);
    }
    if (Usage.TABLES.contains(table)) {
      usage = usage.plus(Usage.of(table, key, row));
    }
  }

  /** Makes the rows part of the store. No row may be added afterwards. */
  public void finish() throws IOException {
    List<Table<?>> tables = new ArrayList<>(sorted.keySet());
    for (Table<?> table : tables) {
      try {
        sorted.get(table).becomePart();
      } catch (RocksDBException e) {
        throw failed("rows of table '" + table.name() + "'", e);
      }
    }
    changes.addSum(usage);
  }

  private IOException failed(String what, RocksDBException e) {
    return new IOException(
        "%s cannot be added to the metadata store %s: %s; check the disk, and the order of the keys"
            .formatted(what, files.directory(), e.getMessage()),
        e);
  }

  @Override
  public void close() throws IOException {
    sorted.values().forEach(SortedFile::close);
    environment.close();
    database.close();
    try (DirectoryStream<Path> left = Files.newDirectoryStream(directory)) {
      for (Path file : left) {
        Files.delete(file);
      }
    }
    Files.delete(directory);
  }
}
