package io.ebbfs.raid.mapreduce;

import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.mapreduce.InputFormat;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;

/**
 * Gives the batch of a job to its maps. A record is one transition: its id and the bytes of its
 * proto. In the JVM that submitted the job, a split that was read to its end claims further
 * transitions. So no map idles while a slow one runs and new transitions wait.
 */
public final class TransitionInputFormat extends InputFormat<LongWritable, BytesWritable> {
  /** For Hadoop. */
  public TransitionInputFormat() {}

  @Override
  public List<InputSplit> getSplits(JobContext context) {
    RunningJob job = RunningJob.required(context.getConfiguration());
    int maps = context.getConfiguration().getInt(RunningJob.MAPS, 1);
    List<InputSplit> splits = new ArrayList<>();
    job.split(maps).forEach(part -> splits.add(new TransitionSplit(part)));
    return splits;
  }

  @Override
  public RecordReader<LongWritable, BytesWritable> createRecordReader(
      InputSplit split, TaskAttemptContext context) {
    return new Reader();
  }

  private static final class Reader extends RecordReader<LongWritable, BytesWritable> {
    private final List<ClaimedTransitionProto> transitions = new ArrayList<>();
    private RunningJob job;
    private int next;

    @Override
    public void initialize(InputSplit split, TaskAttemptContext context) {
      transitions.addAll(((TransitionSplit) split).transitions());
      job = RunningJob.find(context.getConfiguration());
      if (job != null) {
        job.begun();
      }
    }

    @Override
    public boolean nextKeyValue() {
      if (next == transitions.size() && job != null) {
        job.more().ifPresent(transitions::add);
      }
      return next++ < transitions.size();
    }

    @Override
    public LongWritable getCurrentKey() {
      return new LongWritable(transitions.get(next - 1).getTransition().getId());
    }

    @Override
    public BytesWritable getCurrentValue() {
      return new BytesWritable(transitions.get(next - 1).toByteArray());
    }

    @Override
    public float getProgress() {
      return transitions.isEmpty() ? 1 : Math.min(1, (float) next / transitions.size());
    }

    @Override
    public void close() {}
  }
}
