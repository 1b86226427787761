package io.ebbfs.workloads.demo;

import io.ebbfs.testbed.client.StockProcess;
import io.ebbfs.workloads.demo.DataSet.LocalFile;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Reads files at a bounded rate, while everything else happens, and compares each with its digest.
 */
final class BackgroundReader implements AutoCloseable {
  private static final int IN_FLIGHT = 4;
  private static final int SHOWN_FAILURES = 3;
  private static final long CLOSE_MILLIS = 60_000;

  private final StockProcess client;
  private final Map<LocalFile, String> expected;
  private final ServedReads served;
  private final DemoConsole console;
  private final Queue<Pending> pending = new ArrayDeque<>();
  private final AtomicLong reads = new AtomicLong();
  private final AtomicLong failures = new AtomicLong();
  private final Thread thread;
  private volatile boolean stopped;

  private record Pending(LocalFile file, CompletableFuture<StockProcess.Answer> answer) {}

  /**
   * Starts at once.
   *
   * @param expected the digest of each file
   * @param next the file to read next; is asked from one thread
   * @param perSecond reads at most
   * @param served is told of each read
   */
  BackgroundReader(
      StockProcess client,
      Map<LocalFile, String> expected,
      Supplier<LocalFile> next,
      int perSecond,
      ServedReads served,
      DemoConsole console) {
    this.client = client;
    this.expected = expected;
    this.served = served;
    this.console = console;
    thread = new Thread(() -> run(next, 1_000_000_000L / perSecond), "background-reader");
    thread.setDaemon(true);
    thread.start();
  }

  long reads() {
    return reads.get();
  }

  long failures() {
    return failures.get();
  }

  private void run(Supplier<LocalFile> next, long periodNanos) {
    long due = System.nanoTime();
    while (!stopped) {
      LocalFile file = next.get();
      pending.add(new Pending(file, client.read(file.remote())));
      if (pending.size() >= IN_FLIGHT) {
        settle(pending.remove());
      }
      // A reader that fell behind does not catch up: the rate stays bounded.
      due = Math.max(due + periodNanos, System.nanoTime() - periodNanos);
      while (!stopped && System.nanoTime() < due) {
        LockSupport.parkNanos(due - System.nanoTime());
      }
    }
    pending.forEach(this::settle);
  }

  private void settle(Pending one) {
    try {
      if (!one.answer.join().sha256().equals(expected.get(one.file))) {
        fail(one.file, "wrong bytes");
      }
      served.add(one.file);
    } catch (CompletionException e) {
      fail(one.file, e.getCause().getMessage());
    }
    reads.incrementAndGet();
  }

  private void fail(LocalFile file, String why) {
    if (failures.incrementAndGet() <= SHOWN_FAILURES) {
      console.line("   a read in the background failed: %s: %s", file.remote(), why);
    }
  }

  /** Ends after the reads under way. The client must still be open. */
  @Override
  public void close() {
    stopped = true;
    LockSupport.unpark(thread);
    try {
      thread.join(CLOSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
