package io.ebbfs.raid.mapreduce;

import io.ebbfs.protocol.proto.ChunkProtos.SourceProto;
import io.ebbfs.protocol.proto.ChunkProtos.TargetProto;
import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import io.ebbfs.protocol.proto.CodingProtos.StepProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStripeProto;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Divides a batch of transitions among the maps of a job. */
final class BatchSplitter {
  // More splits than maps that run at once, so that a slow split delays few transitions.
  private static final int SPLITS_PER_MAP = 3;

  private BatchSplitter() {}

  /**
   * Splits a batch. Transitions of the same stripe stay together and in order. The bytes to move
   * are spread evenly. The transitions of the highest priority are in the first splits.
   */
  static List<List<ClaimedTransitionProto>> of(List<ClaimedTransitionProto> batch, int maps) {
    List<List<ClaimedTransitionProto>> groups = byStripe(batch);
    int count = Math.min(groups.size(), maps * SPLITS_PER_MAP);
    List<List<ClaimedTransitionProto>> splits = new ArrayList<>();
    long[] load = new long[count];
    for (int i = 0; i < count; i++) {
      splits.add(new ArrayList<>());
    }
    for (List<ClaimedTransitionProto> group : groups) {
      int least = 0;
      for (int i = 1; i < count; i++) {
        least = load[i] < load[least] ? i : least;
      }
      splits.get(least).addAll(group);
      // Even an empty transition costs a commit.
      load[least] += 1 + group.stream().mapToLong(BatchSplitter::bytes).sum();
    }
    return splits;
  }

  private static List<List<ClaimedTransitionProto>> byStripe(List<ClaimedTransitionProto> batch) {
    List<ClaimedTransitionProto> ordered = new ArrayList<>(batch);
    ordered.sort(Comparator.comparingInt(c -> c.getTransition().getPriority()));
    Map<Long, List<ClaimedTransitionProto>> byStripe = new HashMap<>();
    List<List<ClaimedTransitionProto>> groups = new ArrayList<>();
    for (ClaimedTransitionProto claimed : ordered) {
      List<ClaimedTransitionProto> group = null;
      for (TransitionStripeProto stripe : claimed.getTransition().getStripesList()) {
        group = group == null ? byStripe.get(stripe.getStripeId()) : group;
      }
      if (group == null) {
        group = new ArrayList<>();
        groups.add(group);
      }
      group.add(claimed);
      for (TransitionStripeProto stripe : claimed.getTransition().getStripesList()) {
        byStripe.put(stripe.getStripeId(), group);
      }
    }
    return groups;
  }

  /** Bytes that a transition reads and writes. */
  static long bytes(ClaimedTransitionProto claimed) {
    long bytes = 0;
    for (StepProto step : claimed.getStepsList()) {
      for (SourceProto source : step.getCombine().getSourcesList()) {
        bytes += source.getBlock().getNumBytes();
      }
      for (TargetProto target : step.getCombine().getTargetsList()) {
        bytes += target.getBlock().getNumBytes();
      }
    }
    return bytes;
  }
}
