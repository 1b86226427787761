package io.ebbfs.cluster;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** One launcher at a time acts on a cluster; the lock ends with the process that holds it. */
final class ClusterLock implements AutoCloseable {
  private final FileChannel channel;

  private ClusterLock(FileChannel channel) {
    this.channel = channel;
  }

  static ClusterLock take(Path directory) throws ClusterException {
    try {
      FileChannel channel =
          FileChannel.open(
              directory.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      if (!lock(channel)) {
        channel.close();
        throw new ClusterException(
            "%s is being started or stopped by another command: wait for it to end"
                .formatted(directory));
      }
      return new ClusterLock(channel);
    } catch (IOException e) {
      throw new ClusterException(
          "%s cannot be locked: %s; it must be a directory that you may write"
              .formatted(directory, e.getMessage()),
          e);
    }
  }

  private static boolean lock(FileChannel channel) throws IOException {
    try {
      FileLock lock = channel.tryLock();
      return lock != null;
    } catch (OverlappingFileLockException e) {
      return false;
    }
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
