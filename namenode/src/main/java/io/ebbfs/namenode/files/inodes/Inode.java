package io.ebbfs.namenode.files.inodes;

import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.fs.permission.FsPermission;

/** A file or directory: its row, and the row's key, which is parent and name. */
public record Inode(Key key, InodeRow row) {
  /** The id that HDFS gives to its root. */
  public static final long ROOT_ID = 16385;

  /** The parent id of the root. No inode has this id. */
  public static final long NOWHERE_ID = 0;

  /** The parent id of deleted inodes whose rows are not yet removed. No inode has this id. */
  public static final long PENDING_DELETION_ID = Tables.PENDING_DELETIONS;

  public static final Key ROOT_KEY = Tables.inode(NOWHERE_ID, new byte[0]);

  public long id() {
    return row.getId();
  }

  public long parentId() {
    return key.partition();
  }

  public byte[] name() {
    return key.rest();
  }

  public String nameText() {
    return new String(name(), StandardCharsets.UTF_8);
  }

  public boolean isDirectory() {
    return row.getKind() == InodeKindProto.DIRECTORY;
  }

  public boolean isFile() {
    return row.getKind() == InodeKindProto.FILE;
  }

  public boolean isRoot() {
    return id() == ROOT_ID;
  }

  public boolean isUnderConstruction() {
    return row.hasUnderConstruction();
  }

  public FsPermission permission() {
    return new FsPermission((short) row.getPermission());
  }

  /** Whether the inode has entries of an access control list beyond its permission. */
  public boolean hasAcl() {
    return row.getAccessAclCount() > 0 || row.getDefaultAclCount() > 0;
  }

  public Inode with(InodeRow changed) {
    return new Inode(key, changed);
  }

  /** The inode as clients see it, in a directory where a storage policy holds. Not to be stored. */
  public Inode showing(int policyId) {
    return policyId == row.getStoragePolicy() || row.hasStoragePolicy()
        ? this
        : with(row.toBuilder().setStoragePolicy(policyId).build());
  }

  public boolean isSame(Inode other) {
    return id() == other.id();
  }
}
