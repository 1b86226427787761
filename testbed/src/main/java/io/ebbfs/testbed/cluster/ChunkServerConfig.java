package io.ebbfs.testbed.cluster;

import io.ebbfs.common.config.ConfigException;
import io.ebbfs.common.config.Section;
import io.ebbfs.common.config.YamlFile;
import io.ebbfs.testbed.ClusterException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The settings of the chunk servers of a local cluster, in {@code conf/chunk-server.yaml}. They
 * become options of each chunk server's command line.
 *
 * @param scrubPeriodMillis every block is compared with its checksums once in this time; a multiple
 *     of 1000; 0 for never
 * @param scrubBytesPerSecond most bytes that this scrub reads from one disk
 * @param kernel that computes combines and degraded reads: one of {@link #KERNELS}
 */
record ChunkServerConfig(long scrubPeriodMillis, long scrubBytesPerSecond, String kernel) {
  /** With a short scrub period: a local cluster is seldom up for weeks. */
  static final ChunkServerConfig DEFAULTS = new ChunkServerConfig(3_600_000, 16L << 20, "auto");

  /** The names of the chunk server. auto is the fastest kernel that the processor can run. */
  static final List<String> KERNELS =
      List.of("auto", "isal", "jerasure", "gfni-avx2", "gfni-avx512");

  private static final String FILE = "chunk-server.yaml";
  private static final long MOST_SECONDS = 366L * 24 * 3600;
  private static final long LEAST_RATE = 4096;

  /** Reads the file in a directory. All defaults if there is none. */
  static ChunkServerConfig read(Path confDirectory) throws ClusterException {
    Path file = confDirectory.resolve(FILE);
    if (!Files.exists(file)) {
      return DEFAULTS;
    }
    try {
      return parse(file, YamlFile.text(file));
    } catch (ConfigException e) {
      throw new ClusterException(e.getMessage(), e);
    }
  }

  static ChunkServerConfig parse(Path file, String text) throws ConfigException {
    return YamlFile.parse(file, text, ChunkServerConfig::read);
  }

  private static ChunkServerConfig read(Section top) {
    String kernel = top.text("kernel").orElse(DEFAULTS.kernel);
    if (!KERNELS.contains(kernel)) {
      top.problem(
          "kernel",
          "'kernel: " + kernel + "' is unknown",
          "write one of " + String.join(", ", KERNELS));
      kernel = DEFAULTS.kernel;
    }
    Section scrub = top.section("scrub");
    long period = scrub.durationMillis("period", DEFAULTS.scrubPeriodMillis);
    if (period % 1000 != 0 || period > MOST_SECONDS * 1000) {
      scrub.problem(
          "period",
          "'scrub.period' is no number of whole seconds up to a year",
          "write something like 1h, or 0 for no scrub");
      period = DEFAULTS.scrubPeriodMillis;
    }
    long rate = scrub.sizeBytes("bytesPerSecond", DEFAULTS.scrubBytesPerSecond);
    if (rate < LEAST_RATE) {
      scrub.problem(
          "bytesPerSecond",
          "'scrub.bytesPerSecond: " + rate + "' is too little to get anywhere",
          "write 4KiB at least, or 'period: 0' for no scrub");
      rate = DEFAULTS.scrubBytesPerSecond;
    }
    scrub.end();
    return new ChunkServerConfig(period, rate, kernel);
  }

  /** As options of the chunk server's command line. */
  List<String> options() {
    return List.of(
        "--scrub-period-seconds",
        String.valueOf(scrubPeriodMillis / 1000),
        "--scrub-bytes-per-second",
        String.valueOf(scrubBytesPerSecond),
        "--kernel",
        kernel);
  }
}
