package io.ebbfs.namenode.files.snapshots;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.FsPath;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.files.inodes.PermissionChecker;
import io.ebbfs.namenode.files.inodes.ResolvedPath;
import io.ebbfs.namenode.files.inodes.SnapshotEntries;
import io.ebbfs.namenode.files.inodes.SnapshotEntries.Entry;
import io.ebbfs.namenode.files.inodes.SnapshotPlace;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.SnapshotTables;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.XAttrRow;
import java.io.IOException;
import java.util.Optional;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.hdfs.protocol.SnapshotException;

/**
 * Compares a directory in two snapshots, or in a snapshot and now. As in HDFS, the directory is one
 * with snapshots or lies below one. Thread-safe.
 */
public final class SnapshotDiff {
  private final MetadataStore store;

  public SnapshotDiff(MetadataStore store) {
    this.store = store;
  }

  /**
   * What is compared.
   *
   * @param root the path of the directory with snapshots
   * @param scope the directory that is compared, in the earlier state and in the later one
   */
  record Sides(
      Caller caller, FsPath root, FsPath path, Side earlier, Side later, boolean isFromEarlier) {}

  /** A state of the directory that is compared; the snapshot may be {@link SnapshotEntries#NOW}. */
  record Side(long snapshotId, Entry directory) {}

  /**
   * Compares two states of a directory.
   *
   * @param from the name of a snapshot; empty for the state of now
   * @param to the same
   * @throws SnapshotException if there is no such snapshot, or the path has no snapshots
   */
  public SnapshotDifferences compare(Caller caller, String src, String from, String to)
      throws IOException {
    Sides sides =
        store.transact(
            Inode.ROOT_ID,
            Durability.RELAXED,
            transaction -> {
              ResolvedPath path = PathResolver.resolve(transaction, src);
              PermissionChecker.checkTraverse(caller, path);
              if (!path.exists()) {
                throw new SnapshotException("Directory does not exist: " + path.path());
              }
              int depth = rootDepth(path);
              Side one = side(transaction, path, depth, from);
              Side other = side(transaction, path, depth, to);
              boolean isFromEarlier = one.snapshotId() < other.snapshotId();
              return new Sides(
                  caller,
                  prefix(path.path(), depth),
                  path.path(),
                  isFromEarlier ? one : other,
                  isFromEarlier ? other : one,
                  isFromEarlier);
            });
    return new SnapshotWalk(store, sides).run();
  }

  private static int rootDepth(ResolvedPath path) throws SnapshotException {
    for (int depth = path.path().depth(); depth >= 0; depth--) {
      if (path.inodes().get(depth).row().getSnapshottable()) {
        return depth;
      }
    }
    throw new SnapshotException(
        "The path %s is neither snapshottable nor under a snapshot root!".formatted(path.path()));
  }

  private static FsPath prefix(FsPath path, int depth) {
    FsPath prefix = FsPath.parse("/");
    for (int i = 1; i <= depth; i++) {
      prefix = prefix.child(path.name(i));
    }
    return prefix;
  }

  private static Side side(Transaction transaction, ResolvedPath path, int depth, String name)
      throws IOException {
    Entry now = new Entry(path.lastFound(), null);
    if (name == null || name.isEmpty()) {
      return new Side(SnapshotEntries.NOW, now);
    }
    FsPath root = prefix(path.path(), depth);
    long directoryId = path.inodes().get(depth).id();
    long id =
        SnapshotTables.of(transaction, directoryId).stream()
            .filter(row -> row.value().getName().equals(name))
            .map(row -> row.key().firstLong())
            .findFirst()
            .orElseThrow(
                () ->
                    new SnapshotException(
                        "Cannot find the snapshot of directory %s with name %s"
                            .formatted(root, name)));
    FsPath then = root.child(SnapshotPlace.NAME).child(name);
    for (int i = depth + 1; i <= path.path().depth(); i++) {
      then = then.child(path.path().name(i));
    }
    ResolvedPath found = PathResolver.resolveToRead(transaction, then.toString());
    boolean isThere = found.exists() && found.lastFound().isSame(path.lastFound());
    return new Side(
        id, isThere ? new Entry(found.lastFound(), found.snapshot().attributes()) : now);
  }

  /** Refuses a caller who may not read a directory. */
  static void checkReadable(Caller caller, Inode directory, FsPath path) throws IOException {
    if (!caller.isSuperuser()) {
      PermissionChecker.check(caller, directory, path, FsAction.READ);
    }
  }

  /** Whether an inode differs in more than its times and its entries. */
  static boolean isModified(MetadataStore store, Entry earlier, Entry later) throws IOException {
    InodeRow one = earlier.inode().row();
    InodeRow other = later.inode().row();
    return one.getPermission() != other.getPermission()
        || !one.getOwner().equals(other.getOwner())
        || !one.getGroup().equals(other.getGroup())
        || !one.getAccessAclList().equals(other.getAccessAclList())
        || !one.getDefaultAclList().equals(other.getDefaultAclList())
        || one.getReplication() != other.getReplication()
        || one.getBlockSizeBytes() != other.getBlockSizeBytes()
        || one.getLengthBytes() != other.getLengthBytes()
        || one.hasPin() != other.hasPin()
        || one.getPin() != other.getPin()
        || one.getExtendedAttributes() != other.getExtendedAttributes()
        || one.getExtendedAttributes()
            && !attributes(store, earlier).equals(attributes(store, later));
  }

  private static XAttrRow attributes(MetadataStore store, Entry entry) throws IOException {
    if (entry.attributes() != null) {
      return entry.attributes();
    }
    long id = entry.inode().id();
    Optional<XAttrRow> row =
        store.transact(
            id, Durability.RELAXED, transaction -> transaction.get(Tables.XATTR, Tables.xattr(id)));
    return row.orElse(XAttrRow.getDefaultInstance());
  }
}
