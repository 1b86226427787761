package io.ebbfs.namenode.files.inodes;

import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.InodeNameRow;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.hdfs.protocol.SnapshotAccessControlException;

/** Resolves paths to inodes, and inode ids to paths. Reads only; takes no locks. */
public final class PathResolver {
  /** HDFS's name for a file by its id. */
  private static final String BY_ID = "/.reserved/.inodes/";

  private static final int MAX_DEPTH = 10_000;

  private PathResolver() {}

  /**
   * Resolves the path that a client sent, to change something there: an ordinary path, or a path by
   * inode id.
   *
   * @throws SnapshotAccessControlException if the path leads into a snapshot
   */
  public static ResolvedPath resolve(Transaction transaction, String src) throws IOException {
    return resolve(transaction, FsPath.parse(byId(transaction, src)));
  }

  /** The same, to read: the path may lead into a snapshot. */
  public static ResolvedPath resolveToRead(Transaction transaction, String src) throws IOException {
    ResolvedPath path =
        follow(transaction, FsPath.parse(byId(transaction, src)), start(transaction));
    if (!SnapshotPaths.leadsIntoSnapshots(path)) {
      path = followNew(transaction, path);
    }
    return SnapshotPaths.leadsIntoSnapshots(path) ? SnapshotPaths.follow(transaction, path) : path;
  }

  /**
   * Follows a path on through directories that one mkdir has made. A shared store may show the
   * upper one before the one below.
   */
  private static ResolvedPath followNew(Transaction transaction, ResolvedPath path)
      throws IOException {
    ResolvedPath found = path;
    int known = 0;
    while (!found.exists()
        && found.inodes().size() > known
        && found.lastFound().isDirectory()
        && transaction.awaitCommits(
            found.lastFound().id(), found.lastFound().row().getModifiedMillis())) {
      known = found.inodes().size();
      found = follow(transaction, found.path(), new ArrayList<>(found.inodes()));
    }
    return found;
  }

  /** The same, with the inodes of another path as far as both have the same names. */
  public static ResolvedPath resolve(Transaction transaction, String src, ResolvedPath other)
      throws IOException {
    FsPath path = FsPath.parse(byId(transaction, src));
    int common = Math.min(path.commonDepth(other.path()) + 1, other.inodes().size());
    List<Inode> inodes = new ArrayList<>(path.depth() + 1);
    inodes.addAll(other.inodes().subList(0, common));
    return resolve(transaction, path, inodes);
  }

  /** Follows the path from the root down to the last component that exists. */
  public static ResolvedPath resolve(Transaction transaction, FsPath path) throws IOException {
    return resolve(transaction, path, start(transaction));
  }

  private static List<Inode> start(Transaction transaction) throws IOException {
    List<Inode> inodes = new ArrayList<>();
    if (!transaction.isShared()) {
      inodes.add(root(transaction));
    }
    return inodes;
  }

  private static ResolvedPath resolve(Transaction transaction, FsPath path, List<Inode> inodes)
      throws IOException {
    ResolvedPath resolved = follow(transaction, path, inodes);
    SnapshotPaths.note(transaction, resolved.inodes());
    return SnapshotPaths.requireNoSnapshot(resolved);
  }

  /** Follows the path behind the inodes that are known, the root first. */
  private static ResolvedPath follow(Transaction transaction, FsPath path, List<Inode> inodes)
      throws IOException {
    if (transaction.isShared()) {
      GuessedPath.follow(transaction, path, inodes);
      return new ResolvedPath(path, inodes);
    }
    Inode inode = inodes.get(inodes.size() - 1);
    for (int depth = inodes.size(); depth <= path.depth() && inode.isDirectory(); depth++) {
      Key key = Tables.inode(inode.id(), path.nameBytes(depth));
      Optional<InodeRow> row = transaction.get(Tables.INODE, key);
      if (row.isEmpty()) {
        break;
      }
      inode = new Inode(key, row.get());
      inodes.add(inode);
    }
    return new ResolvedPath(path, inodes);
  }

  /**
   * Turns a path that names an inode by its id into an ordinary path.
   *
   * @throws FileNotFoundException if there is no such inode
   */
  private static String byId(Transaction transaction, String path) throws IOException {
    if (!path.startsWith(BY_ID)) {
      return path;
    }
    String rest = path.substring(BY_ID.length());
    int slash = rest.indexOf('/');
    String id = slash < 0 ? rest : rest.substring(0, slash);
    try {
      FsPath start =
          pathOf(transaction, Long.parseLong(id))
              .orElseThrow(
                  () -> PathErrors.notFound("File for given inode path does not exist: " + path));
      return slash < 0 ? start.toString() : start + rest.substring(slash);
    } catch (NumberFormatException e) {
      throw PathErrors.notFound("File for given inode path does not exist: " + path);
    }
  }

  private static Inode root(Transaction transaction) throws IOException {
    return inodeAt(transaction, Inode.ROOT_KEY).orElseThrow(PathResolver::rootless);
  }

  static IOException rootless() {
    return new IOException("the metadata store has no root directory");
  }

  public static Optional<Inode> inodeAt(Transaction transaction, Key key) throws IOException {
    return transaction.get(Tables.INODE, key).map(row -> new Inode(key, row));
  }

  /** The path of an inode, or empty if the inode or a directory above it does not exist. */
  public static Optional<FsPath> pathOf(Transaction transaction, long inodeId) throws IOException {
    List<String> names = new ArrayList<>();
    long id = inodeId;
    while (id != Inode.ROOT_ID) {
      Optional<InodeNameRow> name = transaction.get(Tables.INODE_NAME, Tables.inodeName(id));
      if (name.isEmpty() || name.get().getParentId() == Inode.PENDING_DELETION_ID) {
        return Optional.empty();
      }
      if (names.size() > MAX_DEPTH) {
        throw new IOException(
            "inode " + inodeId + " is its own ancestor: the metadata store is damaged");
      }
      names.add(name.get().getName().toString(StandardCharsets.UTF_8));
      id = name.get().getParentId();
    }
    Collections.reverse(names);
    return Optional.of(FsPath.parse("/" + String.join("/", names)));
  }

  /** Whether an inode is the inode "above", or lies below it. */
  public static boolean isWithin(Transaction transaction, long inodeId, long aboveId)
      throws IOException {
    return inodeId == aboveId || nameWithin(transaction, inodeId, aboveId).isPresent();
  }

  /** The key of the row of an inode; empty if the inode is deleted, or below a deleted one. */
  public static Optional<Key> attachedKey(Transaction transaction, long inodeId)
      throws IOException {
    return inodeId == Inode.ROOT_ID
        ? Optional.of(Inode.ROOT_KEY)
        : nameWithin(transaction, inodeId, Inode.ROOT_ID)
            .map(row -> Tables.inode(row.getParentId(), row.getName().toByteArray()));
  }

  /** The name row of an inode that lies below another one; else empty. */
  private static Optional<InodeNameRow> nameWithin(
      Transaction transaction, long inodeId, long aboveId) throws IOException {
    List<InodeNameRow> names = new ArrayList<>();
    long id = inodeId;
    while (id != aboveId) {
      List<InodeNameRow> more = GuessedPath.upwards(transaction, id, aboveId);
      if (more.isEmpty()) {
        return Optional.empty();
      }
      names.addAll(more);
      id = more.get(more.size() - 1).getParentId();
      if (names.size() >= MAX_DEPTH) {
        throw new IOException(
            "inode " + inodeId + " is its own ancestor: the metadata store is damaged");
      }
    }
    SnapshotPaths.noteNames(transaction, inodeId, names);
    return Optional.of(names.get(0));
  }
}
