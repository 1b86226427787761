package io.ebbfs.ignite;

import io.ebbfs.common.config.ConfigException;
import io.ebbfs.common.config.Section;
import io.ebbfs.common.config.YamlFile;
import java.nio.file.Path;

/**
 * The file {@code conf/store.yaml}: settings of a node of the store on Ignite. Times are in
 * milliseconds, sizes in bytes.
 *
 * @param data the directory of its rows
 * @param memory memory for rows, outside of the heap
 * @param log room for the write-ahead log on the disk
 * @param transferPort where rows are transferred; 0 for the port behind the node's own
 * @param httpPort a port for probes and metrics; 0 for none
 * @param failureDetection the others go on without a node that is silent for this long
 * @param syncEachCommit whether each commit waits for the disks
 * @param partitions of a new store, a power of two; fixed for ever
 * @param copies of each row, on a node each; of a new store, the same on all nodes, fixed for ever
 * @param threads of each pool
 */
public record StoreNodeConfig(
    Path data,
    long memory,
    long log,
    int transferPort,
    int httpPort,
    long failureDetection,
    boolean syncEachCommit,
    int partitions,
    int copies,
    int threads) {
  private static final long MIN_MEMORY = 32L << 20;
  private static final long MIN_LOG = 128L << 20;
  private static final long MIN_FAILURE_DETECTION = 2_000;

  public static StoreNodeConfig defaults() {
    return new StoreNodeConfig(
        Path.of("store-data"), 1L << 30, 1L << 30, 0, 0, 2_000, false, 256, 3, 8);
  }

  /**
   * Reads the file.
   *
   * @throws ConfigException with all problems
   */
  public static StoreNodeConfig read(Path file) throws ConfigException {
    return parse(file, YamlFile.text(file));
  }

  static StoreNodeConfig parse(Path name, String text) throws ConfigException {
    return YamlFile.parse(name, text, StoreNodeConfig::of);
  }

  private static StoreNodeConfig of(Section top) {
    StoreNodeConfig otherwise = defaults();
    StoreNodeConfig config =
        new StoreNodeConfig(
            top.text("data").map(Path::of).orElse(otherwise.data),
            top.sizeBytes("memory", otherwise.memory),
            top.sizeBytes("log", otherwise.log),
            top.integer("transferPort", otherwise.transferPort, 0, 65_535),
            top.integer("httpPort", otherwise.httpPort, 0, 65_535),
            top.durationMillis("failureDetection", otherwise.failureDetection),
            top.flag("syncEachCommit", otherwise.syncEachCommit),
            top.integer("partitions", otherwise.partitions, 1, 65_536),
            top.integer("copies", otherwise.copies, 2, 5),
            top.integer("threads", otherwise.threads, 1, 1_000));
    config.check(top);
    return config;
  }

  private void check(Section top) {
    if (Integer.bitCount(partitions) != 1) {
      top.problem(
          "partitions",
          "'partitions: " + partitions + "' is no power of two",
          "write 256 or 1024, for example");
    }
    if (memory < MIN_MEMORY) {
      top.problem("memory", "'memory: " + memory + "' is too small", "write 32MiB or more");
    }
    if (log < MIN_LOG) {
      top.problem("log", "'log: " + log + "' is too small", "write 128MiB or more");
    }
    if (failureDetection < MIN_FAILURE_DETECTION) {
      top.problem(
          "failureDetection",
          "'failureDetection: " + failureDetection + "ms' is shorter than the pulse of the nodes",
          "write 2s or more");
    }
  }

  /** The same node with its rows elsewhere. */
  public StoreNodeConfig withData(Path directory) {
    return new StoreNodeConfig(
        directory,
        memory,
        log,
        transferPort,
        httpPort,
        failureDetection,
        syncEachCommit,
        partitions,
        copies,
        threads);
  }
}
