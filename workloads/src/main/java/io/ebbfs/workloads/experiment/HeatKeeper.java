package io.ebbfs.workloads.experiment;

import io.ebbfs.testbed.client.StockProcess;
import io.ebbfs.testbed.process.BackgroundLoop;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * Opens files at the rate of the workloads' last epoch, so that hot files stay hot during a
 * measurement. It reads no data, so that the links stay free.
 */
final class HeatKeeper implements AutoCloseable {
  private final StockProcess client;
  private final List<String> files;
  private final long pauseNanos;
  private final BackgroundLoop background;

  /**
   * @param files the files to open, in this order, again and again
   * @param periodMillis the duration of one round
   */
  HeatKeeper(StockProcess client, List<String> files, long periodMillis) {
    this.client = client;
    this.files = List.copyOf(files);
    pauseNanos = Math.max(1, periodMillis * 1_000_000 / Math.max(1, files.size()));
    background = new BackgroundLoop("heat-keeper", this::run);
  }

  private void run() throws InterruptedException {
    try {
      for (long i = 0; !files.isEmpty(); i++) {
        // One open at a time, so that a slow namenode is not flooded.
        client.touch(files.get((int) (i % files.size()))).exceptionally(e -> null).get();
        TimeUnit.NANOSECONDS.sleep(pauseNanos);
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException("failures are answers here", e);
    }
  }

  @Override
  public void close() {
    background.close();
  }
}
