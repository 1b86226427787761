package io.ebbfs.namenode.store;

import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.protocol.proto.StoreProtos.CounterRow;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Counters that only rise, across restarts. They rise in memory, and {@link #flush} adds the
 * differences to the store now and then, so that no commit waits for a counter. A process that dies
 * loses the counts since the last flush. Thread-safe.
 */
public final class PersistentCounters {
  private static final String PREFIX = "count.";

  private final MetadataStore store;
  private final SortedMap<String, Long> written = new TreeMap<>();
  private final SortedMap<String, Long> pending = new TreeMap<>();

  public PersistentCounters(MetadataStore store) throws IOException {
    this.store = store;
    store.eachRow(Tables.COUNTER, this::load);
  }

  private void load(Key key, CounterRow row) {
    String name = new String(key.rest(), StandardCharsets.UTF_8);
    if (name.startsWith(PREFIX)) {
      written.put(name.substring(PREFIX.length()), row.getValue());
    }
  }

  public synchronized void add(String name, long amount) {
    if (amount != 0) {
      pending.merge(name, amount, Long::sum);
    }
  }

  /** The present values of all counters, by name. */
  public synchronized SortedMap<String, Long> values() {
    SortedMap<String, Long> values = new TreeMap<>(written);
    pending.forEach((name, amount) -> values.merge(name, amount, Long::sum));
    return values;
  }

  /** Writes the counts since the last flush to the store. */
  public void flush() throws IOException {
    Map<String, Long> taken;
    synchronized (this) {
      taken = new TreeMap<>(pending);
    }
    if (taken.isEmpty()) {
      return;
    }
    List<RowLock> locks =
        taken.keySet().stream().map(n -> RowLock.exclusive(Tables.COUNTER, key(n))).toList();
    Map<String, Long> sums =
        store.transact(
            0,
            Durability.RELAXED,
            transaction -> {
              transaction.lock(locks);
              Map<String, Long> result = new TreeMap<>();
              for (Map.Entry<String, Long> entry : taken.entrySet()) {
                long before =
                    transaction
                        .get(Tables.COUNTER, key(entry.getKey()))
                        .map(CounterRow::getValue)
                        .orElse(0L);
                long sum = before + entry.getValue();
                transaction.put(
                    Tables.COUNTER,
                    key(entry.getKey()),
                    CounterRow.newBuilder().setValue(sum).build());
                result.put(entry.getKey(), sum);
              }
              return result;
            });
    synchronized (this) {
      written.putAll(sums);
      taken.forEach((name, amount) -> pending.merge(name, -amount, Long::sum));
      pending.values().removeIf(amount -> amount == 0);
    }
  }

  private static Key key(String name) {
    return Tables.named(PREFIX + name);
  }
}
