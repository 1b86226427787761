package io.ebbfs.workloads.metadata;

import io.ebbfs.testbed.ConditionWaiter;
import java.io.IOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/** Watches, beside other work, for the moment at which the disks of a system hold no block. */
final class FreedSpace {
  private static final long WITHIN_MILLIS = 2_400_000;
  private static final long POLL_MILLIS = 200;

  private final FutureTask<Double> seconds;

  private FreedSpace(FutureTask<Double> seconds) {
    this.seconds = seconds;
  }

  /**
   * Begins to watch.
   *
   * @param begunNanos when the delete of the files began
   */
  static FreedSpace watch(NamenodeUnderTest namenode, long begunNanos) {
    FutureTask<Double> seconds =
        new FutureTask<>(
            () -> {
              ConditionWaiter.within(WITHIN_MILLIS)
                  .every(POLL_MILLIS)
                  .until(
                      "the end of the deleted blocks of " + namenode.name(),
                      () -> StoredBlocks.anyOn(namenode.disks()) ? "blocks are left" : null);
              return (System.nanoTime() - begunNanos) / 1e9;
            });
    Thread watcher = new Thread(seconds, "space-of-" + namenode.name());
    watcher.setDaemon(true);
    watcher.start();
    return new FreedSpace(seconds);
  }

  /** Returns the seconds from the delete until the last block was gone. */
  double awaitSeconds() throws IOException, InterruptedException {
    try {
      return seconds.get();
    } catch (ExecutionException e) {
      throw new IOException(e.getCause().getMessage(), e.getCause());
    }
  }
}
