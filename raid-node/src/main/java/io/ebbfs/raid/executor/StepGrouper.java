package io.ebbfs.raid.executor;

import io.ebbfs.protocol.proto.ChunkProtos.TargetProto;
import io.ebbfs.protocol.proto.CodingProtos.StepProto;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Groups the steps of a transition that may run in parallel. */
final class StepGrouper {
  private StepGrouper() {}

  /**
   * The steps in their order, in groups of limited size. No step reads a block that a step of its
   * own group writes.
   */
  static List<List<StepProto>> of(List<StepProto> steps, int most) {
    List<List<StepProto>> groups = new ArrayList<>();
    List<StepProto> group = new ArrayList<>();
    Set<Long> written = new HashSet<>();
    for (StepProto step : steps) {
      if (group.size() == most || readsAnyOf(written, step)) {
        groups.add(group);
        group = new ArrayList<>();
        written.clear();
      }
      group.add(step);
      for (TargetProto target : step.getCombine().getTargetsList()) {
        written.add(target.getBlock().getBlockId());
      }
    }
    if (!group.isEmpty()) {
      groups.add(group);
    }
    return groups;
  }

  private static boolean readsAnyOf(Set<Long> blocks, StepProto step) {
    return step.getCombine().getSourcesList().stream()
        .anyMatch(source -> blocks.contains(source.getBlock().getBlockId()));
  }
}
