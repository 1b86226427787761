package io.ebbfs.namespace.inode;

import io.ebbfs.namespace.store.Key;
import io.ebbfs.namespace.store.Tables;
import java.util.List;
import java.util.Optional;

/**
 * A path and the inodes that were found along it, from the root on; it ends early where nothing was
 * found or where a file stands in the way.
 */
public record ResolvedPath(FsPath path, List<Inode> inodes) {
  /** Whether the last component was found. */
  public boolean exists() {
    return inodes.size() == path.depth() + 1;
  }

  public Optional<Inode> last() {
    return exists() ? Optional.of(lastFound()) : Optional.empty();
  }

  /** The deepest inode that was found. */
  public Inode lastFound() {
    return inodes.get(inodes.size() - 1);
  }

  /** The inode above the last component, if it was found. */
  public Optional<Inode> parent() {
    return !path.isRoot() && inodes.size() >= path.depth()
        ? Optional.of(inodes.get(path.depth() - 1))
        : Optional.empty();
  }

  /** The deepest inode that was found above the last component. */
  public Inode ancestor() {
    return inodes.get(Math.max(0, Math.min(inodes.size(), path.depth()) - 1));
  }

  /** The key of the first component that was not found. */
  public Key firstMissingKey() {
    return Tables.inode(lastFound().id(), path.nameBytes(inodes.size()));
  }

  /** How many components were not found. */
  public int missing() {
    return path.depth() + 1 - inodes.size();
  }
}
