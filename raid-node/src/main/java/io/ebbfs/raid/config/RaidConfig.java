package io.ebbfs.raid.config;

import io.ebbfs.common.config.ConfigException;
import io.ebbfs.common.config.Section;
import io.ebbfs.common.config.Units;
import io.ebbfs.common.config.YamlFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The settings of a raid-node, as {@code conf/raid-node.yaml} holds them.
 *
 * @param batch most transitions of one claim
 * @param mapTasks transitions that an executor runs at once: so many repairs, and so many
 *     conversions
 * @param leaseMillis duration of a claim that is not renewed
 * @param pollMillis pause after a claim that found nothing
 * @param combines most combines of one process at once, over all executors; 0 is no limit
 * @param combinesPerServer most combines of one process at once on one chunk server; 0 is no limit
 * @param combineTimeoutMillis most time for the answer of a chunk server
 * @param bytesPerSecond most bytes that background work reads and writes; 0 is no limit
 * @param executors maps of a job, which claim and run transitions
 * @param executorLifeMillis how long the executors of a job claim transitions
 * @param framework {@code local} or {@code yarn}
 * @param hadoopConf directory with Hadoop's configuration, needed for YARN
 * @param staging directory for the files of jobs on YARN, with or without its file system
 * @param scrub the parity scrub
 */
public record RaidConfig(
    int batch,
    int mapTasks,
    long leaseMillis,
    long pollMillis,
    int combines,
    int combinesPerServer,
    long combineTimeoutMillis,
    long bytesPerSecond,
    int executors,
    long executorLifeMillis,
    String framework,
    Optional<Path> hadoopConf,
    Optional<String> staging,
    ScrubConfig scrub) {
  /** MapReduce jobs that run at once. While one ends and begins again, the other works. */
  public static final int JOBS_AT_ONCE = 2;

  private static final long LEAST_LIFE_MILLIS = 10_000;
  private static final long LEAST_LIFE_ON_YARN_MILLIS = 120_000;

  /** The values of keys that the file does not have. */
  public static final RaidConfig DEFAULTS =
      new RaidConfig(
          16,
          4,
          30_000,
          250,
          0,
          0,
          120_000,
          0,
          1,
          1_800_000,
          "local",
          Optional.empty(),
          Optional.empty(),
          ScrubConfig.DEFAULTS);

  /** Reads {@code raid-node.yaml} in a directory; all defaults if there is no such file. */
  public static RaidConfig read(Path confDirectory) throws ConfigException {
    Path file = confDirectory.resolve("raid-node.yaml");
    return Files.exists(file) ? parse(file, YamlFile.text(file)) : DEFAULTS;
  }

  /** Reads the settings out of the text of a file. */
  static RaidConfig parse(Path file, String text) throws ConfigException {
    return YamlFile.parse(file, text, RaidConfig::of);
  }

  private static RaidConfig of(Section top) {
    RaidConfig d = DEFAULTS;
    return new RaidConfig(
        top.integer("batch", d.batch, 1, 1024),
        top.integer("mapTasks", d.mapTasks, 1, 64),
        duration(top, "lease", d.leaseMillis, 1_000, 3_600_000),
        duration(top, "poll", d.pollMillis, 10, 600_000),
        top.integer("combines", d.combines, 0, 1024),
        top.integer("combinesPerServer", d.combinesPerServer, 0, 1024),
        duration(top, "combineTimeout", d.combineTimeoutMillis, 1_000, 3_600_000),
        top.sizeBytes("bytesPerSecond", d.bytesPerSecond),
        top.integer("executors", d.executors, 1, 1024),
        executorLife(top),
        framework(top),
        top.text("hadoopConf").map(Path::of),
        top.text("staging"),
        ScrubConfig.of(top.section("scrub")));
  }

  private static long duration(Section top, String key, long otherwise, long least, long most) {
    long value = top.durationMillis(key, otherwise);
    if (value < least || value > most) {
      top.problem(
          key,
          "'%s: %s' is out of range".formatted(key, Units.showMillis(value)),
          "choose from %s to %s".formatted(Units.showMillis(least), Units.showMillis(most)));
      return otherwise;
    }
    return value;
  }

  /** On YARN, half a life must be longer than a job takes to start. */
  private static long executorLife(Section top) {
    boolean yarn = top.text("framework").filter("yarn"::equals).isPresent();
    long least = yarn ? LEAST_LIFE_ON_YARN_MILLIS : LEAST_LIFE_MILLIS;
    return duration(top, "executorLife", DEFAULTS.executorLifeMillis, least, 86_400_000);
  }

  private static String framework(Section top) {
    String name = top.text("framework").orElse(DEFAULTS.framework);
    if (!name.equals("local") && !name.equals("yarn")) {
      top.problem("framework", "'framework: " + name + "' is unknown", "choose local or yarn");
      return DEFAULTS.framework;
    }
    Optional<Path> conf = top.text("hadoopConf").map(Path::of);
    if (name.equals("yarn") && conf.filter(Files::isDirectory).isEmpty()) {
      top.problem(
          "framework",
          "'framework: yarn' needs Hadoop's configuration, hadoopConf is "
              + conf.map(path -> path + ", which is no directory").orElse("not set"),
          "set hadoopConf to the directory that holds yarn-site.xml");
    }
    return name;
  }
}
