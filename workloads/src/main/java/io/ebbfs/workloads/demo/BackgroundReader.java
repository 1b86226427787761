package io.ebbfs.workloads.demo;

import io.ebbfs.workloads.demo.DataSet.LocalFile;
import io.ebbfs.workloads.stock.StockProcess;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;

/** Reads random files one after the other, while blocks, disks and servers go, and checks each. */
final class BackgroundReader implements AutoCloseable {
  private final StockProcess client;
  private final List<LocalFile> files;
  private final Map<LocalFile, String> expected;
  private final RandomGenerator random;
  private final Console console;
  private final AtomicBoolean stopped = new AtomicBoolean();
  private final AtomicLong reads = new AtomicLong();
  private final AtomicLong failures = new AtomicLong();
  private final Thread thread;

  BackgroundReader(
      StockProcess client,
      Map<LocalFile, String> expected,
      RandomGenerator random,
      Console console) {
    this.client = client;
    this.files = List.copyOf(expected.keySet());
    this.expected = expected;
    this.random = random;
    this.console = console;
    thread = new Thread(this::run, "background-reader");
    thread.setDaemon(true);
    thread.start();
  }

  long reads() {
    return reads.get();
  }

  long failures() {
    return failures.get();
  }

  private void run() {
    while (!stopped.get()) {
      LocalFile file = files.get(random.nextInt(files.size()));
      try {
        StockProcess.Answer answer = client.read(file.remote()).join();
        if (!answer.sha256().equals(expected.get(file))) {
          fail(file, "wrong bytes");
        }
      } catch (CompletionException e) {
        if (!stopped.get()) {
          fail(file, e.getCause().getMessage());
        }
      }
      reads.incrementAndGet();
    }
  }

  private void fail(LocalFile file, String why) {
    if (failures.incrementAndGet() <= 3) {
      console.line("   a read in the background failed: %s: %s", file.remote(), why);
    }
  }

  @Override
  public void close() {
    stopped.set(true);
    try {
      thread.join(60_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
