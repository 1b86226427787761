package io.ebbfs.namespace.inode;

import io.ebbfs.namespace.IdGenerator;
import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.namespace.store.MetadataStore.Durability;
import io.ebbfs.namespace.store.MetadataStore.TransactionBody;
import io.ebbfs.namespace.store.RowLock;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.namespace.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.security.AccessControlException;

/**
 * Directories and the attributes of files: the operations of the namespace that concern no block.
 * They behave and fail as in HDFS. Thread-safe.
 */
public final class Namespace {
  private final MetadataStore store;
  private final IdGenerator inodeIds;
  private final Clock clock;
  private final Limits limits;

  public Namespace(MetadataStore store, IdGenerator inodeIds, Clock clock, Limits limits) {
    this.store = store;
    this.inodeIds = inodeIds;
    this.clock = clock;
    this.limits = limits;
  }

  /** Makes the root directory in a new store. */
  public void initialize(Caller.Superuser owner) throws IOException {
    store.transact(
        Inode.NOWHERE_ID,
        transaction -> {
          transaction.lock(List.of(RowLock.exclusive(Tables.INODE, Inode.ROOT_KEY)));
          if (transaction.get(Tables.INODE, Inode.ROOT_KEY).isEmpty()) {
            Directories.put(transaction, Inode.ROOT_KEY, rootRow(owner));
          }
          return null;
        });
  }

  private InodeRow rootRow(Caller.Superuser owner) {
    return InodeRow.newBuilder()
        .setId(Inode.ROOT_ID)
        .setKind(InodeKindProto.DIRECTORY)
        .setOwner(owner.user())
        .setGroup(owner.group())
        .setPermission(0755)
        .setModifiedMillis(clock.millis())
        .build();
  }

  /** Reads without locks. */
  <R> R read(TransactionBody<R> body) throws IOException {
    return store.transact(Inode.ROOT_ID, Durability.RELAXED, body);
  }

  /**
   * Makes a directory, and those above it if asked to.
   *
   * @return true; that it exists already is no error
   */
  public boolean mkdirs(Caller caller, String src, FsPermission permission, boolean makeParents)
      throws IOException {
    FsPath path = FsPath.parseNew(src);
    return Retrying.repeat(
        () -> {
          int missing = read(t -> checkedForMkdirs(t, caller, path, makeParents).missing());
          return missing == 0 || mkdirs(caller, path, permission, makeParents, ids(missing));
        });
  }

  private boolean mkdirs(
      Caller caller, FsPath path, FsPermission permission, boolean makeParents, List<Long> ids)
      throws IOException {
    return store.transact(
        Inode.ROOT_ID,
        transaction -> {
          ResolvedPath resolved = checkedForMkdirs(transaction, caller, path, makeParents);
          if (resolved.exists()) {
            return true;
          }
          if (resolved.missing() > ids.size()) {
            throw new StaleReadException("directories above " + path + " went away");
          }
          Inode above =
              InodeLocks.lock(
                      transaction,
                      List.of(resolved.lastFound()),
                      List.of(resolved.firstMissingKey()))
                  .get(0);
          Directories.Maker maker = new Directories.Maker(caller.user(), clock.millis());
          Directories.makeMissing(
              transaction,
              path,
              above,
              resolved.inodes().size(),
              path.depth(),
              permission.toShort(),
              maker,
              ids.iterator());
          Directories.touch(transaction, above, maker.nowMillis());
          return true;
        });
  }

  private ResolvedPath checkedForMkdirs(
      Transaction transaction, Caller caller, FsPath path, boolean makeParents) throws IOException {
    ResolvedPath resolved = PathResolver.resolve(transaction, path);
    Permissions.checkTraverseToCreate(caller, resolved);
    if (resolved.exists()) {
      if (resolved.lastFound().isFile()) {
        throw new FileAlreadyExistsException("Path is not a directory: " + path);
      }
      return resolved;
    }
    Permissions.checkAncestorWrite(caller, resolved);
    if (!makeParents) {
      Directories.checkParentExists(resolved);
    }
    Directories.checkNames(resolved, limits);
    return resolved;
  }

