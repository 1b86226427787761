package io.ebbfs.workloads.experiment;

import io.ebbfs.workloads.Background;
import io.ebbfs.workloads.stock.StockProcess;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * Goes on opening files as in the last epoch of the workloads, at its pace, so that what is hot
 * stays hot while something else is measured. Nothing is read, so that the links stay free.
 */
final class HeatKeeper implements AutoCloseable {
  private final StockProcess client;
  private final List<String> files;
  private final long pauseNanos;
  private final Background background;

  /**
   * @param files whose opens are repeated in this order
   * @param periodMillis in which each of them happens once
   */
  HeatKeeper(StockProcess client, List<String> files, long periodMillis) {
    this.client = client;
    this.files = List.copyOf(files);
    pauseNanos = Math.max(1, periodMillis * 1_000_000 / Math.max(1, files.size()));
    background = new Background("heat-keeper", this::run);
  }

  private void run() throws InterruptedException {
    try {
      for (long i = 0; !files.isEmpty(); i++) {
        // One at a time: a slow namenode slows it down.
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
