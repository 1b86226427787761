package io.ebbfs.manager.view;

import io.ebbfs.protocol.proto.ManagerProtos.ViewInodeRow;
import java.util.Optional;

/**
 * A file or directory of the view.
 *
 * @param id of the inode
 * @param file null for a directory
 */
public record InodeView(long id, String path, FileView file) {
  static InodeView of(ViewInodeRow row) {
    return row.hasFile()
        ? new InodeView(row.getFile().getFileId(), row.getFile().getPath(), ViewReader.file(row))
        : new InodeView(row.getDirectory().getDirectoryId(), row.getDirectory().getPath(), null);
  }

  /** "/", if the path means it. */
  static Optional<InodeView> rootAt(String path) {
    return path.chars().allMatch(c -> c == '/')
        ? Optional.of(new InodeView(PathIndex.ROOT_ID, "/", null))
        : Optional.empty();
  }

  public boolean isDirectory() {
    return file == null;
  }
}
