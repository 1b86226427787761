package io.ebbfs.ignite;

import java.io.File;
import org.apache.ignite.Ignite;
import org.apache.ignite.internal.GridKernalContext;
import org.apache.ignite.internal.IgniteEx;
import org.apache.ignite.internal.processors.cache.persistence.filename.SnapshotFileTree;
import org.apache.ignite.internal.processors.cache.persistence.snapshot.IgniteSnapshotManager;
import org.apache.ignite.lang.IgniteRunnable;
import org.apache.ignite.resources.IgniteInstanceResource;

/**
 * Removes what backups that were broken off have left on the disk of a node. It runs at the node.
 */
final class OldSnapshots implements IgniteRunnable {
  private static final long serialVersionUID = 1;

  @IgniteInstanceResource private transient Ignite ignite;

  @Override
  public void run() {
    GridKernalContext node = ((IgniteEx) ignite).context();
    IgniteSnapshotManager snapshots = node.cache().context().snapshotMgr();
    File root = node.pdsFolderResolver().fileTree().snapshotsRoot();
    File[] left = root.listFiles((parent, name) -> isOfBackup(name));
    if (left != null && !snapshots.isSnapshotCreating()) {
      for (File one : left) {
        snapshots.deleteSnapshot(new SnapshotFileTree(node, one.getName(), null));
      }
    }
  }

  private static boolean isOfBackup(String name) {
    return name.startsWith(StoreSnapshot.PREFIX);
  }
}
