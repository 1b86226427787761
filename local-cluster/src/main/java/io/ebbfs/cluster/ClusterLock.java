package io.ebbfs.cluster;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/** One launcher at a time acts on a cluster; the lock ends with the process that holds it. */
final class ClusterLock implements AutoCloseable {
  private static final long POLL_MILLIS = 100;

  private final FileChannel channel;

  private ClusterLock(FileChannel channel) {
    this.channel = channel;
  }

  /** Fails at once if somebody else holds it. */
  static ClusterLock take(Path directory) throws ClusterException {
    return tried(directory).orElseThrow(() -> held(directory));
  }

  /** Waits until nobody else holds it, but no longer than so many milliseconds. */
  static ClusterLock await(Path directory, long millis)
      throws ClusterException, InterruptedException {
    long deadline = System.nanoTime() + millis * 1_000_000;
    Optional<ClusterLock> lock = tried(directory);
    while (lock.isEmpty() && System.nanoTime() < deadline) {
      Thread.sleep(POLL_MILLIS);
      lock = tried(directory);
    }
    return lock.orElseThrow(() -> held(directory));
  }

  private static ClusterException held(Path directory) {
    return new ClusterException(
        "%s is being started or stopped by another command: wait for it to end"
            .formatted(directory));
  }

  private static Optional<ClusterLock> tried(Path directory) throws ClusterException {
    try {
      FileChannel channel =
          FileChannel.open(
              directory.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      if (!lock(channel)) {
        channel.close();
        return Optional.empty();
      }
      return Optional.of(new ClusterLock(channel));
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
