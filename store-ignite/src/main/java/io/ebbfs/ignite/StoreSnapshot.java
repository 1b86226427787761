package io.ebbfs.ignite;

import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.RestoredStore;
import io.ebbfs.namenode.store.RocksDbStore;
import io.ebbfs.namenode.store.Table;
import io.ebbfs.namenode.store.Transaction;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.thirdparty.protobuf.MessageLite;
import org.apache.ignite.Ignite;
import org.apache.ignite.IgniteCompute;
import org.apache.ignite.cluster.ClusterNode;
import org.apache.ignite.internal.IgniteEx;

/**
 * Copies all rows of the store, as they are at one moment, into an embedded store. The nodes take a
 * snapshot, each of the rows of which it has the primary copies, and send its rows to this process.
 */
final class StoreSnapshot {
  /** What the names of snapshots begin with that are removed after the backup. */
  static final String PREFIX = "ebbfs_backup_";

  private static final long LOCK_TIMEOUT_MILLIS = 1_000;
  private static final long CACHE_BYTES = 64L << 20;

  private final Ignite ignite;
  private final String name = PREFIX + UUID.randomUUID().toString().replace('-', '_');

  StoreSnapshot(StoreConnection.Joined joined) {
    this.ignite = joined.ignite();
  }

  /**
   * Writes the copy into a new directory.
   *
   * @throws IOException if a node is lost meanwhile, or a disk is full; what is in the directory
   *     then is no copy
   */
  void copyTo(Path directory) throws IOException {
    try {
      requireAllNodes();
      nodes().broadcast(new OldSnapshots());
      Collection<ClusterNode> taking = ignite.cluster().forServers().nodes();
      take();
      requireAllNodes();
      try (RocksDbStore copy = RocksDbStore.open(directory, LOCK_TIMEOUT_MILLIS, CACHE_BYTES)) {
        copy.changes().setCopying(true);
        receive(copy, taking);
      }
    } catch (RuntimeException e) {
      throw new IOException(
          "the nodes of the metadata store took no whole snapshot (%s); take the backup again when all nodes run, and look into their logs"
              .formatted(e.getMessage()),
          e);
    }
  }

  private IgniteCompute nodes() {
    return ignite
        .compute(ignite.cluster().forServers())
        .withExecutor(IgniteSettings.BACKUP_THREADS);
  }

  /** The public call would have each node copy the rows of the other nodes, too. */
  private void take() {
    boolean onlyPrimary = true;
    ((IgniteEx) ignite)
        .context()
        .cache()
        .context()
        .snapshotMgr()
        .createSnapshot(name, null, null, false, onlyPrimary, false, false, false, false, false)
        .get();
  }

  /**
   * Has the nodes that took the snapshot send its rows. Fails if one of them is away: its rows
   * would be missing.
   */
  private void receive(RocksDbStore copy, Collection<ClusterNode> taking) throws IOException {
    AtomicLong taken = new AtomicLong();
    RowPage.Receiver receiver =
        (orders, values) -> {
          write(copy, orders, values);
          taken.addAndGet(orders.size());
        };
    ignite.cluster().nodeLocalMap().put(name, receiver);
    try {
      UUID self = ignite.cluster().localNode().id();
      Collection<Long> sent =
          ignite
              .compute(ignite.cluster().forNodes(taking))
              .withExecutor(IgniteSettings.BACKUP_THREADS)
              .broadcast(new SnapshotRows(name, self));
      if (sent.size() != taking.size()) {
        throw new IOException(
            "the backup is not whole: %d of %d nodes of the metadata store have sent their rows; take it again when all nodes run"
                .formatted(sent.size(), taking.size()));
      }
      check(sent, taken.get());
    } finally {
      ignite.cluster().nodeLocalMap().remove(name);
    }
    RestoredStore.noteRows(copy, taken.get());
  }

  /** Ignite has no file of a partition without rows, so partitions are not counted. */
  private void check(Collection<Long> sent, long taken) throws IOException {
    long rows = sent.stream().mapToLong(Long::longValue).sum();
    if (rows != taken) {
      throw new IOException(
          "the backup is not whole: it has %d of %d rows; take it again".formatted(taken, rows));
    }
  }

  /** Ignite leaves out what is not there, and says nothing. */
  private void requireAllNodes() throws IOException {
    int all = ignite.cluster().currentBaselineTopology().size();
    int running = ignite.cluster().forServers().nodes().size();
    boolean lost = !ignite.cache(IgniteSettings.CACHE).lostPartitions().isEmpty();
    if (running < all || lost) {
      throw new IOException(
          "no backup is taken while %d of %d nodes of the metadata store run%s; start the missing ones and take it again"
              .formatted(running, all, lost ? " and rows are refused" : ""));
    }
  }

  private static void write(RocksDbStore copy, List<byte[]> orders, List<byte[]> values)
      throws IOException {
    copy.transactInBackground(
        0,
        transaction -> {
          for (int i = 0; i < orders.size(); i++) {
            byte[] order = orders.get(i);
            put(transaction, RowId.tableOf(order), RowId.keyOf(order), values.get(i));
          }
          return null;
        });
  }

  private static <V extends MessageLite> void put(
      Transaction transaction, Table<V> table, Key key, byte[] value) {
    transaction.put(table, key, table.parse(key, value));
  }
}