  private List<Long> ids(int count) throws IOException {
    List<Long> ids = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      ids.add(inodeIds.next());
    }
    return ids;
  }

  /** The inode at a path, if the caller may see it. */
  public Optional<Inode> find(Caller caller, String src) throws IOException {
    return read(
        transaction -> {
          ResolvedPath resolved = resolve(transaction, src);
          Permissions.checkTraverse(caller, resolved);
          return resolved.last();
        });
  }

  /** As {@link #find}, for calls that need something to be there. */
  public Inode get(Caller caller, String src) throws IOException {
    return find(caller, src)
        .orElseThrow(() -> new FileNotFoundException("File does not exist: " + src));
  }

  /** The file at a path. */
  public Inode getFile(Caller caller, String src) throws IOException {
    return read(
        transaction -> {
          ResolvedPath resolved = resolve(transaction, src);
          Permissions.checkTraverse(caller, resolved);
          return FileReads.requireFile(resolved);
        });
  }

  /** The file at a path, which the caller may write. */
  public Inode getFileToWrite(Caller caller, String src) throws IOException {
    return read(
        transaction -> {
          ResolvedPath resolved = resolve(transaction, src);
          Permissions.checkTraverse(caller, resolved);
          Permissions.checkAccess(caller, resolved, FsAction.WRITE);
          return FileReads.requireFile(resolved);
        });
  }

  /**
   * Checks that the caller may act so.
   *
   * @throws FileNotFoundException if nothing is there
   */
  public Inode checkAccess(Caller caller, String src, FsAction action) throws IOException {
    return read(
        transaction -> {
          ResolvedPath resolved = resolve(transaction, src);
          Permissions.checkTraverse(caller, resolved);
          if (!resolved.exists()) {
            throw new FileNotFoundException("File/Directory does not exist: " + src);
          }
          Permissions.checkAccess(caller, resolved, action);
          return resolved.lastFound();
        });
  }

  static ResolvedPath resolve(Transaction transaction, String src) throws IOException {
    return PathResolver.resolve(transaction, FsPath.parse(PathResolver.byId(transaction, src)));
  }

  public void setPermission(Caller caller, String src, FsPermission permission) throws IOException {
    int mode = permission.toShort();
    change(
        caller,
        src,
        path -> Permissions.checkOwner(caller, path),
        row -> row.toBuilder().setPermission(mode).build());
  }

  /** Changes the owner, the group, or both; null leaves one as it is. */
  public void setOwner(Caller caller, String src, String owner, String group) throws IOException {
    change(
        caller,
        src,
        path -> {
          Permissions.checkOwner(caller, path);
          checkMayGive(caller, owner, group);
        },
        row -> {
          InodeRow.Builder changed = row.toBuilder();
          if (owner != null) {
            changed.setOwner(owner);
          }
          if (group != null) {
            changed.setGroup(group);
          }
          return changed.build();
        });
  }

  private static void checkMayGive(Caller caller, String owner, String group)
      throws AccessControlException {
    if (caller.isSuperuser()) {
      return;
    }
    if (owner != null && !owner.equals(caller.user())) {
      throw new AccessControlException(
          "User " + caller.user() + " is not a super user (non-super user cannot change owner).");
    }
    if (group != null && !caller.isIn(group)) {
      throw new AccessControlException("User " + caller.user() + " does not belong to " + group);
    }
  }

  /** Sets times in milliseconds; a negative one leaves that time as it is. */
  public void setTimes(Caller caller, String src, long modifiedMillis, long accessedMillis)
      throws IOException {
    change(
        caller,
        src,
        path -> Permissions.checkAccess(caller, path, FsAction.WRITE),
        row -> {
          InodeRow.Builder changed = row.toBuilder();
          if (modifiedMillis >= 0) {
            changed.setModifiedMillis(modifiedMillis);
          }
          if (accessedMillis >= 0) {
            changed.setAccessedMillis(accessedMillis);
          }
          return changed.build();
        });
  }

  @FunctionalInterface
  private interface Check {
    void run(ResolvedPath path) throws IOException;
  }

  private void change(Caller caller, String src, Check check, UnaryOperator<InodeRow> change)
      throws IOException {
    Retrying.transact(
        store,
        Inode.ROOT_ID,
        transaction -> {
          ResolvedPath resolved = resolve(transaction, src);
          Permissions.checkTraverse(caller, resolved);
          check.run(resolved);
          if (!resolved.exists()) {
            throw new FileNotFoundException("File does not exist: " + src);
          }
          Inode locked = InodeLocks.lock(transaction, List.of(resolved.lastFound())).get(0);
          transaction.put(Tables.INODE, locked.key(), change.apply(locked.row()));
          return null;
        });
  }
}
