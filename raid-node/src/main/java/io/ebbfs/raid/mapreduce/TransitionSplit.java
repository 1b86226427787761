package io.ebbfs.raid.mapreduce;

import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.io.Writable;
import org.apache.hadoop.mapreduce.InputSplit;

/** Claimed transitions that one map runs one after the other. */
public final class TransitionSplit extends InputSplit implements Writable {
  private static final int MAX_TRANSITIONS = 1 << 16;
  private static final int MAX_TRANSITION_BYTES = 64 << 20;

  private final List<ClaimedTransitionProto> transitions = new ArrayList<>();

  /** For Hadoop, which fills it by {@link #readFields}. */
  public TransitionSplit() {}

  TransitionSplit(List<ClaimedTransitionProto> transitions) {
    this.transitions.addAll(transitions);
  }

  List<ClaimedTransitionProto> transitions() {
    return transitions;
  }

  @Override
  public long getLength() {
    return transitions.stream().mapToLong(BatchSplitter::bytes).sum();
  }

  /** None is better than another: the data stays at the chunk servers. */
  @Override
  public String[] getLocations() {
    return new String[0];
  }

  @Override
  public void write(DataOutput out) throws IOException {
    out.writeInt(transitions.size());
    for (ClaimedTransitionProto transition : transitions) {
      byte[] bytes = transition.toByteArray();
      out.writeInt(bytes.length);
      out.write(bytes);
    }
  }

  @Override
  public void readFields(DataInput in) throws IOException {
    transitions.clear();
    int count = checked(in.readInt(), MAX_TRANSITIONS, "transitions");
    for (int i = 0; i < count; i++) {
      byte[] bytes = new byte[checked(in.readInt(), MAX_TRANSITION_BYTES, "bytes")];
      in.readFully(bytes);
      transitions.add(ClaimedTransitionProto.parseFrom(bytes));
    }
  }

  private static int checked(int value, int most, String what) throws IOException {
    if (value < 0 || value > most) {
      throw new IOException("split of %d %s: the file is damaged".formatted(value, what));
    }
    return value;
  }
}
