package io.ebbfs.namenode.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.protocol.proto.StoreProtos.CounterRow;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Scans that share an iterator find what scans of their own find. */
class SequentialScansTest {
  private static final int PARTITIONS = 60;

  @TempDir private Path directory;
  private RocksDbStore store;

  @BeforeEach
  void open() throws IOException {
    store = RocksDbStore.open(directory);
  }

  @AfterEach
  void close() throws IOException {
    store.close();
  }

  private void put(Key key, long value) throws IOException {
    store.transact(
        0,
        Durability.RELAXED,
        transaction -> {
          transaction.put(Tables.COUNTER, key, CounterRow.newBuilder().setValue(value).build());
          return null;
        });
  }

  private void delete(Key key) throws IOException {
    store.transact(
        0,
        Durability.RELAXED,
        transaction -> {
          transaction.delete(Tables.COUNTER, key);
          return null;
        });
  }

  private static Key keyOrNull(Random random, long partition) {
    return random.nextInt(3) == 0 ? Key.of(partition, random.nextInt(20)) : null;
  }

  @Test
  void scansOfAnyPartitionsAndBoundsFindTheRows() throws IOException {
    long seed = Long.getLong("seed", System.nanoTime());
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    TreeMap<Key, Long> model = new TreeMap<>();
    for (int i = 0; i < 600; i++) {
      Key key = Key.of(random.nextInt(PARTITIONS), random.nextInt(20));
      if (random.nextInt(4) == 0) {
        delete(key);
        model.remove(key);
      } else {
        put(key, i);
        model.put(key, (long) i);
      }
    }
    for (int round = 0; round < 50; round++) {
      int last = random.nextInt(PARTITIONS);
      store.listInBackground(
          0,
          transaction -> {
            long partition = 0;
            for (int i = 0; i < 60; i++) {
              // Mostly onwards, by small and large steps, and sometimes back.
              partition =
                  random.nextInt(8) == 0
                      ? random.nextInt(PARTITIONS)
                      : Math.min(partition + random.nextInt(3), last);
              Key after = keyOrNull(random, partition);
              Key before = keyOrNull(random, partition);
              int limit = random.nextInt(3) == 0 ? 1 + random.nextInt(4) : Integer.MAX_VALUE;
              long of = partition;
              List<Row<CounterRow>> found =
                  transaction.scan(Tables.COUNTER, of, after, before, limit);
              assertThat(found.stream().map(Row::key).toList())
                  .as("partition %d from %s to %s, seed %d", of, after, before, seed)
                  .isEqualTo(
                      model.keySet().stream()
                          .filter(key -> key.partition() == of)
                          .filter(key -> after == null || key.compareTo(after) > 0)
                          .filter(key -> before == null || key.compareTo(before) < 0)
                          .limit(limit)
                          .toList());
              found.forEach(
                  row -> assertThat(row.value().getValue()).isEqualTo(model.get(row.key())));
            }
            return null;
          });
    }
  }

  @Test
  void theLastPartitionOfAllHasAnEnd() throws IOException {
    put(Key.of(-1L, 5), 1);
    List<Row<CounterRow>> found =
        store.listInBackground(
            0,
            transaction -> {
              assertThat(transaction.scan(Tables.COUNTER, 7)).isEmpty();
              return transaction.scan(Tables.COUNTER, -1L);
            });
    assertThat(found).hasSize(1);
  }

  @Test
  void aListingFillsNoCache() throws IOException {
    long before = store.cachedBytes();
    store.listInBackground(0, transaction -> transaction.scan(Tables.BLOCK, 7));
    assertThat(store.cachedBytes()).isEqualTo(before);
    store.transact(7, transaction -> transaction.scan(Tables.BLOCK, 7));
    assertThat(store.cachedBytes()).isGreaterThan(before);
  }
}
