package io.ebbfs.raid.mapreduce;

import java.io.DataInput;
import java.io.DataOutput;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapreduce.InputFormat;
import org.apache.hadoop.mapreduce.InputSplit;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.RecordReader;
import org.apache.hadoop.mapreduce.TaskAttemptContext;

/** Gives a job as many maps as it has executors. They claim their work themselves. */
public final class ExecutorInputFormat extends InputFormat<NullWritable, NullWritable> {
  /** For Hadoop. */
  public ExecutorInputFormat() {}

  @Override
  public List<InputSplit> getSplits(JobContext context) {
    List<InputSplit> splits = new ArrayList<>();
    for (int i = 0; i < context.getConfiguration().getInt(JobSettings.EXECUTORS, 1); i++) {
      splits.add(new Empty());
    }
    return splits;
  }

  @Override
  public RecordReader<NullWritable, NullWritable> createRecordReader(
      InputSplit split, TaskAttemptContext context) {
    return new NoRecords();
  }

  /** The input of one executor. */
  public static final class Empty extends InputSplit implements Writable {
    /** For Hadoop. */
    public Empty() {}

    @Override
    public long getLength() {
      return 0;
    }

    /** None is better than another: the data stays at the chunk servers. */
    @Override
    public String[] getLocations() {
      return new String[0];
    }

    @Override
    public void write(DataOutput out) {}

    @Override
    public void readFields(DataInput in) {}
  }

  private static final class NoRecords extends RecordReader<NullWritable, NullWritable> {
    @Override
    public void initialize(InputSplit split, TaskAttemptContext context) {}

    @Override
    public boolean nextKeyValue() {
      return false;
    }

    @Override
    public NullWritable getCurrentKey() {
      return NullWritable.get();
    }

    @Override
    public NullWritable getCurrentValue() {
      return NullWritable.get();
    }

    @Override
    public float getProgress() {
      return 0;
    }

    @Override
    public void close() {}
  }
}
