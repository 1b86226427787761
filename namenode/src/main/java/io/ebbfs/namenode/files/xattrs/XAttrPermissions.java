package io.ebbfs.namenode.files.xattrs;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.PermissionChecker;
import io.ebbfs.namenode.files.inodes.ResolvedPath;
import java.io.IOException;
import java.util.Locale;
import org.apache.hadoop.fs.XAttr;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.security.AccessControlException;

/**
 * Who may see and change which extended attributes, by the rules of HDFS and with HDFS's messages:
 * users those of the namespace user, the superuser those of trusted, too, and everybody the one
 * attribute of security that keeps the superuser from reading a file.
 */
final class XAttrPermissions {
  private static final String UNREADABLE = "hdfs.unreadable.by.superuser";
  private static final String UNREADABLE_BY_SUPERUSER = "security." + UNREADABLE;

  private XAttrPermissions() {}

  /** Checks that the caller may name the attribute in a call. */
  static void check(Caller caller, XAttr attribute) throws AccessControlException {
    if (!mayName(caller, attribute)) {
      throw new AccessControlException(
          "User doesn't have permission for xattr: " + prefixedName(attribute));
    }
    if (isUnreadableBySuperuser(attribute) && attribute.getValue() != null) {
      throw new AccessControlException(
          "Attempt to set a value for '"
              + UNREADABLE_BY_SUPERUSER
              + "'. Values are not allowed for this xattr.");
    }
  }

  static boolean mayName(Caller caller, XAttr attribute) {
    return switch (attribute.getNameSpace()) {
      case USER -> true;
      case TRUSTED -> caller.isSuperuser();
      default -> isUnreadableBySuperuser(attribute);
    };
  }

  /** Checks that the caller may change the attribute of the last component, if it exists. */
  static void checkChange(Caller caller, ResolvedPath path, XAttr attribute) throws IOException {
    if (attribute.getNameSpace() != XAttr.NameSpace.USER || !path.exists()) {
      return;
    }
    Inode inode = path.lastFound();
    if (inode.isDirectory() && inode.permission().getStickyBit()) {
      PermissionChecker.checkOwner(caller, path);
    } else {
      PermissionChecker.checkAccess(caller, path, FsAction.WRITE);
    }
  }

  static void checkRemoval(XAttr attribute) throws AccessControlException {
    if (isUnreadableBySuperuser(attribute)) {
      throw new AccessControlException(
          "The xattr '" + UNREADABLE_BY_SUPERUSER + "' can not be deleted.");
    }
  }

  static boolean isUnreadableBySuperuser(XAttr attribute) {
    return attribute.getNameSpace() == XAttr.NameSpace.SECURITY
        && attribute.getName().equals(UNREADABLE);
  }

  static String unreadableBySuperuser() {
    return UNREADABLE_BY_SUPERUSER;
  }

  private static String prefixedName(XAttr attribute) {
    return attribute.getNameSpace().name().toLowerCase(Locale.ROOT) + "." + attribute.getName();
  }
}
