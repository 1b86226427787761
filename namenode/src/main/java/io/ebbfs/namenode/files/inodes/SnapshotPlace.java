package io.ebbfs.namenode.files.inodes;

import io.ebbfs.protocol.proto.StoreProtos.XAttrRow;

/**
 * That a path leads into the snapshots of a directory.
 *
 * @param directoryId the directory of which there are snapshots
 * @param id the snapshot; 0 for the name {@code .snapshot} itself, and for a snapshot that does not
 *     exist
 * @param attributes the extended attributes that the last inode had, if its row is an old one; null
 *     if the attributes of the inode are those of now
 */
public record SnapshotPlace(long directoryId, long id, XAttrRow attributes) {
  /** The name below a directory where its snapshots are. */
  public static final String NAME = ".snapshot";
}
