package io.ebbfs.raid.mapreduce;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * The local file system without child processes. Without its native library, Hadoop's local file
 * system starts a {@code chmod} or {@code ls} for every permission, which takes most of the time of
 * a small job.
 */
public final class StagingFileSystem extends LocalFileSystem {
  /** For Hadoop. */
  public StagingFileSystem() {
    super(new Raw());
  }

  private static final class Raw extends RawLocalFileSystem {
    @Override
    public void setPermission(Path path, FsPermission permission) throws IOException {
      // rwxrwxrwx without a sticky bit, which the text of a permission may end with.
      String text =
          permission.getUserAction().SYMBOL
              + permission.getGroupAction().SYMBOL
              + permission.getOtherAction().SYMBOL;
      Files.setPosixFilePermissions(
          Paths.get(pathToFile(path).toURI()), PosixFilePermissions.fromString(text));
    }

    @Override
    public FileStatus getFileStatus(Path path) throws IOException {
      FileStatus status = super.getFileStatus(path);
      java.nio.file.Path file = Paths.get(pathToFile(path).toURI());
      String permissions = PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
      return new FileStatus(
          status.getLen(),
          status.isDirectory(),
          status.getReplication(),
          status.getBlockSize(),
          status.getModificationTime(),
          status.getAccessTime(),
          FsPermission.valueOf((status.isDirectory() ? "d" : "-") + permissions),
          Files.getOwner(file).getName(),
          "",
          status.getPath());
    }
  }
}
