package io.ebbfs.manager.config;

import io.ebbfs.common.config.ConfigException;
import io.ebbfs.common.config.Section;
import io.ebbfs.common.config.YamlFile;
import io.ebbfs.manager.economics.Experience;
import java.nio.file.Path;

/**
 * The settings of the manager, read from {@code manager.yaml}. All times are milliseconds. {@code
 * docs/configuration.md} explains each setting.
 */
public record ManagerConfig(Heat heat, Schedule schedule, Limits limits, Startup startup) {
  /** The file in the configuration directory. */
  public static final String FILE = "manager.yaml";

  /**
   * How reads are counted from Kafka, and how fast the counts decay.
   *
   * @param memoryMillis half-life of the reads that are remembered to weigh conversions
   */
  public record Heat(
      String topic,
      long halfLifeMillis,
      long memoryMillis,
      long pruneEveryMillis,
      double pruneBelow) {
    public HalfLives halfLives() {
      return new HalfLives(halfLifeMillis, memoryMillis);
    }
  }

  /** How often the tasks of the manager run. */
  public record Schedule(
      long evaluateEveryMillis,
      long sampleEveryMillis,
      long keepSamplesMillis,
      long reloadEveryMillis) {}

  /** Limits of the manager's work and memory. */
  public record Limits(
      int maxPendingTransitions,
      long retryFailedAfterMillis,
      int pageSize,
      long rpcTimeoutMillis) {}

  /** Demands on the cluster at the start. */
  public record Startup(boolean requireFailureDomains, long clusterWaitMillis) {}

  public static ManagerConfig load(Path directory) throws ConfigException {
    Path path = directory.resolve(FILE);
    return parse(path, YamlFile.text(path));
  }

  static ManagerConfig parse(Path path, String text) throws ConfigException {
    return YamlFile.parse(path, text, ManagerConfig::read);
  }

  public static ManagerConfig defaults() {
    return new ManagerConfig(
        new Heat("ebbfs.opens", 3_600_000, Experience.WEEK_MILLIS, 600_000, 0.01),
        new Schedule(30_000, 10_000, 7L * 86_400_000, 2_000),
        new Limits(500, 600_000, 1_000, 30_000),
        new Startup(false, 60_000));
  }

  private static ManagerConfig read(Section top) {
    ManagerConfig otherwise = defaults();
    return new ManagerConfig(
        readHeat(top.section("heat"), otherwise.heat),
        readSchedule(top.section("schedule"), otherwise.schedule),
        readLimits(top.section("limits"), otherwise.limits),
        readStartup(top.section("startup"), otherwise.startup));
  }

  private static Heat readHeat(Section section, Heat otherwise) {
    Heat heat =
        new Heat(
            section.text("topic").orElse(otherwise.topic),
            positive(section, "halfLife", otherwise.halfLifeMillis),
            positive(section, "memory", otherwise.memoryMillis),
            positive(section, "pruneEvery", otherwise.pruneEveryMillis),
            section.number("pruneBelow", 0, 1).orElse(otherwise.pruneBelow));
    section.end();
    return heat;
  }

  private static Schedule readSchedule(Section section, Schedule otherwise) {
    Schedule schedule =
        new Schedule(
            positive(section, "evaluateEvery", otherwise.evaluateEveryMillis),
            positive(section, "sampleEvery", otherwise.sampleEveryMillis),
            positive(section, "keepSamples", otherwise.keepSamplesMillis),
            positive(section, "reloadEvery", otherwise.reloadEveryMillis));
    section.end();
    return schedule;
  }

  private static Limits readLimits(Section section, Limits otherwise) {
    Limits limits =
        new Limits(
            section.integer("maxPendingTransitions", otherwise.maxPendingTransitions, 1, 100_000),
            section.durationMillis("retryFailedAfter", otherwise.retryFailedAfterMillis),
            section.integer("pageSize", otherwise.pageSize, 1, 10_000),
            positive(section, "rpcTimeout", otherwise.rpcTimeoutMillis));
    section.end();
    return limits;
  }

  private static Startup readStartup(Section section, Startup otherwise) {
    Startup startup =
        new Startup(
            section.flag("requireFailureDomains", otherwise.requireFailureDomains),
            section.durationMillis("clusterWait", otherwise.clusterWaitMillis));
    section.end();
    return startup;
  }

  private static long positive(Section section, String key, long otherwise) {
    long millis = section.durationMillis(key, otherwise);
    if (millis < 100) {
      section.problem(
          key, "'" + key + "' is " + millis + " ms, which is too short", "write at least 100ms");
    }
    return millis;
  }
}
