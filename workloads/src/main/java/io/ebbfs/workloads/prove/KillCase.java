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
import java.util.TreeMap;

/**
 * One cell of the kill matrix.
 *
 * @param kind of the transition that is under way
 * @param point where a process dies
 * @param also a process that dies at the same moment; empty for none
 */
record KillCase(TransitionKindProto kind, FailPoint point, String also) {
  static final String NAMENODE = "namenode";
  static final String CONTROL = "control";

  /** Kinds that are proposed from outside; the others are found by the namenode. */
  static final Set<TransitionKindProto> PROPOSED =
      EnumSet.of(
          TransitionKindProto.ENCODE, TransitionKindProto.UPCODE, TransitionKindProto.DOWNCODE);

  private static final Set<FailPoint> OF_PROPOSALS =
      EnumSet.of(FailPoint.NAMENODE_PROPOSE_BEFORE, FailPoint.NAMENODE_PROPOSE_ANSWER);

  /** Moments at which two processes die: in the middle of what they do together. */
  private static final Map<FailPoint, String> OF_TWO =
      new TreeMap<>(
          Map.of(
              FailPoint.NAMENODE_CLAIM_AFTER_RESERVE, CONTROL,
              FailPoint.NAMENODE_COMMIT_AFTER, CONTROL,
              FailPoint.CHUNK_COMBINE_HALF, NAMENODE,
              FailPoint.CHUNK_TARGET_FINALIZE, NAMENODE));

  private static final Set<TransitionKindProto> KINDS_OF_TWO =
      EnumSet.of(
          TransitionKindProto.ENCODE,
          TransitionKindProto.UPCODE,
          TransitionKindProto.DOWNCODE,
          TransitionKindProto.REPAIR);

  /** Every kind at every point that it passes, and two deaths at once for some. */
  static List<KillCase> all() {
    List<KillCase> all = new ArrayList<>();
    for (TransitionKindProto kind : Scenario.KINDS) {
      for (FailPoint point : FailPoint.values()) {
        if (PROPOSED.contains(kind) || !OF_PROPOSALS.contains(point)) {
          all.add(new KillCase(kind, point, ""));
        }
      }
      if (KINDS_OF_TWO.contains(kind)) {
        OF_TWO.forEach((point, also) -> all.add(new KillCase(kind, point, also)));
      }
    }
    return all;
  }

  /**
   * For each kind one case in which the namenode dies, one for the raid-node and one for a chunk
   * server; a MOVE; a case of two deaths. Which, the seed says.
   */
  static List<KillCase> oneOfEach(long seed) {
    Map<String, List<KillCase>> byRole = new LinkedHashMap<>();
    for (KillCase cell : all()) {
      byRole.computeIfAbsent(cell.sample(), r -> new ArrayList<>()).add(cell);
    }
    List<KillCase> some = new ArrayList<>();
    Random random = new Random(seed);
    byRole.values().forEach(cells -> some.add(cells.get(random.nextInt(cells.size()))));
    return some;
  }

  /** Of the cases with the same name here, the quick matrix has one. */
  private String sample() {
    if (isOfTwo()) {
      return "two";
    }
    if (kind == TransitionKindProto.MOVE) {
      return kind.name();
    }
    return kind + " " + (point.pointName().startsWith("chunk-") ? "chunk server" : role());
  }

  /** Whether trying a later passing is in vain: a MOVE is one, with one claim and one commit. */
  boolean isPassedOnce() {
    return kind == TransitionKindProto.MOVE
        && !point.pointName().startsWith("chunk-")
        && point != FailPoint.RAID_BEFORE_COMBINE
        && point != FailPoint.RAID_AFTER_COMBINE;
  }

  /** Whether two processes die. */
  boolean isOfTwo() {
    return !also.isEmpty();
  }

  /** What those that die are to the transition. */
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
