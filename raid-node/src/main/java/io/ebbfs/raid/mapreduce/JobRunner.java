package io.ebbfs.raid.mapreduce;

import io.ebbfs.protocol.rpc.ServiceKey;
import io.ebbfs.raid.config.RaidConfig;
import io.ebbfs.raid.executor.ExecutorResources;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.output.NullOutputFormat;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.security.Credentials;

/**
 * Runs executors as the maps of MapReduce jobs without reducers: in this JVM by Hadoop's local
 * runner, or on YARN. Thread-safe: several jobs run at once.
 */
public final class JobRunner implements AutoCloseable {
  private static final int JOBS_PER_METRICS_RESET = 64;

  /** The name of the service key among the secrets of a job, which Hadoop hands to its maps. */
  private static final Text KEY = new Text("ebbfs.service-key");

  /** The file with the name of the staging directory, which outlives the process. */
  private static final String STAGING_NAME = "staging-name";

  private static final String JAR = "ebbfs-raid-node.jar";

  /** The resources of the runners in this JVM. A map in another JVM makes resources of its own. */
  private static final Map<String, ExecutorResources> RESOURCES = new ConcurrentHashMap<>();

  private final String id = UUID.randomUUID().toString();
  private final Path data;
  private final ServiceKey key;
  private final Configuration base;

  /** Empty for the local runner. */
  private final Optional<JobStaging> staging;

  private int jobs;

  /**
   * A runner.
   *
   * @param data a directory of the raid-node's own; what jobs have left there is deleted
   * @param namenodes host:port, separated by commas, for maps in another JVM
   * @param key for maps in another JVM
   * @param resources for maps in this JVM
   */
  public JobRunner(
      RaidConfig config, Path data, String namenodes, ServiceKey key, ExecutorResources resources)
      throws IOException {
    this.data = data;
    this.key = key;
    deleteBelow(data);
    Files.createDirectories(data);
    if (config.framework().equals("yarn")) {
      this.base = JobConfiguration.yarn(config, namenodes);
      this.staging =
          Optional.of(
              new JobStaging(
                  new org.apache.hadoop.fs.Path(JobConfiguration.staging(base), stagingName()),
                  base));
      JobJar.write(data.resolve(JAR));
    } else {
      this.base = JobConfiguration.local(config, data);
      this.staging = Optional.empty();
    }
    base.set(JobSettings.NAMENODES, namenodes);
    base.set(JobSettings.RESOURCES, id);
    RESOURCES.put(id, resources);
  }

  /** The same name at every start, so that a raid-node finds what it has left behind. */
  private String stagingName() throws IOException {
    Path file = data.resolve(STAGING_NAME);
    try {
      return Files.readString(file).strip();
    } catch (NoSuchFileException e) {
      String name = "ebbfs-raid-" + UUID.randomUUID();
      Files.writeString(file, name + "\n");
      return name;
    }
  }

  /**
   * How a job ended.
   *
   * @param counters of its transitions, as far as they are known: on YARN the history server has
   *     them
   * @param failure the reason if it failed; else empty
   */
  public record End(String id, Map<String, Long> counters, String failure) {}

  /**
   * Runs a job of executors to its end.
   *
   * @param lifeMillis after this time the executors claim nothing more
   * @throws InterruptedException if the caller is interrupted; then the job is killed
   */
  public End run(long lifeMillis) throws IOException, InterruptedException {
    if (staging.isEmpty()) {
      return run(lifeMillis, Optional.empty());
    }
    staging.get().clean();
    org.apache.hadoop.fs.Path directory = staging.get().begin();
    try {
      return run(lifeMillis, Optional.of(directory));
    } finally {
      staging.get().end(directory);
      staging.get().clean();
    }
  }

  private End run(long lifeMillis, Optional<org.apache.hadoop.fs.Path> directory)
      throws IOException, InterruptedException {
    Job job = Job.getInstance(base, "ebbfs executors");
    directory.ifPresent(
        place -> {
          JobConfiguration.stageIn(place, job.getConfiguration());
          job.setJar(data.resolve(JAR).toString());
        });
    job.getConfiguration().setLong(JobSettings.LIFE, lifeMillis);
    job.getConfiguration().setLong(JobSettings.END, System.currentTimeMillis() + lifeMillis);
    if (key.isPresent()) {
      job.getCredentials().addSecretKey(KEY, key.secret().getBytes(StandardCharsets.US_ASCII));
    }
    job.setInputFormatClass(ExecutorInputFormat.class);
    job.setMapperClass(ExecutorMapper.class);
    job.setNumReduceTasks(0);
    job.setOutputFormatClass(NullOutputFormat.class);
    job.setMapOutputKeyClass(NullWritable.class);
    job.setMapOutputValueClass(NullWritable.class);
    try {
      job.submit();
      // Hadoop's own wait does not end when its thread is interrupted.
      while (!job.isComplete()) {
        Thread.sleep(Job.getCompletionPollInterval(base));
      }
      String failure = job.isSuccessful() ? "" : String.valueOf(job.getStatus().getFailureInfo());
      return new End(job.getJobID().toString(), JobCounters.read(job.getCounters()), failure);
    } catch (InterruptedException e) {
      job.killJob();
      throw e;
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    } finally {
      forgetMetrics();
    }
  }

  /** The resources that a job shares with the JVM that submitted it; null in another JVM. */
  static ExecutorResources resourcesOf(Configuration job) {
    return RESOURCES.get(job.get(JobSettings.RESOURCES, ""));
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

  private static void deleteBelow(Path directory) throws IOException {
    if (!Files.exists(directory)) {
      return;
    }
    Path kept = directory.resolve(STAGING_NAME);
    try (Stream<Path> all = Files.walk(directory)) {
      List<Path> deepestFirst = all.sorted(Comparator.reverseOrder()).toList();
      for (Path file : deepestFirst) {
        if (!file.equals(directory) && !file.equals(kept)) {
          Files.delete(file);
        }
      }
    }
  }

  /** Jobs that still run in this JVM find no resources any more. */
  @Override
  public void close() {
    RESOURCES.remove(id);
  }
}
