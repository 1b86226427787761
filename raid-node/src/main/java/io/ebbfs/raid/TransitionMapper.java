package io.ebbfs.raid;

import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.function.LongPredicate;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.net.NetUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs transitions; what comes of them goes to the namenode and into the job's counters. */
public final class TransitionMapper
    extends Mapper<LongWritable, BytesWritable, NullWritable, NullWritable> {
  private static final Logger LOG = LoggerFactory.getLogger(TransitionMapper.class);

  private TransitionExecutor executor;
  private LongPredicate lost;
  private AutoCloseable connections = () -> {};

  /** For Hadoop. */
  public TransitionMapper() {}

  @Override
  protected void setup(Context context) throws IOException {
    RunningJob job = RunningJob.find(context.getConfiguration());
    if (job == null) {
      connect(context.getConfiguration());
    } else {
      executor = job.executor();
      lost = job.lost();
    }
  }

  /** In a JVM of its own: the claims are renewed by the submitter, and checked at the commit. */
  private void connect(Configuration conf) throws IOException {
    long timeout = conf.getLong(RunningJob.COMBINE_TIMEOUT, 0);
    InetSocketAddress namenode = NetUtils.createSocketAddr(conf.get(RunningJob.NAMENODE));
    var coding = Rpc.coding(namenode, timeout);
    AtOnce threads = AtOnce.inThreads("raid-ask");
    RpcChunkChannel chunks = new RpcChunkChannel(timeout);
    long bytesPerSecond = conf.getLong(RunningJob.BYTES_PER_SECOND, 0);
    executor =
        new TransitionExecutor(
            conf.get(RunningJob.WORKER),
            coding,
            chunks,
            new Throttle(bytesPerSecond, System::nanoTime, Thread::sleep),
            new CombineLimits(1, 1),
            threads,
            Thread::sleep);
    lost = id -> false;
    connections =
        () -> {
          threads.close();
          chunks.close();
          RPC.stopProxy(coding);
        };
  }

  @Override
  protected void map(LongWritable id, BytesWritable bytes, Context context)
      throws IOException, InterruptedException {
    ClaimedTransitionProto claimed = ClaimedTransitionProto.parseFrom(bytes.copyBytes());
    Outcome outcome;
    try {
      outcome = executor.run(claimed, lost);
    } catch (RuntimeException e) {
      // One transition must not take the others of its split along; its claim expires.
      LOG.error("transition {}", id, e);
      return;
    }
    if (outcome.result() != Outcome.Result.COMMITTED) {
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
