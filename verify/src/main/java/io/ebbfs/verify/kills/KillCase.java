package io.ebbfs.verify.kills;

import io.ebbfs.common.failpoint.FailPoint;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;

/**
 * One cell of the kill matrix.
 *
 * @param kind of the transition that runs
 * @param point where a process dies
 * @param also a second process that dies at the same moment; empty for none
 */
record KillCase(TransitionKindProto kind, FailPoint point, String also) {
  static final String NAMENODE = "namenode";
  static final String CONTROL = "control";

  /** Kinds that the matrix proposes. The namenode proposes all other kinds itself. */
  static final Set<TransitionKindProto> PROPOSED =
      EnumSet.of(
          TransitionKindProto.ENCODE,
          TransitionKindProto.UPCODE,
          TransitionKindProto.DOWNCODE,
          TransitionKindProto.SUBTRACT,
          TransitionKindProto.RELEASE);

  private static final Set<FailPoint> PROPOSAL_POINTS =
      EnumSet.of(FailPoint.NAMENODE_PROPOSE_BEFORE, FailPoint.NAMENODE_PROPOSE_ANSWER);

  /** The second process to die, by the point: both are in the middle of one call. */
  private static final Map<FailPoint, String> SECOND_DEATHS =
      new TreeMap<>(
          Map.of(
              FailPoint.NAMENODE_CLAIM_AFTER_RESERVE, CONTROL,
              FailPoint.NAMENODE_COMMIT_AFTER, CONTROL,
              FailPoint.CHUNK_COMBINE_HALF, NAMENODE,
              FailPoint.CHUNK_TARGET_FINALIZE, NAMENODE));

  /** Kinds whose scenario has one transition, of one stripe. */
  private static final Set<TransitionKindProto> ONE_TRANSITION =
      EnumSet.of(
          TransitionKindProto.MOVE, TransitionKindProto.SUBTRACT, TransitionKindProto.RELEASE);

  private static final Set<TransitionKindProto> KINDS_WITH_SECOND_DEATH =
      EnumSet.of(
          TransitionKindProto.ENCODE,
          TransitionKindProto.UPCODE,
          TransitionKindProto.DOWNCODE,
          TransitionKindProto.REPAIR);

  /** Every kind at every point that it passes, and the cases of two deaths. */
  static List<KillCase> all() {
    List<KillCase> all = new ArrayList<>();
    for (TransitionKindProto kind : TransitionScenario.KINDS) {
      for (FailPoint point : FailPoint.values()) {
        if (PROPOSED.contains(kind) || !PROPOSAL_POINTS.contains(point)) {
          all.add(new KillCase(kind, point, ""));
        }
      }
      if (KINDS_WITH_SECOND_DEATH.contains(kind)) {
        SECOND_DEATHS.forEach((point, also) -> all.add(new KillCase(kind, point, also)));
      }
    }
    return all;
  }

  /**
   * Five random cases: a chunk server dies, the namenode, a raid-node, and two of them at once; and
   * one MOVE.
   */
  static List<KillCase> quick(long seed) {
    Map<String, List<KillCase>> byGroup = new LinkedHashMap<>();
    for (KillCase cell : all()) {
      byGroup.computeIfAbsent(cell.quickGroup(), r -> new ArrayList<>()).add(cell);
    }
    List<KillCase> some = new ArrayList<>();
    Random random = new Random(seed);
    byGroup.values().forEach(cells -> some.add(cells.get(random.nextInt(cells.size()))));
    return some;
  }

  /** The quick matrix has one case of each value. */
  private String quickGroup() {
    if (isOfTwo()) {
      return "two";
    }
    if (kind == TransitionKindProto.MOVE) {
      return kind.name();
    }
    return point.pointName().startsWith("chunk-") ? "chunk server" : role();
  }

  /** Whether the point has one passing only, as the claim and the commit of one stripe have. */
  boolean isPassedOnce() {
    return ONE_TRANSITION.contains(kind)
        && !point.pointName().startsWith("chunk-")
        && point != FailPoint.RAID_BEFORE_COMBINE
        && point != FailPoint.RAID_AFTER_COMBINE;
  }

  /** Whether two processes die. */
  boolean isOfTwo() {
    return !also.isEmpty();
  }

  /** The roles, in the transition, of the processes that die. */
  String role() {
    String first = roleAtPoint();
    return switch (also) {
      case NAMENODE -> first + " and namenode";
      case CONTROL -> first + " and raid-node";
      default -> first;
    };
  }

  private String roleAtPoint() {
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
    String also =
        switch (this.also) {
          case NAMENODE -> " + namenode";
          case CONTROL -> " + raid-node";
          default -> "";
        };
    return kind + " " + point.pointName() + also;
  }
}
