package io.ebbfs.raid.mapreduce;

import io.ebbfs.protocol.rpc.NamenodeAddresses;
import io.ebbfs.raid.config.RaidConfig;
import io.ebbfs.raid.executor.ExecutorResources;
import io.ebbfs.raid.executor.TransitionOutcome;
import io.ebbfs.raid.executor.TransitionWorker;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.Mapper;

/**
 * An executor: a map without records that claims and runs transitions for as long as its job lives.
 * It adds their outcomes to the counters of the job.
 */
public final class ExecutorMapper
    extends Mapper<NullWritable, NullWritable, NullWritable, NullWritable> {
  /** For Hadoop. */
  public ExecutorMapper() {}

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    Configuration conf = context.getConfiguration();
    RaidConfig config = JobSettings.read(conf);
    ExecutorResources shared = JobRunner.resourcesOf(conf);
    if (shared != null) {
      work(context, config, shared);
      return;
    }
    try (ExecutorResources own =
        ExecutorResources.connect(
            config,
            NamenodeAddresses.parse(conf.get(JobSettings.NAMENODES)),
            JobRunner.keyOf(context.getCredentials()))) {
      work(context, config, own);
    }
  }

  private static void work(Context context, RaidConfig config, ExecutorResources resources)
      throws InterruptedException {
    // The name leads to the log of the map.
    String name = context.getTaskAttemptID().toString().replaceFirst("^attempt", "raid");
    new TransitionWorker(name, config, resources, listener(context)).run(life(context));
  }

  /**
   * A map that MapReduce has started again ends with the others of its job, if the clocks of the
   * machines agree.
   */
  private static long life(Context context) {
    Configuration conf = context.getConfiguration();
    long life = conf.getLong(JobSettings.LIFE, 0);
    long left = conf.getLong(JobSettings.END, 0) - System.currentTimeMillis();
    return context.getTaskAttemptID().getId() == 0 ? life : Math.max(0, Math.min(life, left));
  }

  private static TransitionWorker.Listener listener(Context context) {
    return new TransitionWorker.Listener() {
      @Override
      public synchronized void ended(TransitionOutcome outcome) {
        JobCounters.add(context, outcome);
      }

      @Override
      public synchronized void alive() {
        context.progress();
      }
    };
  }
}
