package io.ebbfs.ignite;

import io.ebbfs.namenode.store.BufferedTransaction;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Table;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;
import javax.cache.Cache;
import javax.cache.CacheException;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;
import org.apache.ignite.Ignite;
import org.apache.ignite.IgniteCache;
import org.apache.ignite.IgniteCompute;
import org.apache.ignite.cache.affinity.Affinity;
import org.apache.ignite.cache.query.IndexQuery;
import org.apache.ignite.cache.query.IndexQueryCriteriaBuilder;
import org.apache.ignite.cache.query.IndexQueryCriterion;
import org.apache.ignite.cache.query.QueryCursor;
import org.apache.ignite.internal.processors.cache.CacheInvalidStateException;
import org.apache.ignite.lang.IgniteFutureTimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The committed rows in Ignite, read from the node that decides about them and without locks. A
 * read that a lost node interrupts runs again. Thread-safe.
 */
final class IgniteRows implements BufferedTransaction.Committed {
  private static final Logger LOG = LoggerFactory.getLogger(IgniteRows.class);
  private static final int PAGE = 1_024;

  /** Most commits end within a few milliseconds. */
  private static final long COMMITS_MILLIS = 1_000;

  private static final long COMMITS_PAUSE_NANOS = 1_000_000;

  private final Ignite ignite;
  private final IgniteCache<RowId, byte[]> cache;
  private final Affinity<Long> affinity;
  private final long limitMillis;
  private final StoreCalls calls;
  private final Consumer<IgniteRows> onSilence;
  private final AtomicBoolean hasFailedToWait = new AtomicBoolean();

  /**
   * @param onSilence runs when a read was not answered in time; must not block
   */
  IgniteRows(Ignite ignite, long limitMillis, StoreCalls calls, Consumer<IgniteRows> onSilence) {
    this.onSilence = onSilence;
    this.calls = calls;
    this.ignite = ignite;
    this.cache = ignite.cache(IgniteSettings.CACHE);
    this.affinity = ignite.affinity(IgniteSettings.CACHE);
    this.limitMillis = limitMillis;
  }

  IgniteCache<RowId, byte[]> cache() {
    return cache;
  }

  @Override
  public <V extends MessageLite> V get(Table<V> table, Key key) throws IOException {
    RowId id = RowId.of(table, key);
    return RowBytes.parse(table, key, read(Set.of(id)).get(id));
  }

  @Override
  public <V extends MessageLite> List<V> getAll(Table<V> table, List<Key> keys) throws IOException {
    Set<RowId> ids = new TreeSet<>();
    keys.forEach(key -> ids.add(RowId.of(table, key)));
    Map<RowId, byte[]> found = read(ids);
    List<V> rows = new ArrayList<>(keys.size());
    for (Key key : keys) {
      rows.add(RowBytes.parse(table, key, found.get(RowId.of(table, key))));
    }
    return rows;
  }

  /** Rows of any tables; those that do not exist are left out. */
  Map<RowId, byte[]> read(Set<RowId> ids) throws IOException {
    if (ids.isEmpty()) {
      return Map.of();
    }
    calls.reads.increment();
    return repeat("read", () -> cache.getAllOutTxAsync(ids).get(limitMillis));
  }

  StoreCalls calls() {
    return calls;
  }

  @Override
  public <V extends MessageLite> List<Row<V>> scan(
      Table<V> table, long partition, Key after, Key before, int limit) throws IOException {
    if (after != null && before != null && after.compareTo(before) >= 0) {
      return List.of();
    }
    Key end = before == null ? Key.endOf(partition) : before;
    calls.scans.increment();
    return scan(
        table,
        affinity.partition(partition),
        after == null
            ? IndexQueryCriteriaBuilder.gte(
                RowId.ORDER_FIELD, RowId.orderOf(table, Key.of(partition)))
            : behind(table, after),
        end == null ? RowId.endOf(table) : RowId.orderOf(table, end),
        limit);
  }

  /**
   * Waits until the commits on rows of a partition have ended that have begun at the node that
   * decides about them. A commit that does not end, and a node that does not answer or is of a
   * version that cannot tell, hold nobody up for longer than a second or two.
   *
   * @return false if the wait was in vain
   */
  boolean awaitCommits(long partition) {
    calls.reads.increment();
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(COMMITS_MILLIS);
    try {
      Set<String> begun = commitsOn(partition);
      while (!begun.isEmpty() && System.nanoTime() < deadline) {
        LockSupport.parkNanos(COMMITS_PAUSE_NANOS);
        begun.retainAll(commitsOn(partition));
      }
      return begun.isEmpty();
    } catch (RuntimeException e) {
      if (!hasFailedToWait.getAndSet(true)) {
        LOG.warn(
            "A node of the metadata store does not tell which commits have begun; until it does, a directory that was just made may be shown without what the same call made in it: {}",
            e.getMessage());
      }
      return false;
    }
  }

  private Set<String> commitsOn(long partition) {
    return ignite
        .compute(ignite.cluster().forServers())
        .withExecutor(IgniteSettings.COMMIT_THREADS)
        .withTimeout(COMMITS_MILLIS)
        .affinityCallAsync(
            List.of(IgniteSettings.CACHE),
            affinity.partition(partition),
            new UnfinishedCommits(partition))
        .get(COMMITS_MILLIS);
  }

