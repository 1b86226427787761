package io.ebbfs.workloads.demo;

import io.ebbfs.workloads.Background;
import io.ebbfs.workloads.demo.ClusterProbe.Usage;
import io.ebbfs.workloads.demo.DataSet.Family;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Samples overhead and resident memory every second while the demo runs. A sample that cannot be
 * taken, because the namenode is down, is left out. Thread-safe.
 */
final class Sampler implements AutoCloseable {
  private static final long PERIOD_MILLIS = 1000;

  private final Supplier<ClusterProbe> probe;
  private final LongSupplier residentBytes;
  private final List<Report.Sample> samples = new ArrayList<>();
  private final long start = System.nanoTime();
  private final Background background;
  private volatile String phase = "start";
  private long peakResidentBytes;

  /**
   * @param probe the namenode to ask, null while there is none
   * @param residentBytes of all processes of the cluster together
   */
  Sampler(Supplier<ClusterProbe> probe, LongSupplier residentBytes) {
    this.probe = probe;
    this.residentBytes = residentBytes;
    background = new Background("sampler", this::run);
  }

  void phase(String name) {
    phase = name;
  }

  double seconds() {
    return (System.nanoTime() - start) / 1e9;
  }

  synchronized List<Report.Sample> samples() {
    return List.copyOf(samples);
  }

  synchronized long peakResidentBytes() {
    return peakResidentBytes;
  }

  private void run() throws InterruptedException {
    while (!Thread.currentThread().isInterrupted()) {
      sample();
      Thread.sleep(PERIOD_MILLIS);
    }
  }

  private void sample() {
    ClusterProbe namenode = probe.get();
    long resident = residentBytes.getAsLong();
    synchronized (this) {
      peakResidentBytes = Math.max(peakResidentBytes, resident);
    }
    if (namenode == null) {
      return;
    }
    try {
      Map<String, Double> overhead = new TreeMap<>();
      for (Map.Entry<Family, Usage> usage : namenode.usage().entrySet()) {
        overhead.put(usage.getKey().key(), usage.getValue().overhead());
      }
      synchronized (this) {
        samples.add(new Report.Sample(seconds(), phase, overhead));
      }
    } catch (IOException e) {
      // The namenode is being killed or started: the next sample tells more.
    }
  }

  @Override
  public void close() {
    background.close();
  }
}
