package io.ebbfs.client;

import java.io.IOException;
import java.util.EnumSet;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.HdfsFileStatus;

/** The file that records are appended to: where it may lie, and how it is created. */
final class AppendedFile {
  /** Below an erasure coding policy, too, the file and its lanes have replicas. */
  static final EnumSet<CreateFlag> FLAGS =
      EnumSet.of(CreateFlag.CREATE, CreateFlag.SHOULD_REPLICATE);

  private static final int BUFFER_BYTES = 4096;

  private AppendedFile() {}

  /**
   * The file, created if it does not exist.
   *
   * @return its path without the file system
   */
  static String require(DistributedFileSystem files, Path path, AppendOptions options)
      throws IOException {
    Path whole = path.makeQualified(files.getUri(), files.getWorkingDirectory());
    String name = whole.toUri().getPath();
    refuseSnapshots(files, whole);
    if (files.getClient().getFileInfo(name) == null) {
      create(files, whole, options);
    }
    return name;
  }

  private static void create(DistributedFileSystem files, Path path, AppendOptions options)
      throws IOException {
    int replication = options.replication();
    long blockSize = options.blockSizeBytes();
    try {
      files
          .create(
              path,
              FsPermission.getFileDefault(),
              FLAGS,
              BUFFER_BYTES,
              (short) (replication == 0 ? files.getDefaultReplication(path) : replication),
              blockSize == 0 ? files.getDefaultBlockSize(path) : blockSize,
              null)
          .close();
    } catch (IOException failure) {
      if (files.getClient().getFileInfo(path.toUri().getPath()) == null) {
        throw failure;
      }
    }
  }

  /** A block that a snapshot shows cannot move to the file, so that its records stay hidden. */
  private static void refuseSnapshots(DistributedFileSystem files, Path path) throws IOException {
    for (Path above = path.getParent(); above != null; above = above.getParent()) {
      String directory = above.toUri().getPath();
      HdfsFileStatus status = files.getClient().getFileInfo(directory);
      if (status != null && status.isSnapshotEnabled()) {
        throw new AppendException(
            ("records cannot be appended to %s: %s is snapshottable, and a snapshot of an open "
                    + "lane keeps its records out of the file; choose another directory, or run "
                    + "'hdfs dfsadmin -disallowSnapshot %s'")
                .formatted(path.toUri().getPath(), directory, directory));
      }
    }
  }

  /** Block groups take no record appends: a lane is one replicated block. */
  static void refuseGroups(String path, HdfsFileStatus status) throws AppendException {
    if (status.getErasureCodingPolicy() != null) {
      throw new AppendException(
          ("records cannot be appended to %s: its erasure coding policy is %s, and record appends "
                  + "need a replicated file; let the append create the file, or copy it to a "
                  + "directory without a policy")
              .formatted(path, status.getErasureCodingPolicy().getName()));
    }
  }
}
