package io.ebbfs.namenode.rpc.client;

import io.ebbfs.namenode.files.snapshots.SnapshotDiff;
import io.ebbfs.namenode.files.snapshots.SnapshotService;
import io.ebbfs.namenode.store.MetadataStore;
import java.time.Clock;

/** The services behind {@link SnapshotCalls}. */
public record SnapshotServices(SnapshotService snapshots, SnapshotDiff diff) {
  /**
   * @param onDeletion called after a snapshot was deleted; must not block
   */
  public static SnapshotServices of(MetadataStore store, Clock clock, Runnable onDeletion) {
    return new SnapshotServices(
        new SnapshotService(store, clock, onDeletion), new SnapshotDiff(store));
  }
}
