package io.ebbfs.namespace.inode;

import io.ebbfs.namespace.store.Key;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import org.apache.hadoop.fs.permission.FsPermission;

/** A file or directory: its row and where the row hangs. */
public record Inode(Key key, InodeRow row) {
  /** As in HDFS. */
  public static final long ROOT_ID = 16385;

  /** The parent of the root: no inode. */
  public static final long NOWHERE_ID = 0;

  /** The parent of what was deleted and waits for its rows to be removed: no inode. */
  public static final long TRASH_ID = 1;

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

  public Inode with(InodeRow changed) {
    return new Inode(key, changed);
  }

  boolean isSame(Inode other) {
    return id() == other.id();
  }
}
