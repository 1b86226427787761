package io.ebbfs.raid.mapreduce;

import io.ebbfs.protocol.rpc.ServiceKey;
import io.ebbfs.raid.config.RaidConfig;
import io.ebbfs.raid.executor.TransitionExecutor;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.LongPredicate;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.output.NullOutputFormat;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.security.Credentials;

/** Turns a batch into a MapReduce job without reducers and runs it to its end. */
public final class JobRunner {
  private static final int POLL_MILLIS = 20;
  private static final int JOBS_PER_METRICS_RESET = 64;

  /** The name of the service key among the secrets of a job, which Hadoop hands to its maps. */
  private static final Text KEY = new Text("ebbfs.service-key");

  private final Configuration base;
  private final ServiceKey key;
  private int jobs;

  /**
   * A runner.
   *
   * @param data a directory for staging, which is emptied now
   * @param namenode host:port, for maps in another JVM
   * @param key for maps in another JVM
   */
  public JobRunner(RaidConfig config, Path data, String namenode, ServiceKey key)
      throws IOException {
    this.key = key;
    this.base = new Configuration();
    deleteTree(data);
    Files.createDirectories(data);
    base.set("mapreduce.framework.name", "local");
    base.set("fs.defaultFS", "file:///");
    base.set("hadoop.tmp.dir", data.resolve("tmp").toString());
    base.set("mapreduce.cluster.local.dir", data.resolve("local").toString());
    base.set("mapreduce.jobtracker.staging.root.dir", data.resolve("staging").toString());
    base.set("mapreduce.jobtracker.system.dir", data.resolve("system").toString());
    base.setClass("fs.file.impl", StagingFileSystem.class, org.apache.hadoop.fs.FileSystem.class);
    if (config.framework().equals("yarn")) {
      useYarn(config.hadoopConf().orElseThrow());
    }
    base.setInt("mapreduce.client.completion.pollinterval", POLL_MILLIS);
    base.setInt("mapreduce.client.progressmonitor.pollinterval", POLL_MILLIS);
    base.setInt("mapreduce.local.map.tasks.maximum", config.mapTasks());
    base.setBoolean("mapreduce.map.speculative", false);
    // The namenode plans a failed transition again; the map must not repeat it.
    base.setInt("mapreduce.map.maxattempts", 1);
    base.set(RunningJob.NAMENODE, namenode);
    base.setInt(RunningJob.MAPS, config.mapTasks());
    base.setLong(RunningJob.COMBINE_TIMEOUT, config.combineTimeoutMillis());
    base.setLong(
        RunningJob.BYTES_PER_SECOND,
        config.bytesPerSecond() / Math.max(1, RaidConfig.JOBS_AT_ONCE * config.mapTasks()));
  }

  private void useYarn(Path hadoopConf) {
    for (String file :
        List.of("core-site.xml", "hdfs-site.xml", "yarn-site.xml", "mapred-site.xml")) {
      Path path = hadoopConf.resolve(file);
      if (Files.exists(path)) {
        base.addResource(new org.apache.hadoop.fs.Path(path.toUri()));
      }
    }
    base.set("mapreduce.framework.name", "yarn");
    base.unset("fs.file.impl");
  }

  /** How a job ended. */
  public record End(String id, boolean succeeded, Map<String, Long> counters, String failure) {}

  /** Runs a batch to its end, whether it succeeds or fails. */
  public End run(ClaimedBatch batch, TransitionExecutor executor, LongPredicate lost)
      throws IOException, InterruptedException {
    try (RunningJob running = new RunningJob(batch, executor, lost)) {
      Job job = Job.getInstance(base, "ebbfs " + batch.kinds());
      job.getConfiguration().set(RunningJob.ID, running.id());
      job.getConfiguration().set(RunningJob.WORKER, executor.worker());
      if (key.isPresent()) {
        job.getCredentials().addSecretKey(KEY, key.secret().getBytes(StandardCharsets.US_ASCII));
      }
      job.setJarByClass(JobRunner.class);
      job.setInputFormatClass(TransitionInputFormat.class);
      job.setMapperClass(TransitionMapper.class);
      job.setNumReduceTasks(0);
      job.setOutputFormatClass(NullOutputFormat.class);
      job.setMapOutputKeyClass(NullWritable.class);
      job.setMapOutputValueClass(NullWritable.class);
      job.submit();
      try {
        boolean succeeded = job.waitForCompletion(false);
        String failure = succeeded ? "" : String.valueOf(job.getStatus().getFailureInfo());
        return new End(
            job.getJobID().toString(), succeeded, JobCounters.read(job.getCounters()), failure);
      } catch (InterruptedException e) {
        job.killJob();
        throw e;
      }
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    } finally {
      forgetMetrics();
    }
  }

  /** The service key that a job brought along. */
  static ServiceKey keyOf(Credentials credentials) {
    byte[] secret = credentials.getSecretKey(KEY);
    return secret == null
        ? ServiceKey.NONE
        : ServiceKey.of(new String(secret, StandardCharsets.US_ASCII), "of the raid-node's job");
  }

  /** Each local job registers a source of metrics and never removes it: this drops them all. */
  private synchronized void forgetMetrics() {
    if (++jobs % JOBS_PER_METRICS_RESET == 0) {
      DefaultMetricsSystem.shutdown();
    }
  }

  private static void deleteTree(Path directory) throws IOException {
    if (!Files.exists(directory)) {
      return;
    }
    try (var files = Files.walk(directory)) {
      for (Path file : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
