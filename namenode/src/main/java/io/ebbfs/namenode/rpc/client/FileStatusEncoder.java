package io.ebbfs.namenode.rpc.client;

import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.files.inodes.InodePolicies;
import io.ebbfs.protocol.proto.StoreProtos.InodeKindProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.hdfs.protocol.proto.AclProtos.FsPermissionProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.GetListingResponseProto;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.DirectoryListingProto;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.HdfsFileStatusProto;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.HdfsFileStatusProto.FileType;
import org.apache.hadoop.thirdparty.protobuf.CodedOutputStream;

/**
 * Writes HdfsFileStatusProto straight from the rows of inodes: the same bytes as Hadoop's classes
 * write, without their objects. Block locations are not written.
 */
final class FileStatusEncoder {
  private static final byte[] NO_NAME = {};
  private static final int FS_FIELD = 1;

  private FileStatusEncoder() {}

  /** A message whose only field, number 1, is the status of the path that the call names. */
  static byte[] alone(Inode inode) {
    int status = size(inode, NO_NAME);
    return ProtoBytes.of(
        ProtoBytes.delimited(FS_FIELD, status),
        out -> writeTo(out, FS_FIELD, status, inode, NO_NAME));
  }

  /**
   * A GetListingResponseProto with a page of a directory.
   *
   * @param named whether each status has the inode's name; a file that is listed itself has none
   * @param remaining how many entries follow after the page
   */
  static byte[] listing(List<Inode> page, boolean named, int remaining) {
    int[] sizes = new int[page.size()];
    int listing =
        CodedOutputStream.computeUInt32Size(
            DirectoryListingProto.REMAININGENTRIES_FIELD_NUMBER, remaining);
    for (int i = 0; i < sizes.length; i++) {
      sizes[i] = size(page.get(i), nameOf(page.get(i), named));
      listing += ProtoBytes.delimited(DirectoryListingProto.PARTIALLISTING_FIELD_NUMBER, sizes[i]);
    }
    int dirList = listing;
    return ProtoBytes.of(
        ProtoBytes.delimited(GetListingResponseProto.DIRLIST_FIELD_NUMBER, dirList),
        out -> {
          ProtoBytes.begin(out, GetListingResponseProto.DIRLIST_FIELD_NUMBER, dirList);
          for (int i = 0; i < sizes.length; i++) {
            writeTo(
                out,
                DirectoryListingProto.PARTIALLISTING_FIELD_NUMBER,
                sizes[i],
                page.get(i),
                nameOf(page.get(i), named));
          }
          out.writeUInt32(DirectoryListingProto.REMAININGENTRIES_FIELD_NUMBER, remaining);
        });
  }

  private static byte[] nameOf(Inode inode, boolean named) {
    return named ? inode.name() : NO_NAME;
  }

  // The two lists of fields are the same.

  private static int size(Inode inode, byte[] name) {
    InodeRow row = inode.row();
    return CodedOutputStream.computeEnumSize(HdfsFileStatusProto.FILETYPE_FIELD_NUMBER, typeOf(row))
        + CodedOutputStream.computeByteArraySize(HdfsFileStatusProto.PATH_FIELD_NUMBER, name)
        + CodedOutputStream.computeUInt64Size(
            HdfsFileStatusProto.LENGTH_FIELD_NUMBER, row.getLengthBytes())
        + ProtoBytes.delimited(HdfsFileStatusProto.PERMISSION_FIELD_NUMBER, permissionSize(row))
        + CodedOutputStream.computeBytesSize(
            HdfsFileStatusProto.OWNER_FIELD_NUMBER, row.getOwnerBytes())
        + CodedOutputStream.computeBytesSize(
            HdfsFileStatusProto.GROUP_FIELD_NUMBER, row.getGroupBytes())
        + CodedOutputStream.computeUInt64Size(
            HdfsFileStatusProto.MODIFICATION_TIME_FIELD_NUMBER, row.getModifiedMillis())
        + CodedOutputStream.computeUInt64Size(
            HdfsFileStatusProto.ACCESS_TIME_FIELD_NUMBER, row.getAccessedMillis())
        + CodedOutputStream.computeUInt32Size(
            HdfsFileStatusProto.BLOCK_REPLICATION_FIELD_NUMBER, row.getReplication())
        + CodedOutputStream.computeUInt64Size(
            HdfsFileStatusProto.BLOCKSIZE_FIELD_NUMBER, row.getBlockSizeBytes())
        + CodedOutputStream.computeUInt64Size(HdfsFileStatusProto.FILEID_FIELD_NUMBER, row.getId())
        + CodedOutputStream.computeInt32Size(HdfsFileStatusProto.CHILDRENNUM_FIELD_NUMBER, 0)
        + CodedOutputStream.computeUInt32Size(
            HdfsFileStatusProto.STORAGEPOLICY_FIELD_NUMBER, row.getStoragePolicy())
        + policySize(row)
        + CodedOutputStream.computeUInt32Size(HdfsFileStatusProto.FLAGS_FIELD_NUMBER, flags(inode));
  }

