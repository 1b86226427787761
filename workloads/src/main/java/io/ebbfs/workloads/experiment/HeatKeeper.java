package io.ebbfs.workloads.experiment;

import io.ebbfs.workloads.stock.StockProcess;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Goes on opening files as in the last epoch of the workloads, at its pace, so that what is hot stays
 * hot while something else is measured. Nothing is read, so that the links stay free.
 */
final class HeatKeeper implements AutoCloseable {
  private final Thread thread;

  /**
   * @param files whose opens are repeated in this order
   * @param periodMillis in which each of them happens once
   */
  HeatKeeper(StockProcess client, List<String> files, long periodMillis) {
    thread =
        new Thread(
            () -> {
              long pause = Math.max(1, periodMillis * 1_000_000 / Math.max(1, files.size()));
              try {
                for (long i = 0; !files.isEmpty(); i++) {
                  // One at a time: a slow namenode slows it down.
                  client.touch(files.get((int) (i % files.size()))).exceptionally(e -> null).get();
                  TimeUnit.NANOSECONDS.sleep(pause);
                }
              } catch (InterruptedException | java.util.concurrent.ExecutionException e) {
                Thread.currentThread().interrupt();
              }
            },
            "heat-keeper");
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() {
    thread.interrupt();
    try {
      thread.join(5000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
