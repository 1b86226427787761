package io.ebbfs.namenode.files.inodes;

import io.ebbfs.protocol.proto.StoreProtos.AclEntryRowProto;
import io.ebbfs.protocol.proto.StoreProtos.AclTypeProto;
import org.apache.hadoop.fs.permission.FsAction;

/**
 * What the access control list of an inode allows to a caller who does not own it (POSIX 1003.1e
 * draft 17, 23.1.5, as HDFS reads it): the entry of the caller's name decides; else any entry of a
 * group of the caller that allows the action; else, if no group of the caller has an entry, that of
 * all others. The mask limits all but the last.
 */
final class AccessList {
  private AccessList() {}

  static boolean allows(Caller caller, Inode inode, FsAction action) {
    FsAction mask = inode.permission().getGroupAction();
    boolean isInGroup = false;
    for (AclEntryRowProto entry : inode.row().getAccessAclList()) {
      boolean allows = AclRows.action(entry).and(mask).implies(action);
      if (entry.getType() == AclTypeProto.ACL_USER) {
        if (caller.user().equals(entry.getName())) {
          return allows;
        }
      } else if (caller.isIn(entry.hasName() ? entry.getName() : inode.row().getGroup())) {
        if (allows) {
          return true;
        }
        isInGroup = true;
      }
    }
    return !isInGroup && inode.permission().getOtherAction().implies(action);
  }
}
