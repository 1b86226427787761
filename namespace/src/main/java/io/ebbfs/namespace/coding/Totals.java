package io.ebbfs.namespace.coding;

import io.ebbfs.namespace.inode.Inode;
import io.ebbfs.namespace.store.Key;
import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.namespace.store.Row;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import java.io.IOException;
import java.util.List;

/**
 * Sums over all files and replicas, from a scan that goes on bit by bit: as old as one pass. {@link
 * #tick} is called by one thread; reading is thread-safe.
 */
final class Totals {
  private static final int PAGE = 2_000;

  /** Sums of one pass. */
  record Sums(long files, long logicalBytes, long storedBytes) {}

  private final MetadataStore store;
  private final int rowsPerTick;
  private volatile Sums published = new Sums(0, 0, 0);
  private long files;
  private long logicalBytes;
  private long storedBytes;
  private boolean inReplicas;
  private Key scannedTo;

  Totals(MetadataStore store, int rowsPerTick) {
    this.store = store;
    this.rowsPerTick = rowsPerTick;
  }

  Sums sums() {
    return published;
  }

  /** Goes on with the pass, at most to its end. */
  void tick() throws IOException {
    for (int rows = 0; rows < rowsPerTick; rows += PAGE) {
      boolean last = inReplicas ? addReplicas() : addFiles();
      if (last && inReplicas) {
        published = new Sums(files, logicalBytes, storedBytes);
        files = 0;
        logicalBytes = 0;
        storedBytes = 0;
        inReplicas = false;
        return;
      }
      inReplicas |= last;
    }
  }

  private boolean addFiles() throws IOException {
    List<Row<InodeRow>> page = store.scanAll(Tables.INODE, scannedTo, PAGE);
    for (Row<InodeRow> row : page) {
      boolean deleted = row.key().partition() == Inode.TRASH_ID;
      if (!deleted && row.value().getKind() == InodeKindProto.FILE) {
        files++;
        logicalBytes += row.value().getLengthBytes();
      }
    }
    return next(page);
  }

  private boolean addReplicas() throws IOException {
    List<Row<ReplicaRow>> page = store.scanAll(Tables.REPLICA, scannedTo, PAGE);
    for (Row<ReplicaRow> row : page) {
      if (row.value().getState() == ReplicaStateProto.FINALIZED) {
        storedBytes += row.value().getLengthBytes();
      }
    }
    return next(page);
  }

  private boolean next(List<? extends Row<?>> page) {
    boolean last = page.size() < PAGE;
    scannedTo = last ? null : page.get(page.size() - 1).key();
    return last;
  }
}
