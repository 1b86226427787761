package io.ebbfs.workloads.demo;

import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.testbed.client.ClusterProbe;
import io.ebbfs.testbed.client.ClusterProbe.Usage;
import io.ebbfs.testbed.process.BackgroundLoop;
import io.ebbfs.workloads.demo.DataSet.Family;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Samples storage overhead, codes of files and resident memory every second while the demo runs.
 * While the namenode is down, it samples the memory only. Thread-safe.
 */
final class Sampler implements AutoCloseable {
  private static final long PERIOD_MILLIS = 1000;

  private final Supplier<ClusterProbe> probe;
  private final LongSupplier residentBytes;
  private final FileCodes codes;
  private final List<DemoReport.Sample> samples = new ArrayList<>();
  private final long start = System.nanoTime();
  private final BackgroundLoop background;
  private volatile String phase = "start";
  private long peakResidentBytes;

  /**
   * @param probe the namenode to ask, null while there is none
   * @param residentBytes of all processes of the cluster together
   * @param codes is told of the stripes of each sample
   */
  Sampler(Supplier<ClusterProbe> probe, LongSupplier residentBytes, FileCodes codes) {
    this.probe = probe;
    this.residentBytes = residentBytes;
    this.codes = codes;
    background = new BackgroundLoop("sampler", this::run);
  }

  void phase(String name) {
    phase = name;
  }

  double seconds() {
    return (System.nanoTime() - start) / 1e9;
  }

  synchronized List<DemoReport.Sample> samples() {
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
      List<StripeStatusProto> stripes = namenode.stripes();
      codes.setStripes(stripes);
      Map<String, Double> overhead = new TreeMap<>();
      for (Map.Entry<Family, Usage> usage : FamilyUsage.of(namenode, stripes).entrySet()) {
        overhead.put(usage.getKey().key(), usage.getValue().overhead());
      }
      synchronized (this) {
        samples.add(new DemoReport.Sample(seconds(), phase, overhead));
      }
    } catch (IOException e) {
      // The namenode is being killed or started. The next sample follows in a second.
    }
  }

  @Override
  public void close() {
    background.close();
  }
}
