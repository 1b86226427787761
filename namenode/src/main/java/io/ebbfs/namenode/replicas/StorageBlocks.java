package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.StorageReplicaRow;
import java.io.IOException;
import java.util.List;

/** The ids of the blocks that the rows place on a disk, page by page. Stateless. */
final class StorageBlocks {
  private StorageBlocks() {}

  /**
   * The next ids in their order; fewer than the size on the last page.
   *
   * @param storageNumber the number of the disk in the rows
   * @param after the last id of the page before; 0 for the first page
   */
  static List<Long> page(MetadataStore store, long storageNumber, long after, int size)
      throws IOException {
    List<Row<StorageReplicaRow>> rows =
        store.transactInBackground(
            storageNumber,
            t ->
                t.scan(
                    Tables.STORAGE_REPLICA,
                    storageNumber,
                    Tables.storageReplica(storageNumber, after),
                    size));
    return rows.stream().map(row -> row.key().firstLong()).toList();
  }
}
