package io.ebbfs.namenode.files.tree;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.CreateModes;
import io.ebbfs.namenode.files.inodes.DirectoryRows;
import io.ebbfs.namenode.files.inodes.FsPath;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.InodeLocks;
import io.ebbfs.namenode.files.inodes.NamespaceLimits;
import io.ebbfs.namenode.files.inodes.NewInodeIds;
import io.ebbfs.namenode.files.inodes.PathErrors;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.files.inodes.PermissionChecker;
import io.ebbfs.namenode.files.inodes.ResolvedPath;
import io.ebbfs.namenode.store.ClientCall;
import io.ebbfs.namenode.store.IdGenerator;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.IOException;
import java.time.Clock;
import java.util.Iterator;
import java.util.List;
import org.apache.hadoop.fs.permission.FsPermission;

/** Makes directories, the root among them. It behaves and fails as in HDFS. Thread-safe. */
public final class MkdirService {
  private final MetadataStore store;
  private final IdGenerator inodeIds;
  private final Clock clock;
  private final NamespaceLimits limits;

  public MkdirService(
      MetadataStore store, IdGenerator inodeIds, Clock clock, NamespaceLimits limits) {
    this.store = store;
    this.inodeIds = inodeIds;
    this.clock = clock;
    this.limits = limits;
  }

  /** Makes the root directory, if the store is new. */
  public void makeRoot(Caller.Superuser owner) throws IOException {
    store.transact(
        Inode.NOWHERE_ID,
        transaction -> {
          transaction.lock(List.of(RowLock.exclusive(Tables.INODE, Inode.ROOT_KEY)));
          if (transaction.get(Tables.INODE, Inode.ROOT_KEY).isEmpty()) {
            DirectoryRows.put(transaction, Inode.ROOT_KEY, rootRow(owner));
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

  /**
   * Makes a directory, and the missing directories above it if asked to. In a store that several
   * processes share, a call takes effect once: an earlier run of it may be in a namenode that is
   * frozen, and would make the directory again after somebody has deleted it. In a store of one
   * process, a repetition waits for the first run, and finds the directory.
   *
   * @return true; an existing directory is no error
   */
  public boolean mkdirs(Caller caller, String src, FsPermission permission, boolean makeParents)
      throws IOException {
    FsPath path = FsPath.parseNew(src);
    CreateModes modes = CreateModes.of(permission);
    NewInodeIds ids = new NewInodeIds(inodeIds);
    return OptimisticTransactions.repeat(
        () -> {
          ids.draw();
          return store.transact(
              Inode.ROOT_ID,
              transaction -> mkdirs(transaction, caller, path, modes, makeParents, ids));
        });
  }

  private boolean mkdirs(
      Transaction transaction,
      Caller caller,
      FsPath path,
      CreateModes modes,
      boolean makeParents,
      NewInodeIds ids)
      throws IOException {
    if (ClientCall.mayHaveRun() && hasRun(transaction)) {
      return true;
    }
    ResolvedPath resolved = checkedForMkdirs(transaction, caller, path, makeParents);
    if (resolved.exists()) {
      return true;
    }
    Iterator<Long> fresh = ids.take(resolved.missing());
    Inode above =
        InodeLocks.lockEntriesAnd(
                transaction,
                List.of(resolved.lastFound()),
                List.of(),
                List.of(resolved.firstMissingKey()),
                ClientCall.locks(transaction))
            .get(0);
    if (hasRun(transaction)) {
      return true;
    }
    DirectoryRows.Maker maker = new DirectoryRows.Maker(caller.user(), clock.millis());
    DirectoryRows.makeMissing(
        transaction, path, above, resolved.inodes().size(), path.depth(), modes, maker, fresh);
    DirectoryRows.touch(transaction, above, maker.nowMillis());
    if (transaction.isShared()) {
      ClientCall.takeEffect(transaction, 0, maker.nowMillis());
    }
    return true;
  }

  private static boolean hasRun(Transaction transaction) throws IOException {
    return transaction.isShared() && ClientCall.earlierRun(transaction).isPresent();
  }

  private ResolvedPath checkedForMkdirs(
      Transaction transaction, Caller caller, FsPath path, boolean makeParents) throws IOException {
    ResolvedPath resolved = PathResolver.resolve(transaction, path);
    PermissionChecker.checkTraverseToCreate(caller, resolved);
    if (resolved.exists()) {
      if (resolved.lastFound().isFile()) {
        throw PathErrors.alreadyExists("Path is not a directory: " + path);
      }
      return resolved;
    }
    PermissionChecker.checkAncestorWrite(caller, resolved);
    if (!makeParents) {
      resolved.checkParentExists();
    }
    limits.checkNames(resolved);
    return resolved;
  }
}
