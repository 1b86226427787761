package io.ebbfs.namenode.files.inodes;

import io.ebbfs.namenode.erasure.BlockGroupLayout;
import java.util.EnumSet;
import org.apache.hadoop.hdfs.protocol.ErasureCodingPolicy;
import org.apache.hadoop.hdfs.protocol.HdfsFileStatus;
import org.apache.hadoop.hdfs.protocol.HdfsFileStatus.Flags;
import org.apache.hadoop.hdfs.protocol.LocatedBlocks;

/** Converts inodes, as clients see them, to the file status that HDFS clients read. */
public final class FileStatusConverter {
  private FileStatusConverter() {}

  /**
   * @param name the name within the listed directory, or empty for the path asked for
   */
  public static HdfsFileStatus of(Inode inode, byte[] name) {
    return builder(inode, name).build();
  }

  public static HdfsFileStatus located(Inode inode, byte[] name, LocatedBlocks blocks) {
    return builder(inode, name).locations(blocks).build();
  }

  private static HdfsFileStatus.Builder builder(Inode inode, byte[] name) {
    return new HdfsFileStatus.Builder()
        .length(inode.row().getLengthBytes())
        .isdir(inode.isDirectory())
        .replication(inode.row().getReplication())
        .blocksize(inode.row().getBlockSizeBytes())
        .mtime(inode.row().getModifiedMillis())
        .atime(inode.row().getAccessedMillis())
        .perm(inode.permission())
        .flags(flags(inode))
        .ecPolicy(policy(inode))
        .owner(inode.row().getOwner())
        .group(inode.row().getGroup())
        .path(name)
        .fileId(inode.id())
        .children(0)
        .storagePolicy((byte) inode.row().getStoragePolicy());
  }

  private static EnumSet<Flags> flags(Inode inode) {
    EnumSet<Flags> flags = EnumSet.noneOf(Flags.class);
    if (inode.hasAcl()) {
      flags.add(Flags.HAS_ACL);
    }
    if (inode.row().getSnapshottable()) {
      flags.add(Flags.SNAPSHOT_ENABLED);
    }
    if (policy(inode) != null) {
      flags.add(Flags.HAS_EC);
    }
    return flags;
  }

  /** The erasure coding policy that clients are told; null for replication. */
  public static ErasureCodingPolicy policy(Inode inode) {
    return BlockGroupLayout.shown(inode.row().hasEcPolicyId(), inode.row().getEcPolicyId());
  }
}
