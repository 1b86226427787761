package io.ebbfs.namenode;

import io.ebbfs.namenode.store.ScannedRows;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Map;
import java.util.TreeMap;

/** Adds up what the periodic work of a namenode costs, by its name. Thread-safe. */
public final class LoopMeter {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final Map<String, Sums> sums = new TreeMap<>();

  /**
   * What one kind of work has cost so far.
   *
   * @param rows of the store that were read by scans
   */
  public record Sums(long runs, long nanos, long cpuNanos, long rows) {
    private Sums plus(Sums other) {
      return new Sums(
          runs + other.runs, nanos + other.nanos, cpuNanos + other.cpuNanos, rows + other.rows);
    }
  }

  /** Work that is done again and again. */
  @FunctionalInterface
  interface Work {
    void run() throws IOException;
  }

  void measure(String name, Work work) throws IOException {
    long began = System.nanoTime();
    long cpu = THREADS.getCurrentThreadCpuTime();
    long rows = ScannedRows.ofThisThread();
    try {
      work.run();
    } finally {
      Sums one =
          new Sums(
              1,
              System.nanoTime() - began,
              THREADS.getCurrentThreadCpuTime() - cpu,
              ScannedRows.ofThisThread() - rows);
      synchronized (sums) {
        sums.merge(name, one, Sums::plus);
      }
    }
  }

  /** The sums by the name of the work. */
  public Map<String, Sums> sums() {
    synchronized (sums) {
      return new TreeMap<>(sums);
    }
  }
}
