package io.ebbfs.namenode.files.inodes;

import java.io.IOException;
import org.apache.hadoop.HadoopIllegalArgumentException;
import org.apache.hadoop.hdfs.protocol.FSLimitException.PathComponentTooLongException;

/** Limits on names, paths, listings and files. */
public record NamespaceLimits(
    int maxComponentBytes,
    int maxPathDepth,
    int maxPathLength,
    int listingPage,
    long minBlockSizeBytes,
    int maxBlocksPerFile,
    int maxReplication) {
  public static final NamespaceLimits DEFAULT =
      new NamespaceLimits(255, 1000, 8000, 1000, 65536, 10_000, 512);

  /**
   * Checks the length of the path, and the names that do not exist yet.
   *
   * @throws PathComponentTooLongException if a name is too long
   */
  public void checkNames(ResolvedPath path) throws IOException {
    if (path.path().depth() > maxPathDepth || path.path().toString().length() > maxPathLength) {
      throw new IOException(
          "Pathname too long. Limit %d characters, %d levels."
              .formatted(maxPathLength, maxPathDepth));
    }
    for (int depth = path.inodes().size(); depth <= path.path().depth(); depth++) {
      if (path.path().name(depth).equals(SnapshotPlace.NAME)) {
        throw new HadoopIllegalArgumentException(
            "\"" + SnapshotPlace.NAME + "\" is a reserved name.");
      }
      int length = path.path().nameBytes(depth).length;
      if (length > maxComponentBytes) {
        throw new PathComponentTooLongException(
            maxComponentBytes,
            length,
            path.path().prefix(depth - 1).toString(),
            path.path().name(depth));
      }
    }
  }

  public NamespaceLimits withMinBlockSize(long bytes) {
    return new NamespaceLimits(
        maxComponentBytes,
        maxPathDepth,
        maxPathLength,
        listingPage,
        bytes,
        maxBlocksPerFile,
        maxReplication);
  }
}
