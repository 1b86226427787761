package io.ebbfs.raid.mapreduce;

import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import io.ebbfs.protocol.rpc.NamenodeClient;
import io.ebbfs.protocol.rpc.RpcSettings;
import io.ebbfs.protocol.rpc.ServiceKey;
import io.ebbfs.raid.channel.RpcChunkChannel;
import io.ebbfs.raid.executor.CombineLimiter;
import io.ebbfs.raid.executor.ParallelCalls;
import io.ebbfs.raid.executor.Throttle;
import io.ebbfs.raid.executor.TransitionExecutor;
import io.ebbfs.raid.executor.TransitionOutcome;
import java.io.IOException;
import java.util.function.LongPredicate;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.net.NetUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs transitions and adds their outcomes to the job's counters. */
public final class TransitionMapper
    extends Mapper<LongWritable, BytesWritable, NullWritable, NullWritable> {
  private static final Logger LOG = LoggerFactory.getLogger(TransitionMapper.class);
  private static final int CONNECT_TIMEOUT_MILLIS = 10_000;

  private TransitionExecutor executor;
  private LongPredicate lost;
  private AutoCloseable connections = () -> {};

  /** For Hadoop. */
  public TransitionMapper() {}

  @Override
  protected void setup(Context context) throws IOException {
    RunningJob job = RunningJob.find(context.getConfiguration());
    if (job == null) {
      connect(context.getConfiguration(), JobRunner.keyOf(context.getCredentials()));
    } else {
      executor = job.executor();
      lost = job.lost();
    }
  }

  /** Connects in a JVM of its own. The submitter renews the claims; the commit checks them. */
  private void connect(Configuration conf, ServiceKey key) throws IOException {
    long timeout = conf.getLong(RunningJob.COMBINE_TIMEOUT, 0);
    NamenodeClient namenode =
        new NamenodeClient(
            NetUtils.createSocketAddr(conf.get(RunningJob.NAMENODE)),
            RpcSettings.tryOnce(timeout).withConnectTimeout(CONNECT_TIMEOUT_MILLIS),
            key);
    ParallelCalls threads = ParallelCalls.inThreads("raid-ask");
    RpcChunkChannel chunks = new RpcChunkChannel(timeout, key);
    long bytesPerSecond = conf.getLong(RunningJob.BYTES_PER_SECOND, 0);
    executor =
        new TransitionExecutor(
            conf.get(RunningJob.WORKER),
            namenode.coding(),
            chunks,
            new Throttle(bytesPerSecond, System::nanoTime, Thread::sleep),
            new CombineLimiter(1, 1),
            threads,
            Thread::sleep);
    lost = id -> false;
    connections =
        () -> {
          threads.close();
          chunks.close();
          namenode.close();
        };
  }

  @Override
  protected void map(LongWritable id, BytesWritable bytes, Context context)
      throws IOException, InterruptedException {
    ClaimedTransitionProto claimed = ClaimedTransitionProto.parseFrom(bytes.copyBytes());
    TransitionOutcome outcome;
    try {
      outcome = executor.run(claimed, lost);
    } catch (RuntimeException e) {
      // The other transitions of the split run on. The claim of this one expires.
      LOG.error("transition {}", id, e);
      return;
    }
    if (outcome.result() != TransitionOutcome.Result.COMMITTED) {
      LOG.warn(
          "transition {} {} {}: {}",
          outcome.transitionId(),
          outcome.kind(),
          outcome.result(),
          outcome.detail());
    }
    JobCounters.add(context, outcome);
    context.progress();
  }

  @Override
  protected void cleanup(Context context) throws IOException {
    try {
      connections.close();
    } catch (IOException e) {
      throw e;
    } catch (Exception e) {
      throw new IOException(e);
    }
  }
}
