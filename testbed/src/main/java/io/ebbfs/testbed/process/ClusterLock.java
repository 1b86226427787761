package io.ebbfs.testbed.process;

import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.ConditionWaiter;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Lets one launcher at a time act on a cluster or on the networks of this machine. The lock ends
 * with the process that holds it.
 */
public final class ClusterLock implements AutoCloseable {
  private static final long POLL_MILLIS = 100;

  private final FileChannel channel;

  private ClusterLock(FileChannel channel) {
    this.channel = channel;
  }

  /** Takes the lock of a directory. Fails at once if another holds it. */
  public static ClusterLock take(Path directory) throws ClusterException {
    return tried(directory).orElseThrow(() -> held(directory));
  }

  /** Takes the lock of a directory. Waits no longer than this for another that holds it. */
  public static ClusterLock await(Path directory, long millis)
      throws ClusterException, InterruptedException {
    AtomicReference<ClusterLock> lock = new AtomicReference<>();
    ConditionWaiter.within(millis)
        .every(POLL_MILLIS)
        .objection(
            () -> {
              lock.set(tried(directory).orElse(null));
              return lock.get() == null ? "held" : null;
            });
    if (lock.get() == null) {
      throw held(directory);
    }
    return lock.get();
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