  /** Rows of a table after a key (or null), in the order of their keys. */
  <V extends MessageLite> List<Row<V>> scanAll(Table<V> table, Key after, int limit)
      throws IOException {
    List<Row<V>> rows = new ArrayList<>();
    byte[] from = after == null ? RowId.startOf(table) : RowId.orderOf(table, after);
    boolean including = after == null;
    while (from != null && rows.size() < limit) {
      Span span = span(new LocalScan(from, including, RowId.endOf(table), limit - rows.size()));
      span.rows()
          .forEach(
              (id, value) -> {
                if (rows.size() < limit && !RowBytes.isGuard(value)) {
                  rows.add(new Row<>(id.key(), table.parse(id.key(), value)));
                }
              });
      from = span.upTo();
      including = false;
    }
    return rows;
  }

  /**
   * Rows of all nodes, in order.
   *
   * @param upTo the order up to which there is no other row; null if there is no other row at all
   */
  private record Span(TreeMap<RowId, byte[]> rows, byte[] upTo) {}

  private Span span(LocalScan scan) throws IOException {
    Repetition repetition = null;
    while (true) {
      Collection<LocalScan.Part> parts =
          repeat("scan", () -> compute().broadcastAsync(scan).get(limitMillis));
      // A partition that moves to another node meanwhile would be missed, or read twice.
      Set<String> distributions = new HashSet<>();
      parts.forEach(part -> distributions.add(part.distribution()));
      // A node of which this process has not heard yet would be left out.
      int partitions = parts.stream().mapToInt(LocalScan.Part::partitions).sum();
      if (distributions.size() == 1
          && !distributions.contains(null)
          && partitions == affinity.partitions()) {
        return merged(parts);
      }
      repetition = repetition == null ? new Repetition(limitMillis) : repetition;
      repetition.pause(new IllegalStateException("rows move from one node to another"));
    }
  }

  /** Fails if rows are lost: a scan would leave them out. */
  private IgniteCompute compute() {
    if (!cache.lostPartitions().isEmpty()) {
      throw new CacheException(new CacheInvalidStateException("all copies of some rows are lost"));
    }
    return ignite.compute(ignite.cluster().forServers());
  }

  private static Span merged(Collection<LocalScan.Part> parts) {
    byte[] upTo = null;
    TreeMap<RowId, byte[]> rows = new TreeMap<>();
    for (LocalScan.Part part : parts) {
      for (int i = 0; i < part.keys().size(); i++) {
        rows.put(part.keys().get(i), part.values().get(i));
      }
      if (part.upTo() != null && (upTo == null || Arrays.compareUnsigned(part.upTo(), upTo) < 0)) {
        upTo = part.upTo();
      }
    }
    byte[] bound = upTo;
    if (bound != null) {
      rows.keySet().removeIf(id -> Arrays.compareUnsigned(id.order(), bound) > 0);
    }
    return new Span(rows, upTo);
  }

  private static IndexQueryCriterion behind(Table<?> table, Key key) {
    return IndexQueryCriteriaBuilder.gt(RowId.ORDER_FIELD, RowId.orderOf(table, key));
  }

  private <V extends MessageLite> List<Row<V>> scan(
      Table<V> table, int group, IndexQueryCriterion from, byte[] end, int limit)
      throws IOException {
    List<Row<V>> rows = new ArrayList<>();
    IndexQueryCriterion next = from;
    while (true) {
      int asked = limit - rows.size();
      List<Cache.Entry<RowId, byte[]>> page = page(group, next, end, asked);
      for (Cache.Entry<RowId, byte[]> entry : page) {
        if (!RowBytes.isGuard(entry.getValue())) {
          Key key = entry.getKey().key();
          rows.add(new Row<>(key, table.parse(key, entry.getValue())));
        }
      }
      if (page.size() < asked || rows.size() >= limit) {
        return rows;
      }
      next = behind(table, page.get(page.size() - 1).getKey().key());
    }
  }

  private List<Cache.Entry<RowId, byte[]>> page(
      int group, IndexQueryCriterion from, byte[] end, int limit) throws IOException {
    IndexQuery<RowId, byte[]> query =
        new IndexQuery<RowId, byte[]>(byte[].class.getName(), IgniteSettings.INDEX)
            .setCriteria(from, IndexQueryCriteriaBuilder.lt(RowId.ORDER_FIELD, end))
            .setPartition(group);
    query.setPageSize(Math.min(limit, PAGE));
    if (limit < Integer.MAX_VALUE) {
      query.setLimit(limit);
    }
    return repeat(
        "scan",
        () -> {
          try (QueryCursor<Cache.Entry<RowId, byte[]>> cursor = cache.query(query)) {
            return cursor.getAll();
          }
        });
  }

  private <R> R repeat(String what, Supplier<R> read) throws IOException {
    Repetition repetition = null;
    while (true) {
      try {
        return read.get();
      } catch (IgniteFutureTimeoutException e) {
        onSilence.accept(this);
        throw Failures.of(what, e);
      } catch (RuntimeException e) {
        if (Failures.isOfMissingNodes(e)) {
          throw Failures.ofMissingNodes(e);
        }
        if (!Failures.isOfTopology(e)) {
          throw Failures.of(what, e);
        }
        repetition = repetition == null ? new Repetition(limitMillis) : repetition;
        repetition.pause(e);
      }
    }
  }
}
