package io.ebbfs.raid.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.raid.config.RaidConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class JobConfigurationTest {
  private static final String NAMENODE = "namenode:8020";

  @TempDir Path hadoopConf;

  private Configuration yarn(Optional<String> staging) {
    return yarn(staging, NAMENODE);
  }

  private Configuration yarn(Optional<String> staging, String namenodes) {
    RaidConfig d = RaidConfig.DEFAULTS;
    return JobConfiguration.yarn(
        new RaidConfig(
            d.batch(),
            d.mapTasks(),
            d.leaseMillis(),
            d.pollMillis(),
            d.combines(),
            d.combinesPerServer(),
            d.combineTimeoutMillis(),
            100,
            5,
            d.executorLifeMillis(),
            "yarn",
            Optional.of(hadoopConf),
            staging,
            d.scrub()),
        namenodes);
  }

  private void write(String file, Map<String, String> properties) throws IOException {
    StringBuilder text = new StringBuilder("<configuration>");
    properties.forEach(
        (name, value) ->
            text.append(
                "<property><name>%s</name><value>%s</value></property>".formatted(name, value)));
    Files.writeString(hadoopConf.resolve(file), text.append("</configuration>"));
  }

  @Test
  void theFileSystemOfJobsIsTheOneOfHadoopsConfiguration() throws Exception {
    write("core-site.xml", Map.of("fs.defaultFS", "hdfs://site:8020"));
    write("mapred-site.xml", Map.of("yarn.app.mapreduce.am.staging-dir", "/user"));
    Configuration conf = yarn(Optional.empty());
    assertThat(conf.get("fs.defaultFS")).isEqualTo("hdfs://site:8020/");
    assertThat(JobConfiguration.staging(conf)).hasToString("hdfs://site:8020/user");
    assertThat(conf.get("mapreduce.framework.name")).isEqualTo("yarn");
    // Nothing of the local runner is left.
    assertThat(conf.get("fs.file.impl")).isNull();
  }

  @Test
  void theFileSystemOfJobsIsEbbfsIfTheConfigurationNamesNone() {
    Configuration conf = yarn(Optional.empty());
    assertThat(conf.get("fs.defaultFS")).isEqualTo("hdfs://namenode:8020/");
    assertThat(JobConfiguration.staging(conf).toUri().getAuthority()).isEqualTo(NAMENODE);
  }

  @Test
  void jobsFindTheOneOfSeveralNamenodesThatServes() {
    Configuration conf = yarn(Optional.empty(), "one:8020,two:8021");
    assertThat(conf.get("fs.defaultFS")).isEqualTo("hdfs://ebbfs-namenodes/");
    assertThat(conf.get("dfs.nameservices")).isEqualTo("ebbfs-namenodes");
    assertThat(conf.get("dfs.ha.namenodes.ebbfs-namenodes")).isEqualTo("nn1,nn2");
    assertThat(conf.get("dfs.namenode.rpc-address.ebbfs-namenodes.nn2")).isEqualTo("two:8021");
  }

  @Test
  void theStagingDirectoryGoesOverAllFiles() throws Exception {
    write("core-site.xml", Map.of("fs.defaultFS", "hdfs://site:8020"));
    Configuration elsewhere = yarn(Optional.of("hdfs://other:9000/jobs"));
    assertThat(elsewhere.get("fs.defaultFS")).isEqualTo("hdfs://other:9000/");
    assertThat(JobConfiguration.staging(elsewhere)).hasToString("hdfs://other:9000/jobs");
    Configuration here = yarn(Optional.of("/jobs"));
    assertThat(JobConfiguration.staging(here)).hasToString("hdfs://site:8020/jobs");
  }

  /** Without a history server nobody would ever remove the histories of jobs. */
  @Test
  void historiesGoToTheHistoryServerIfThereIsOne() throws Exception {
    org.apache.hadoop.fs.Path job = new org.apache.hadoop.fs.Path("hdfs://n/staging/job");
    Configuration without = yarn(Optional.empty());
    JobConfiguration.stageIn(job, without);
    assertThat(without.get("mapreduce.jobhistory.intermediate-done-dir"))
        .isEqualTo("hdfs://n/staging/job/history");
    write("mapred-site.xml", Map.of("mapreduce.jobhistory.address", "history:10020"));
    Configuration with = yarn(Optional.of("hdfs://n/staging"));
    JobConfiguration.stageIn(job, with);
    assertThat(with.get("mapreduce.jobhistory.intermediate-done-dir"))
        .isEqualTo("/tmp/hadoop-yarn/staging/history/done_intermediate");
    assertThat(with.get("yarn.app.mapreduce.am.staging-dir")).isEqualTo("hdfs://n/staging/job");
  }

  @Test
  void executorsShareTheBytesOfASecond() {
    RaidConfig read = JobSettings.read(yarn(Optional.empty()));
    assertThat(read.bytesPerSecond()).isEqualTo(100 / (RaidConfig.JOBS_AT_ONCE * 5));
    assertThat(read.executors()).isEqualTo(5);
    assertThat(read.mapTasks()).isEqualTo(RaidConfig.DEFAULTS.mapTasks());
    assertThat(read.leaseMillis()).isEqualTo(RaidConfig.DEFAULTS.leaseMillis());
    assertThat(read.combineTimeoutMillis()).isEqualTo(RaidConfig.DEFAULTS.combineTimeoutMillis());
  }
}
