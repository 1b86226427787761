package io.ebbfs.raid.mapreduce;

import io.ebbfs.raid.config.RaidConfig;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.v2.jobhistory.JHAdminConfig;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/** The configuration of jobs that run in this JVM or on YARN. */
final class JobConfiguration {
  private static final int LOCAL_POLL_MILLIS = 20;
  private static final int YARN_POLL_MILLIS = 1_000;

  /** So that the log tells within a minute that YARN is away; Hadoop's default is 15 minutes. */
  private static final int CONNECT_MILLIS = 30_000;

  private static final int CONNECT_INTERVAL_MILLIS = 2_000;

  /** Executors are on a few machines, whatever the size of the cluster. */
  private static final int REPLICATION = 3;

  private static final List<String> SITE_FILES =
      List.of("core-site.xml", "hdfs-site.xml", "yarn-site.xml", "mapred-site.xml");

  /** The name of several namenodes in the configuration of HDFS's clients. */
  private static final String NAMESERVICE = "ebbfs-namenodes";

  private static final String FAILOVER =
      "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider";

  private JobConfiguration() {}

  /**
   * Jobs of Hadoop's local runner.
   *
   * @param data a directory for all that Hadoop writes
   */
  static Configuration local(RaidConfig config, java.nio.file.Path data) {
    Configuration conf = new Configuration();
    conf.set(MRConfig.FRAMEWORK_NAME, MRConfig.LOCAL_FRAMEWORK_NAME);
    conf.set(FileSystem.FS_DEFAULT_NAME_KEY, "file:///");
    conf.setClass("fs.file.impl", StagingFileSystem.class, FileSystem.class);
    conf.set("hadoop.tmp.dir", data.resolve("tmp").toString());
    conf.set("mapreduce.cluster.local.dir", data.resolve("local").toString());
    conf.set("mapreduce.jobtracker.staging.root.dir", data.resolve("staging").toString());
    conf.set("mapreduce.jobtracker.system.dir", data.resolve("system").toString());
    conf.setInt("mapreduce.local.map.tasks.maximum", config.executors());
    return common(config, LOCAL_POLL_MILLIS, conf);
  }

  /**
   * Jobs on YARN. What the files of Hadoop's configuration say comes first. After them, {@code
   * fs.defaultFS} becomes the file system of the staging directory.
   *
   * @param namenodes of EbbFS, host:port, separated by commas: the file system if the configuration
   *     names none
   */
  static Configuration yarn(RaidConfig config, String namenodes) {
    Configuration site = new Configuration(false);
    for (String name : SITE_FILES) {
      java.nio.file.Path file = config.hadoopConf().orElseThrow().resolve(name);
      if (Files.exists(file)) {
        site.addResource(new Path(file.toUri()));
      }
    }
    Configuration conf = new Configuration();
    conf.addResource(site);
    conf.set(MRConfig.FRAMEWORK_NAME, MRConfig.YARN_FRAMEWORK_NAME);
    String home = conf.get(MRJobConfig.MR_AM_STAGING_DIR, MRJobConfig.DEFAULT_MR_AM_STAGING_DIR);
    String fallback = namenodes.contains(",") ? nameservice(namenodes, conf) : namenodes;
    Path fileSystem = new Path(site.get(FileSystem.FS_DEFAULT_NAME_KEY, "hdfs://" + fallback));
    Path staging = config.staging().map(Path::new).orElse(new Path(home));
    staging = staging.makeQualified(fileSystem.toUri(), new Path("/"));
    conf.set(FileSystem.FS_DEFAULT_NAME_KEY, new Path(staging, "/").toString());
    conf.set(MRJobConfig.MR_AM_STAGING_DIR, staging.toString());
    if (site.get(JHAdminConfig.MR_HISTORY_ADDRESS) == null) {
      // Without a history server nobody asks it, and nobody collects the histories of jobs.
      conf.set(JHAdminConfig.MR_HISTORY_ADDRESS, "");
    } else if (site.get(JHAdminConfig.MR_HISTORY_INTERMEDIATE_DONE_DIR) == null) {
      conf.set(JHAdminConfig.MR_HISTORY_INTERMEDIATE_DONE_DIR, home + "/history/done_intermediate");
    }
    if (site.get(YarnConfiguration.RESOURCEMANAGER_CONNECT_MAX_WAIT_MS) == null) {
      conf.setInt(YarnConfiguration.RESOURCEMANAGER_CONNECT_MAX_WAIT_MS, CONNECT_MILLIS);
      conf.setInt(
          YarnConfiguration.RESOURCEMANAGER_CONNECT_RETRY_INTERVAL_MS, CONNECT_INTERVAL_MILLIS);
    }
    conf.setInt("mapreduce.client.submit.file.replication", REPLICATION);
    return common(config, YARN_POLL_MILLIS, conf);
  }

  /** Lets HDFS's client find the one of several namenodes that serves; returns its authority. */
  private static String nameservice(String namenodes, Configuration conf) {
    List<String> ids = new ArrayList<>();
    for (String address : namenodes.split(",")) {
      ids.add("nn" + (ids.size() + 1));
      conf.set(
          "dfs.namenode.rpc-address.%s.%s".formatted(NAMESERVICE, ids.get(ids.size() - 1)),
          address);
    }
    conf.set("dfs.nameservices", NAMESERVICE);
    conf.set("dfs.ha.namenodes." + NAMESERVICE, String.join(",", ids));
    conf.set("dfs.client.failover.proxy.provider." + NAMESERVICE, FAILOVER);
    return NAMESERVICE;
  }

  private static Configuration common(RaidConfig config, int pollMillis, Configuration conf) {
    conf.setInt("mapreduce.client.completion.pollinterval", pollMillis);
    conf.setInt("mapreduce.client.progressmonitor.pollinterval", pollMillis);
    conf.setBoolean(MRJobConfig.MAP_SPECULATIVE, false);
    JobSettings.write(config, conf);
    return conf;
  }

  /** Where jobs put their files: the directory below which each raid-node has a directory. */
  static Path staging(Configuration conf) {
    return new Path(conf.get(MRJobConfig.MR_AM_STAGING_DIR));
  }

  /** Lets a job on YARN put all its files into a directory of its own. */
  static void stageIn(Path directory, Configuration job) {
    job.set(MRJobConfig.MR_AM_STAGING_DIR, directory.toString());
    if (job.get(JHAdminConfig.MR_HISTORY_ADDRESS).isEmpty()) {
      job.set(
          JHAdminConfig.MR_HISTORY_INTERMEDIATE_DONE_DIR,
          new Path(directory, "history").toString());
    }
  }
}
