package io.ebbfs.workloads.experiment;

import io.ebbfs.testbed.client.StockProcess;
import io.ebbfs.workloads.results.Results.TimedRead;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;

/** Clients that read whole files, one after the other, until {@link #end}. */
final class ForegroundReaders {
  private final List<TimedRead> reads = new ArrayList<>();
  private final long start = System.nanoTime();
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean ending;
  private volatile Throwable failure;

  ForegroundReaders(StockProcess client, List<String> files, int readers, Random random) {
    for (int i = 0; i < readers; i++) {
      Random mine = new Random(random.nextLong());
      Thread thread = new Thread(() -> read(client, files, mine), "reader-" + i);
      thread.setDaemon(true);
      threads.add(thread);
      thread.start();
    }
  }

  private void read(StockProcess client, List<String> files, Random random) {
    while (!ending) {
      try {
        double took = client.read(files.get(random.nextInt(files.size()))).get().micros() / 1000.0;
        double second = (System.nanoTime() - start) / 1e9;
        synchronized (reads) {
          reads.add(new TimedRead(second, took));
        }
      } catch (ExecutionException e) {
        failure = e;
        return;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  /** Ends the clients and returns the duration of each read. */
  List<Double> endMillis() {
    return end().stream().map(TimedRead::millis).toList();
  }

  /**
   * Ends the clients and returns the duration and the moment of each read.
   *
   * @throws UncheckedIOException if a file could not be read
   */
  List<TimedRead> end() {
    ending = true;
    try {
      for (Thread thread : threads) {
        thread.join(60_000);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (failure != null) {
      throw new UncheckedIOException(
          new IOException("a file cannot be read: " + failure.getMessage(), failure));
    }
    synchronized (reads) {
      return List.copyOf(reads);
    }
  }
}
