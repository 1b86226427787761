package io.ebbfs.namenode.files.tree;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.InodePolicies;
import io.ebbfs.namenode.files.inodes.PathErrors;
import io.ebbfs.namenode.files.inodes.PathResolver;
import io.ebbfs.namenode.files.inodes.PermissionChecker;
import io.ebbfs.namenode.files.inodes.ResolvedPath;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.MetadataStore.TransactionBody;
import io.ebbfs.namenode.store.Transaction;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Optional;
import java.util.OptionalInt;
import org.apache.hadoop.fs.permission.FsAction;

/**
 * Finds inodes by path and checks that the caller may traverse the path. Takes no locks.
 * Thread-safe.
 */
public final class InodeLookup {
  private final MetadataStore store;

  public InodeLookup(MetadataStore store) {
    this.store = store;
  }

  private <R> R read(TransactionBody<R> body) throws IOException {
    return store.transact(Inode.ROOT_ID, Durability.RELAXED, body);
  }

  /** The inode at a path, if there is one. */
  public Optional<Inode> find(Caller caller, String src) throws IOException {
    return read(transaction -> traversed(transaction, caller, src).last());
  }

  private static ResolvedPath traversed(Transaction transaction, Caller caller, String src)
      throws IOException {
    ResolvedPath resolved = PathResolver.resolveToRead(transaction, src);
    PermissionChecker.checkTraverse(caller, resolved);
    return resolved;
  }

  /** The inode of which a client asks the status. */
  public Optional<Inode> look(Caller caller, String src) throws IOException {
    return read(
        transaction -> {
          ResolvedPath resolved = PathResolver.resolveToRead(transaction, src);
          PermissionChecker.checkTraverseToLook(caller, resolved);
          OptionalInt policy = InodePolicies.inherited(resolved.inodes());
          return resolved.shown().map(inode -> InodePolicies.shown(inode, policy));
        });
  }

  /**
   * The inode at a path.
   *
   * @throws FileNotFoundException if there is none
   */
  public Inode get(Caller caller, String src) throws IOException {
    return find(caller, src).orElseThrow(() -> PathErrors.notFound("File does not exist: " + src));
  }

  /** The file at a path. */
  public Inode getFile(Caller caller, String src) throws IOException {
    return read(transaction -> traversed(transaction, caller, src).requireFile());
  }

  /** The file at a path, which the caller may write. */
  public Inode getFileToWrite(Caller caller, String src) throws IOException {
    return read(
        transaction -> {
          ResolvedPath resolved = PathResolver.resolve(transaction, src);
          PermissionChecker.checkTraverse(caller, resolved);
          PermissionChecker.checkAccess(caller, resolved, FsAction.WRITE);
          return resolved.requireFile();
        });
  }

  /**
   * Checks that the caller may act so on the inode at a path.
   *
   * @throws FileNotFoundException if there is none
   */
  public Inode checkAccess(Caller caller, String src, FsAction action) throws IOException {
    return read(
        transaction -> {
          ResolvedPath resolved = traversed(transaction, caller, src);
          if (!resolved.exists()) {
            throw PathErrors.notFound("Path not found: " + resolved.path());
          }
          PermissionChecker.checkAccess(caller, resolved, action);
          return resolved.lastFound();
        });
  }
}
