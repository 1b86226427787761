package io.ebbfs.workloads.experiment;

import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.testbed.client.ClusterProbe;
import io.ebbfs.testbed.process.BackgroundLoop;
import io.ebbfs.workloads.results.Results.Sample;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Samples the storage overhead of each workload's stripes every second. A sample is left out while
 * the namenode does not answer. Thread-safe.
 */
final class StorageSampler implements AutoCloseable {
  private static final long PERIOD_MILLIS = 1000;

  private final ClusterProbe probe;
  private final String fastCode;
  private final List<Sample> samples = new ArrayList<>();
  private final long start = System.nanoTime();
  private final BackgroundLoop background;
  private volatile String phase = "start";

  StorageSampler(ClusterProbe probe, String fastCode) {
    this.probe = probe;
    this.fastCode = fastCode;
    background = new BackgroundLoop("storage-sampler", this::run);
  }

  void phase(String name) {
    phase = name;
  }

  synchronized List<Sample> samples() {
    return List.copyOf(samples);
  }

  private void run() throws InterruptedException {
    long next = System.nanoTime();
    while (!Thread.currentThread().isInterrupted()) {
      sample();
      next += PERIOD_MILLIS * 1_000_000;
      Thread.sleep(Math.max(1, (next - System.nanoTime()) / 1_000_000));
    }
  }

  /** Bytes of one workload's stripes. */
  private static final class Space {
    long live;
    long stored;
    long fast;
  }

  private void sample() {
    try {
      List<StripeStatusProto> stripes = probe.stripes();
      List<TransitionRow> active =
          probe.transitions(TransitionStateProto.PLANNED, TransitionStateProto.RUNNING);
      Map<String, Space> spaces = new HashMap<>();
      for (StripeStatusProto stripe : stripes) {
        Space space = spaces.computeIfAbsent(stripe.getStripe().getPolicy(), policy -> new Space());
        space.live += stripe.getLiveBytes();
        space.stored += StripeSnapshot.storedBytes(stripe);
        space.fast += stripe.getStripe().getCode().equals(fastCode) ? stripe.getLiveBytes() : 0;
      }
      Map<String, Double> overhead = new TreeMap<>();
      Map<String, Double> fastShare = new TreeMap<>();
      spaces.forEach(
          (policy, space) -> {
            if (space.live > 0) {
              overhead.put(policy, (double) space.stored / space.live);
              fastShare.put(policy, (double) space.fast / space.live);
            }
          });
      int running =
          (int) active.stream().filter(row -> row.getKind() != TransitionKindProto.REPAIR).count();
      synchronized (this) {
        samples.add(
            new Sample((System.nanoTime() - start) / 1e9, phase, overhead, fastShare, running));
      }
    } catch (IOException e) {
      // The next sample follows in a second.
    }
  }

  @Override
  public void close() {
    background.close();
  }
}
