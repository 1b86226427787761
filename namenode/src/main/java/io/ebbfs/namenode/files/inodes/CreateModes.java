package io.ebbfs.namenode.files.inodes;

import java.util.OptionalInt;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * The permission that a client asks for a new inode: after its umask, and before. In a directory
 * with a default access control list the umask does not count, as in HDFS
 * (dfs.namenode.posix.acl.inheritance.enabled).
 *
 * @param unmasked nothing from clients before Hadoop 3
 */
public record CreateModes(int masked, OptionalInt unmasked) {
  private static final int FOR_ITS_MAKER = 0300;
  private static final int WITHOUT_STICKY = 0777;

  /** A permission that the client has masked, or that no umask applies to. */
  public static CreateModes of(int mode) {
    return new CreateModes(mode, OptionalInt.empty());
  }

  /** What a call asks for; Hadoop has the permission before the umask in a subclass. */
  public static CreateModes of(FsPermission asked) {
    FsPermission unmasked = asked.getUnmasked();
    return new CreateModes(
        asked.toShort(),
        unmasked == null ? OptionalInt.empty() : OptionalInt.of(unmasked.toShort()));
  }

  /** The permission that limits what an inode inherits. */
  int asked() {
    return unmasked.orElse(masked);
  }

  /** The permission of a directory that is made above the inode: its maker can use it. */
  CreateModes above() {
    return new CreateModes(masked & WITHOUT_STICKY | FOR_ITS_MAKER, unmasked);
  }
}
