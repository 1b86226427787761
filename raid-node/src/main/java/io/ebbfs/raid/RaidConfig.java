package io.ebbfs.raid;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The settings of a raid-node, as {@code conf/raid-node.yaml} holds them.
 *
 * @param batch transitions that one job carries at most
 * @param mapTasks maps of a job that run at once
 * @param leaseMillis how long a claim lasts without renewal
 * @param pollMillis how long to wait after nothing was to be done
 * @param combines combines at once, over all jobs
 * @param combineTimeoutMillis how long a chunk server may take to answer
 * @param bytesPerSecond cap on what background work reads and writes; 0 is none
 * @param framework {@code local} or {@code yarn}
 * @param hadoopConf directory with Hadoop's configuration, needed for YARN
 */
public record RaidConfig(
    int batch,
    int mapTasks,
    long leaseMillis,
    long pollMillis,
    int combines,
    long combineTimeoutMillis,
    long bytesPerSecond,
    String framework,
    Optional<Path> hadoopConf) {
  private static final long MAX_FILE_BYTES = 1 << 20;

  /** What holds where the file says nothing. */
  public static final RaidConfig DEFAULTS =
      new RaidConfig(64, 4, 30_000, 250, 4, 300_000, 0, "local", Optional.empty());

  /** Reads {@code raid-node.yaml} in a directory; all defaults if there is no such file. */
  public static RaidConfig read(Path confDirectory) throws RaidConfigException {
    Path file = confDirectory.resolve("raid-node.yaml");
    try {
      if (!Files.exists(file)) {
        return DEFAULTS;
      }
      if (Files.size(file) > MAX_FILE_BYTES) {
        throw new RaidConfigException(file + " is larger than 1 MiB: make it shorter");
      }
      return parse(file.getFileName().toString(), Files.readString(file));
    } catch (IOException e) {
      throw new RaidConfigException(file + " cannot be read: " + e.getMessage(), e);
    }
  }

  /** Reads the settings out of a text; reports everything that is wrong with it at once. */
  public static RaidConfig parse(String file, String text) throws RaidConfigException {
    FlatYaml yaml = new FlatYaml(file, text);
    RaidConfig d = DEFAULTS;
    String framework = yaml.choice("framework", d.framework, "local", "yarn");
    Optional<Path> hadoopConf = yaml.text("hadoopConf").map(Path::of);
    RaidConfig config =
        new RaidConfig(
            (int) yaml.number("batch", d.batch, 1, 1024),
            (int) yaml.number("mapTasks", d.mapTasks, 1, 64),
            yaml.duration("lease", d.leaseMillis, 1_000, 3_600_000),
            yaml.duration("poll", d.pollMillis, 10, 600_000),
            (int) yaml.number("combines", d.combines, 1, 1024),
            yaml.duration("combineTimeout", d.combineTimeoutMillis, 1_000, 3_600_000),
            yaml.size("bytesPerSecond", d.bytesPerSecond, 0, 1L << 40),
            framework,
            hadoopConf);
    if (framework.equals("yarn") && hadoopConf.filter(Files::isDirectory).isEmpty()) {
      yaml.problem(
          "framework",
          "framework: yarn needs Hadoop's configuration, hadoopConf is "
              + hadoopConf.map(p -> p + ", which is no directory").orElse("not set"),
          "set hadoopConf to the directory that holds yarn-site.xml");
    }
    yaml.end();
    return config;
  }
}
