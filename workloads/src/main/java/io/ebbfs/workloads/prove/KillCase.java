package io.ebbfs.workloads.prove;

import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.settings.FailPoint;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * One cell of the kill matrix.
 *
 * @param kind of the transition that is under way
 * @param point where a process dies
 */
record KillCase(TransitionKindProto kind, FailPoint point) {
  /** Kinds that are proposed from outside; the others are found by the namenode. */
  static final Set<TransitionKindProto> PROPOSED =
      EnumSet.of(
          TransitionKindProto.ENCODE, TransitionKindProto.UPCODE, TransitionKindProto.DOWNCODE);

  private static final Set<FailPoint> OF_PROPOSALS =
      EnumSet.of(FailPoint.NAMENODE_PROPOSE_BEFORE, FailPoint.NAMENODE_PROPOSE_ANSWER);

  /** Every kind at every point that it passes. */
  static List<KillCase> all() {
    List<KillCase> all = new ArrayList<>();
    for (TransitionKindProto kind : Scenario.KINDS) {
      for (FailPoint point : FailPoint.values()) {
        if (PROPOSED.contains(kind) || !OF_PROPOSALS.contains(point)) {
          all.add(new KillCase(kind, point));
        }
      }
    }
    return all;
  }

  /** For each kind and each role one case; which, the seed says. */
  static List<KillCase> oneOfEach(long seed) {
    Map<String, List<KillCase>> byRole = new LinkedHashMap<>();
    for (KillCase cell : all()) {
      byRole.computeIfAbsent(cell.kind + " " + cell.role(), r -> new ArrayList<>()).add(cell);
    }
    List<KillCase> some = new ArrayList<>();
    Random random = new Random(seed);
    byRole.values().forEach(cells -> some.add(cells.get(random.nextInt(cells.size()))));
    return some;
  }

  /** What the process is to the transition. */
  String role() {
    String name = point.pointName();
    if (name.startsWith("namenode-")) {
      return "namenode";
    }
    if (name.startsWith("raid-")) {
      return "raid-node";
    }
    return name.startsWith("chunk-source-") ? "source" : "target";
  }

  @Override
  public String toString() {
    return kind + " " + point.pointName();
  }
}
