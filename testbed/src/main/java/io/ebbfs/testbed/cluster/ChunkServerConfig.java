package io.ebbfs.testbed.cluster;

import io.ebbfs.common.config.ConfigException;
import io.ebbfs.common.config.Section;
import io.ebbfs.common.config.YamlFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The settings of a chunk server, in {@code conf/chunk-server.yaml}. They become options of its
 * command line. The chunk servers of a local cluster get disks and ports from the launcher.
 *
 * @param disks a directory on each disk; empty in a local cluster
 * @param transferPort the port of data transfer
 * @param ipcPort the port of Hadoop RPC
 * @param httpPort the port of probes and metrics; 0 for none
 * @param domainSocketPath the path of a Unix domain socket for short-circuit reads; empty for none
 * @param balanceBytesPerSecond most bytes that the moves of HDFS's balancer send, and receive
 * @param balanceMoves most such moves at a time
 * @param scrubPeriodMillis every block is compared with its checksums once in this time; a multiple
 *     of 1000; 0 for never
 * @param scrubBytesPerSecond most bytes that this scrub reads from one disk
 * @param kernel that computes combines and degraded reads: one of {@link #KERNELS}
 */
public record ChunkServerConfig(
    List<String> disks,
    int transferPort,
    int ipcPort,
    int httpPort,
    String domainSocketPath,
    long balanceBytesPerSecond,
    int balanceMoves,
    long scrubPeriodMillis,
    long scrubBytesPerSecond,
    String kernel) {
  /** The ports are those of an HDFS DataNode. */
  static final ChunkServerConfig DEFAULTS =
      new ChunkServerConfig(
          List.of(),
          9866,
          9867,
          9864,
          "",
          100L << 20,
          100,
          21L * 24 * 3_600_000,
          16L << 20,
          "auto");

  /** The names of the chunk server. auto is the fastest kernel that the processor can run. */
  static final List<String> KERNELS =
      List.of("auto", "isal", "jerasure", "gfni-avx2", "gfni-avx512");

  private static final String FILE = "chunk-server.yaml";
  private static final long MOST_SECONDS = 366L * 24 * 3600;
  private static final long LEAST_RATE = 4096;
  private static final int MOST_MOVES = 4096;

  /** Reads the file in a directory. All defaults if there is none. */
  public static ChunkServerConfig read(Path confDirectory) throws ConfigException {
    Path file = confDirectory.resolve(FILE);
    if (!Files.exists(file)) {
      return DEFAULTS;
    }
    return parse(file, YamlFile.text(file));
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
    Section balance = top.section("balance");
    long balanceRate = balance.sizeBytes("bytesPerSecond", DEFAULTS.balanceBytesPerSecond);
    if (balanceRate < LEAST_RATE) {
      balance.problem(
          "bytesPerSecond",
          "'balance.bytesPerSecond: " + balanceRate + "' is too little to move a block in time",
          "write 4KiB at least");
      balanceRate = DEFAULTS.balanceBytesPerSecond;
    }
    int moves = balance.integer("moves", DEFAULTS.balanceMoves, 1, MOST_MOVES);
    balance.end();
    return new ChunkServerConfig(
        disks(top),
        port(top, "transferPort", DEFAULTS.transferPort),
        port(top, "ipcPort", DEFAULTS.ipcPort),
        port(top, "httpPort", DEFAULTS.httpPort),
        domainSocket(top),
        balanceRate,
        moves,
        period,
        rate,
        kernel);
  }

  private static final Pattern TYPED_DISK =
      Pattern.compile("\\[(DISK|SSD|ARCHIVE|RAM_DISK|NVDIMM)].+");

  private static List<String> disks(Section top) {
    List<String> disks = top.texts("disks").stream().map(Section.Entry::text).toList();
    for (String disk : disks) {
      if (disk.isBlank() || disk.contains(",")) {
        top.problem(
            "disks",
            "'disks' holds '%s'".formatted(disk),
            "write the path of a directory, without a comma");
      } else if (disk.startsWith("[") && !TYPED_DISK.matcher(disk).matches()) {
        top.problem(
            "disks",
            "'disks' holds '%s'".formatted(disk),
            "write the type of the disk as [DISK], [SSD], [ARCHIVE], [RAM_DISK] or [NVDIMM], and the path behind it");
      }
    }
    return disks;
  }

  private static String domainSocket(Section top) {
    String path = top.text("domainSocketPath").orElse(DEFAULTS.domainSocketPath);
    if (!path.isEmpty() && !path.startsWith("/")) {
      top.problem(
          "domainSocketPath",
          "'domainSocketPath: " + path + "' is not an absolute path",
          "write something like /var/lib/ebbfs/dn_socket, or leave it out");
      return DEFAULTS.domainSocketPath;
    }
    return path;
  }

  private static int port(Section top, String key, int otherwise) {
    return top.integer(key, otherwise, 0, 65_535);
  }

  /** Disks, ports and the domain socket, as options; a local cluster does not use them. */
  public List<String> placeOptions() {
    List<String> options =
        new ArrayList<>(
            List.of(
                "--data",
                String.join(",", disks),
                "--transfer-port",
                String.valueOf(transferPort),
                "--ipc-port",
                String.valueOf(ipcPort),
                "--http-port",
                String.valueOf(httpPort)));
    if (!domainSocketPath.isEmpty()) {
      options.addAll(List.of("--domain-socket", domainSocketPath));
    }
    return options;
  }

  /** The other settings, as options of the command line. */
  public List<String> options() {
    return List.of(
        "--balance-bytes-per-second",
        String.valueOf(balanceBytesPerSecond),
        "--balance-moves",
        String.valueOf(balanceMoves),
        "--scrub-period-seconds",
        String.valueOf(scrubPeriodMillis / 1000),
        "--scrub-bytes-per-second",
        String.valueOf(scrubBytesPerSecond),
        "--kernel",
        kernel);
  }
}
