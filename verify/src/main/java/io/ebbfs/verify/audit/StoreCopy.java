package io.ebbfs.verify.audit;

import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.RocksDbStore;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Table;
import io.ebbfs.verify.cluster.VerifyCluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;

/**
 * A copy of the metadata of a running namenode, opened. The files are copied one by one, as a
 * backup of a crashed machine would have them. Nothing may be written meanwhile.
 */
final class StoreCopy implements AutoCloseable {
  private static final int PAGE = 1_000;
  // With little memory for writes, the replay of the log writes a file for every few rows.
  private static final long CACHE_BYTES = 256L << 20;

  private final Path directory;
  private final MetadataStore store;

  private StoreCopy(Path directory, MetadataStore store) {
    this.directory = directory;
    this.store = store;
  }

  static StoreCopy of(Path cluster) throws IOException {
    IOException failure = null;
    for (int tries = 0; tries < 5; tries++) {
      Path copy = Files.createTempDirectory(cluster, "metadata-copy");
      try {
        copy(cluster.resolve("namenode/metadata"), copy);
        return new StoreCopy(copy, RocksDbStore.open(copy, 1_000, CACHE_BYTES));
      } catch (IOException e) {
        // A file of the store was removed or has grown meanwhile.
        failure = e;
        VerifyCluster.deleteTree(copy);
      }
    }
    throw failure;
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> all = Files.walk(from)) {
      for (Path file : (Iterable<Path>) all::iterator) {
        Path target = to.resolve(from.relativize(file).toString());
        if (Files.isDirectory(file)) {
          Files.createDirectories(target);
        } else if (!file.getFileName().toString().equals("LOCK")) {
          Files.copy(file, target, StandardCopyOption.REPLACE_EXISTING);
        }
      }
    }
  }

  MetadataStore store() {
    return store;
  }

  <V extends MessageLite> List<Row<V>> all(Table<V> table) throws IOException {
    List<Row<V>> rows = new ArrayList<>();
    Key after = null;
    while (true) {
      List<Row<V>> page = store.scanAll(table, after, PAGE);
      rows.addAll(page);
      if (page.size() < PAGE) {
        return rows;
      }
      after = page.get(page.size() - 1).key();
    }
  }

  @Override
  public void close() throws IOException {
    store.close();
    VerifyCluster.deleteTree(directory);
  }
}
