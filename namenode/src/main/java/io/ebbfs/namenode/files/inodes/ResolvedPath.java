package io.ebbfs.namenode.files.inodes;

import io.ebbfs.namenode.policies.StoragePolicies;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Tables;
import java.io.FileNotFoundException;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.ParentNotDirectoryException;

/**
 * A path and its inodes, from the root on. The inodes end early at the first name that does not
 * exist, or after a file that has further names behind it.
 *
 * @param snapshot null if the path does not lead into a snapshot
 */
public record ResolvedPath(FsPath path, List<Inode> inodes, SnapshotPlace snapshot) {
  public ResolvedPath(FsPath path, List<Inode> inodes) {
    this(path, inodes, null);
  }

  /** Whether the path leads into a snapshot, or to the list of the snapshots of a directory. */
  public boolean isInSnapshots() {
    return snapshot != null;
  }

  /** Whether the path is that of the list of the snapshots of a directory. */
  public boolean isSnapshotList() {
    return exists() && snapshot != null && snapshot.id() == 0;
  }

  /** The snapshot of which {@link SnapshotEntries} reads entries below this path. */
  public long snapshotId() {
    return snapshot == null ? SnapshotEntries.NOW : snapshot.id();
  }

  /** Whether the last component exists. */
  public boolean exists() {
    return inodes.size() == path.depth() + 1;
  }

  public Optional<Inode> last() {
    return exists() ? Optional.of(lastFound()) : Optional.empty();
  }

  /**
   * The file at the path.
   *
   * @throws FileNotFoundException if the path does not exist or is a directory
   */
  public Inode requireFile() throws FileNotFoundException {
    Inode inode = last().orElseThrow(() -> PathErrors.notFound("File does not exist: " + path));
    if (!inode.isFile()) {
      throw PathErrors.notFound("Path is not a file: " + path);
    }
    return inode;
  }

  /**
   * The id of the storage policy that holds for the deepest existing inode: {@link
   * StoragePolicies#UNSPECIFIED} if none was set.
   */
  public int policyId() {
    return policyOf(inodes.size());
  }

  /** The same of the directory of the last component, or of the deepest one above it. */
  public int policyIdAbove() {
    return policyOf(Math.min(inodes.size(), path.depth()));
  }

  private int policyOf(int depth) {
    for (int i = depth - 1; i >= 0; i--) {
      if (inodes.get(i).row().hasStoragePolicy()) {
        return inodes.get(i).row().getStoragePolicy();
      }
    }
    return StoragePolicies.UNSPECIFIED;
  }

  /** The inode at the path as clients see it: with the storage policy that holds for it. */
  public Optional<Inode> shown() {
    return last().map(inode -> inode.showing(policyId()));
  }

  /** The deepest existing inode. */
  public Inode lastFound() {
    return inodes.get(inodes.size() - 1);
  }

  /** The inode above the last component, if it exists. */
  public Optional<Inode> parent() {
    return !path.isRoot() && inodes.size() >= path.depth()
        ? Optional.of(inodes.get(path.depth() - 1))
        : Optional.empty();
  }

  /** The deepest existing inode above the last component. */
  public Inode ancestor() {
    return inodes.get(Math.max(0, Math.min(inodes.size(), path.depth()) - 1));
  }

  /** The key of the first component that does not exist. */
  public Key firstMissingKey() {
    return Tables.inode(lastFound().id(), path.nameBytes(inodes.size()));
  }

  /** The number of components that do not exist. */
  public int missing() {
    return path.depth() + 1 - inodes.size();
  }

  /** Checks that the parent of the last component exists and is a directory. */
  public void checkParentExists() throws FileNotFoundException, ParentNotDirectoryException {
    if (path.isRoot()) {
      return;
    }
    FsPath parentPath = path.prefix(path.depth() - 1);
    Inode parent =
        parent()
            .orElseThrow(
                () -> PathErrors.notFound("Parent directory doesn't exist: " + parentPath));
    if (!parent.isDirectory()) {
      throw new ParentNotDirectoryException("Parent path is not a directory: " + parentPath);
    }
  }
}
