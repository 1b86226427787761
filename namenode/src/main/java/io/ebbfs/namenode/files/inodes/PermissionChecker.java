package io.ebbfs.namenode.files.inodes;

import java.io.FileNotFoundException;
import java.util.Optional;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.security.AccessControlException;

/** Checks permissions by the rules of HDFS, and refuses with HDFS's messages. */
public final class PermissionChecker {
  private static final int STICKY = 01000;

  private PermissionChecker() {}

  /**
   * Checks that the caller may traverse every directory above the last component. For calls that
   * make a file or directory.
   *
   * @throws ParentNotDirectoryException if an inode above the last component is a file
   */
  public static void checkTraverseToCreate(Caller caller, ResolvedPath path)
      throws ParentNotDirectoryException, AccessControlException {
    boolean all = caller.isSuperuser();
    for (int depth = 0; depth < path.inodes().size() && depth < path.path().depth(); depth++) {
      Inode inode = path.inodes().get(depth);
      if (!inode.isDirectory()) {
        throw new ParentNotDirectoryException(path.path().prefix(depth) + " (is not a directory)");
      }
      if (!all) {
        check(caller, inode, path.path().prefix(depth), FsAction.EXECUTE);
      }
    }
  }

  /** As {@link #checkTraverseToCreate}, for calls about an existing file or directory. */
  public static void checkTraverse(Caller caller, ResolvedPath path) throws AccessControlException {
    try {
      checkTraverseToCreate(caller, path);
    } catch (ParentNotDirectoryException e) {
      throw new AccessControlException(e.getMessage());
    }
  }

  /**
   * Checks as {@link #checkTraverse} that the caller may ask for the status of a path. As in HDFS,
   * the superuser gets no error for a path below a file: the path does not exist.
   */
  public static void checkTraverseToLook(Caller caller, ResolvedPath path)
      throws AccessControlException {
    if (!caller.isSuperuser()) {
      checkTraverse(caller, path);
    }
  }

  /** Checks that the last component allows the action, if it exists. */
  public static void checkAccess(Caller caller, ResolvedPath path, FsAction action)
      throws AccessControlException {
    if (path.exists() && !caller.isSuperuser()) {
      check(caller, path.lastFound(), path.path(), action);
    }
  }

  /**
   * Checks that the caller may write to the deepest existing directory above the last component.
   */
  public static void checkAncestorWrite(Caller caller, ResolvedPath path)
      throws AccessControlException {
    if (!caller.isSuperuser()) {
      check(caller, path.ancestor(), ancestorPath(path), FsAction.WRITE);
    }
  }

  /**
   * Checks that the caller may remove the last component from its parent, if there is one: also if
   * nothing has the name.
   */
  public static void checkParentWrite(Caller caller, ResolvedPath path)
      throws AccessControlException {
    Optional<Inode> parent = path.parent();
    if (caller.isSuperuser() || parent.isEmpty()) {
      return;
    }
    FsPath parentPath = ancestorPath(path);
    if (path.exists()) {
      checkSticky(
          caller,
          parent.get(),
          parentPath,
          path.lastFound(),
          path.path().name(path.path().depth()));
    }
    check(caller, parent.get(), parentPath, FsAction.WRITE);
  }

  /** Checks that the sticky bit of a directory does not keep the caller from removing an entry. */
  public static void checkSticky(
      Caller caller, Inode directory, FsPath path, Inode entry, String name)
      throws AccessControlException {
    if ((directory.row().getPermission() & STICKY) != 0
        && !caller.user().equals(directory.row().getOwner())
        && !caller.user().equals(entry.row().getOwner())) {
      throw new AccessControlException(
          "Permission denied by sticky bit: user=%s, path=\"%s\":%s, parent=\"%s\":%s"
              .formatted(
                  caller.user(), path.child(name), describe(entry), path, describe(directory)));
    }
  }

  /**
   * Checks that the caller owns the last component.
   *
   * @throws FileNotFoundException if it does not exist
   */
  public static void checkOwner(Caller caller, ResolvedPath path)
      throws AccessControlException, FileNotFoundException {
    if (!path.exists()) {
      throw PathErrors.notFound("Directory/File does not exist " + path.path());
    }
    if (!caller.isSuperuser() && !caller.user().equals(path.lastFound().row().getOwner())) {
      throw new AccessControlException(
          "Permission denied. user=%s is not the owner of inode=%s"
              .formatted(caller.user(), path.path()));
    }
  }

  public static void checkSuperuser(Caller caller, String call) throws AccessControlException {
    if (!caller.isSuperuser()) {
      throw new AccessControlException(
          "Access denied for user %s. Superuser privilege is required for operation %s"
              .formatted(caller.user(), call));
    }
  }

  /** Checks that the inode allows the action. The directories above it are not checked. */
  public static void check(Caller caller, Inode inode, FsPath path, FsAction action)
      throws AccessControlException {
    if (!allows(caller, inode, action)) {
      throw new AccessControlException(
          "Permission denied: user=%s, access=%s, inode=\"%s\":%s"
              .formatted(caller.user(), action, path, describe(inode)));
    }
  }

  private static boolean allows(Caller caller, Inode inode, FsAction action) {
    FsPermission permission = inode.permission();
    if (caller.user().equals(inode.row().getOwner())) {
      return permission.getUserAction().implies(action);
    }
    if (inode.row().getAccessAclCount() > 0) {
      return AccessList.allows(caller, inode, action);
    }
    if (caller.isIn(inode.row().getGroup())) {
      return permission.getGroupAction().implies(action);
    }
    return permission.getOtherAction().implies(action);
  }

  private static FsPath ancestorPath(ResolvedPath path) {
    return path.path().prefix(Math.max(0, Math.min(path.inodes().size(), path.path().depth()) - 1));
  }

  private static String describe(Inode inode) {
    return "%s:%s:%s%s"
        .formatted(
            inode.row().getOwner(),
            inode.row().getGroup(),
            inode.isDirectory() ? "d" : "-",
            inode.permission());
  }
}
