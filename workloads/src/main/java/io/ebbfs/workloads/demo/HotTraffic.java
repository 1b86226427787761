package io.ebbfs.workloads.demo;

import io.ebbfs.workloads.demo.DataSet.LocalFile;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Reads the hot files again and again in the background, some more often than others (Zipf). */
final class HotTraffic implements AutoCloseable {
  /** With the exponent and the half-life of the demo's manager, every file stays hot. */
  static final int READS_PER_SECOND = 30;

  static final double ZIPF_EXPONENT = 0.7;

  private final DemoCluster cluster;
  private final Map<LocalFile, String> digests;
  private final List<LocalFile> ranked;
  private final ZipfRanks zipf;
  private final ServedReads served;
  private final Random random;
  private final DemoConsole console;
  private BackgroundReader reader;
  private long earlierReads;
  private long earlierFailures;

  HotTraffic(
      DemoCluster cluster,
      Map<LocalFile, String> digests,
      HotSet hot,
      ServedReads served,
      Random random,
      DemoConsole console) {
    this.cluster = cluster;
    this.digests = digests;
    this.ranked = hot.ranked();
    this.zipf = new ZipfRanks(ranked.size(), ZIPF_EXPONENT);
    this.served = served;
    this.random = random;
    this.console = console;
  }

  /** Begins, or begins again after {@link #close}. */
  void start() {
    if (!ranked.isEmpty()) {
      reader =
          new BackgroundReader(
              cluster.readers(),
              digests,
              () -> ranked.get(zipf.next(random)),
              READS_PER_SECOND,
              served,
              console);
    }
  }

  long reads() {
    return earlierReads + (reader == null ? 0 : reader.reads());
  }

  long failures() {
    return earlierFailures + (reader == null ? 0 : reader.failures());
  }

  /** Pauses. The cluster must still be up. */
  @Override
  public void close() {
    if (reader != null) {
      reader.close();
      earlierReads += reader.reads();
      earlierFailures += reader.failures();
      reader = null;
    }
  }
}
