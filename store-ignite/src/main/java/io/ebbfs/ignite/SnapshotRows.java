package io.ebbfs.ignite;

import java.io.File;
import java.io.IOException;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.apache.ignite.Ignite;
import org.apache.ignite.IgniteCheckedException;
import org.apache.ignite.IgniteException;
import org.apache.ignite.binary.BinaryObject;
import org.apache.ignite.configuration.CacheConfiguration;
import org.apache.ignite.internal.GridKernalContext;
import org.apache.ignite.internal.IgniteEx;
import org.apache.ignite.internal.pagemem.PageIdAllocator;
import org.apache.ignite.internal.processors.cache.CacheObjectContext;
import org.apache.ignite.internal.processors.cache.persistence.CacheDataRow;
import org.apache.ignite.internal.processors.cache.persistence.file.FilePageStore;
import org.apache.ignite.internal.processors.cache.persistence.file.FilePageStoreManager;
import org.apache.ignite.internal.processors.cache.persistence.filename.SnapshotFileTree;
import org.apache.ignite.internal.processors.cache.persistence.snapshot.IgniteSnapshotManager;
import org.apache.ignite.internal.util.lang.GridCloseableIterator;
import org.apache.ignite.internal.util.typedef.internal.CU;
import org.apache.ignite.lang.IgniteCallable;
import org.apache.ignite.resources.IgniteInstanceResource;

/**
 * Sends the rows of a snapshot that a node has taken to the process that takes a backup, page by
 * page, and removes the snapshot. The node waits until that process has taken a page. It runs at
 * the node, and returns the number of rows.
 */
final class SnapshotRows implements IgniteCallable<Long> {
  private static final long serialVersionUID = 1;

  /** The cache is a group of its own. */
  private static final int GROUP = CU.cacheId(IgniteSettings.CACHE);

  @IgniteInstanceResource private transient Ignite ignite;
  private final String snapshot;
  private final UUID receiver;

  SnapshotRows(String snapshot, UUID receiver) {
    this.snapshot = snapshot;
    this.receiver = receiver;
  }

  @Override
  public Long call() {
    SnapshotFileTree files = new SnapshotFileTree(node(), snapshot, null);
    try {
      long rows = 0;
      for (int partition : partitions(files)) {
        rows += send(files, partition);
      }
      return rows;
    } catch (IgniteCheckedException | IOException e) {
      throw new IgniteException(
          "the snapshot %s cannot be read: %s".formatted(snapshot, e.getMessage()), e);
    } finally {
      snapshots().deleteSnapshot(files);
    }
  }

  private GridKernalContext node() {
    return ((IgniteEx) ignite).context();
  }

  private IgniteSnapshotManager snapshots() {
    return node().cache().context().snapshotMgr();
  }

  private Set<Integer> partitions(SnapshotFileTree files)
      throws IgniteCheckedException, IOException {
    Map<Integer, Set<Integer>> all = snapshots().readSnapshotMetadata(files.meta()).partitions();
    Set<Integer> partitions = new TreeSet<>(all.getOrDefault(GROUP, Set.of()));
    partitions.remove(PageIdAllocator.INDEX_PARTITION);
    return partitions;
  }

  private long send(SnapshotFileTree files, int partition)
      throws IgniteCheckedException, IOException {
    CacheConfiguration<?, ?> cache =
        node().cache().cacheDescriptor(IgniteSettings.CACHE).cacheConfiguration();
    File file = files.partitionFile(cache, partition);
    if (!file.exists()) { // Ignite would make an empty one
      throw new IOException(file + " is missing: another backup has removed the snapshot");
    }
    FilePageStoreManager stores = (FilePageStoreManager) node().cache().context().pageStore();
    try (FilePageStore pages =
            (FilePageStore)
                stores
                    .getPageStoreFactory(GROUP, false)
                    .createPageStore(PageIdAllocator.FLAG_DATA, file, bytes -> {});
        GridCloseableIterator<CacheDataRow> rows =
            snapshots().partitionRowIterator(node(), IgniteSettings.CACHE, partition, pages)) {
      return send(rows);
    }
  }

  private long send(GridCloseableIterator<CacheDataRow> rows) throws IgniteCheckedException {
    CacheObjectContext objects =
        node().cache().cache(IgniteSettings.CACHE).context().cacheObjectContext();
    long sent = 0;
    RowPage page = new RowPage(snapshot);
    while (rows.hasNext()) {
      CacheDataRow row = rows.next();
      byte[] value = row.value().value(objects, false);
      if (!RowBytes.isGuard(value)) {
        page.add(((BinaryObject) row.key()).field(RowId.ORDER_FIELD), value);
        sent++;
      }
      if (page.isFull() || !rows.hasNext()) {
        deliver(page);
        page = new RowPage(snapshot);
      }
    }
    return sent;
  }

  private void deliver(RowPage page) {
    ignite
        .compute(ignite.cluster().forNodeId(receiver))
        .withExecutor(IgniteSettings.BACKUP_THREADS)
        .run(page);
  }
}
