package io.ebbfs.raid.mapreduce;

import io.ebbfs.raid.config.RaidConfig;
import io.ebbfs.raid.config.ScrubConfig;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;

/** The settings of executors, as the configuration of their job carries them. */
final class JobSettings {
  /** Names the resources in the JVM that submits a job; no resources have the name elsewhere. */
  static final String RESOURCES = "ebbfs.raid.resources";

  static final String NAMENODES = "ebbfs.raid.namenodes";
  static final String LIFE = "ebbfs.raid.life-millis";
  static final String END = "ebbfs.raid.end-millis";
  static final String EXECUTORS = "ebbfs.raid.executors";

  private static final String BATCH = "ebbfs.raid.batch";
  private static final String TASKS = "ebbfs.raid.map-tasks";
  private static final String LEASE = "ebbfs.raid.lease-millis";
  private static final String POLL = "ebbfs.raid.poll-millis";
  private static final String COMBINES = "ebbfs.raid.combines";
  private static final String PER_SERVER = "ebbfs.raid.combines-per-server";
  private static final String COMBINE_TIMEOUT = "ebbfs.raid.combine-timeout-millis";
  private static final String BYTES_PER_SECOND = "ebbfs.raid.bytes-per-second";

  private JobSettings() {}

  static void write(RaidConfig config, Configuration conf) {
    conf.setInt(EXECUTORS, config.executors());
    conf.setInt(BATCH, config.batch());
    conf.setInt(TASKS, config.mapTasks());
    conf.setLong(LEASE, config.leaseMillis());
    conf.setLong(POLL, config.pollMillis());
    conf.setInt(COMBINES, config.combines());
    conf.setInt(PER_SERVER, config.combinesPerServer());
    conf.setLong(COMBINE_TIMEOUT, config.combineTimeoutMillis());
    conf.setLong(BYTES_PER_SECOND, config.bytesPerSecond());
  }

  /** What one executor in a JVM of its own needs, with its share of the bytes in a second. */
  static RaidConfig read(Configuration conf) {
    RaidConfig d = RaidConfig.DEFAULTS;
    int executors = conf.getInt(EXECUTORS, d.executors());
    long bytes = conf.getLong(BYTES_PER_SECOND, d.bytesPerSecond());
    return new RaidConfig(
        conf.getInt(BATCH, d.batch()),
        conf.getInt(TASKS, d.mapTasks()),
        conf.getLong(LEASE, d.leaseMillis()),
        conf.getLong(POLL, d.pollMillis()),
        conf.getInt(COMBINES, d.combines()),
        conf.getInt(PER_SERVER, d.combinesPerServer()),
        conf.getLong(COMBINE_TIMEOUT, d.combineTimeoutMillis()),
        bytes == 0 ? 0 : Math.max(1, bytes / (RaidConfig.JOBS_AT_ONCE * executors)),
        executors,
        conf.getLong(LIFE, d.executorLifeMillis()),
        "yarn",
        Optional.empty(),
        Optional.empty(),
        ScrubConfig.DEFAULTS);
  }
}