  private static void writeTo(CodedOutputStream out, int field, int size, Inode inode, byte[] name)
      throws IOException {
    InodeRow row = inode.row();
    ProtoBytes.begin(out, field, size);
    out.writeEnum(HdfsFileStatusProto.FILETYPE_FIELD_NUMBER, typeOf(row));
    out.writeByteArray(HdfsFileStatusProto.PATH_FIELD_NUMBER, name);
    out.writeUInt64(HdfsFileStatusProto.LENGTH_FIELD_NUMBER, row.getLengthBytes());
    ProtoBytes.begin(out, HdfsFileStatusProto.PERMISSION_FIELD_NUMBER, permissionSize(row));
    out.writeUInt32(FsPermissionProto.PERM_FIELD_NUMBER, row.getPermission());
    out.writeBytes(HdfsFileStatusProto.OWNER_FIELD_NUMBER, row.getOwnerBytes());
    out.writeBytes(HdfsFileStatusProto.GROUP_FIELD_NUMBER, row.getGroupBytes());
    out.writeUInt64(HdfsFileStatusProto.MODIFICATION_TIME_FIELD_NUMBER, row.getModifiedMillis());
    out.writeUInt64(HdfsFileStatusProto.ACCESS_TIME_FIELD_NUMBER, row.getAccessedMillis());
    out.writeUInt32(HdfsFileStatusProto.BLOCK_REPLICATION_FIELD_NUMBER, row.getReplication());
    out.writeUInt64(HdfsFileStatusProto.BLOCKSIZE_FIELD_NUMBER, row.getBlockSizeBytes());
    out.writeUInt64(HdfsFileStatusProto.FILEID_FIELD_NUMBER, row.getId());
    out.writeInt32(HdfsFileStatusProto.CHILDRENNUM_FIELD_NUMBER, 0);
    out.writeUInt32(HdfsFileStatusProto.STORAGEPOLICY_FIELD_NUMBER, row.getStoragePolicy());
    if (InodePolicies.isErasureCoded(row)) {
      out.writeByteArray(HdfsFileStatusProto.ECPOLICY_FIELD_NUMBER, PolicyBytes.of(row));
    }
    out.writeUInt32(HdfsFileStatusProto.FLAGS_FIELD_NUMBER, flags(inode));
  }

  private static int policySize(InodeRow row) {
    return InodePolicies.isErasureCoded(row)
        ? CodedOutputStream.computeByteArraySize(
            HdfsFileStatusProto.ECPOLICY_FIELD_NUMBER, PolicyBytes.of(row))
        : 0;
  }

  private static int typeOf(InodeRow row) {
    return row.getKind() == InodeKindProto.DIRECTORY
        ? FileType.IS_DIR_VALUE
        : FileType.IS_FILE_VALUE;
  }

  private static int flags(Inode inode) {
    InodeRow row = inode.row();
    return (inode.hasAcl() ? HdfsFileStatusProto.Flags.HAS_ACL_VALUE : 0)
        | (row.getSnapshottable() ? HdfsFileStatusProto.Flags.SNAPSHOT_ENABLED_VALUE : 0)
        | (InodePolicies.isErasureCoded(row) ? HdfsFileStatusProto.Flags.HAS_EC_VALUE : 0);
  }

  private static int permissionSize(InodeRow row) {
    return CodedOutputStream.computeUInt32Size(
        FsPermissionProto.PERM_FIELD_NUMBER, row.getPermission());
  }
}
