package io.ebbfs.common.failpoint;

/**
 * The named places at which a test can make a process die, stall or fail; see docs/faults.md. The
 * chunk server, which is C++, repeats its fail points in {@code common/fail_point.h}.
 */
public enum FailPoint {
  NAMENODE_PROPOSE_BEFORE("namenode-propose-before", "a proposal has arrived"),
  NAMENODE_PROPOSE_ANSWER(
      "namenode-propose-answer", "the transitions of a proposal are stored; no answer was sent"),
  NAMENODE_PLANNED("namenode-planned", "a new transition, of any kind, was stored"),
  NAMENODE_CLAIM_BEFORE_RESERVE(
      "namenode-claim-before-reserve", "an attempt is planned and not stored"),
  NAMENODE_CLAIM_AFTER_RESERVE(
      "namenode-claim-after-reserve",
      "the attempt and its reserved outputs are stored; no answer was sent"),
  NAMENODE_COMMIT_BEFORE("namenode-commit-before", "before the transaction of a commit"),
  NAMENODE_COMMIT_AFTER(
      "namenode-commit-after",
      "after the transaction of a commit; the replaced blocks are not released"),
  NAMENODE_COMMIT_ANSWER(
      "namenode-commit-answer", "the deletions of a commit are ordered; no answer was sent"),

  RAID_AFTER_CLAIM("raid-after-claim", "a batch is claimed; its job does not exist yet"),
  RAID_BEFORE_COMBINE("raid-before-combine", "before each combine"),
  RAID_AFTER_COMBINE("raid-after-combine", "after each combine"),
  RAID_BEFORE_CHECKS("raid-before-checks", "all combines are done; no check has run"),
  RAID_BEFORE_COMMIT("raid-before-commit", "all checks have passed; the commit was not sent"),
  RAID_AFTER_COMMIT("raid-after-commit", "the namenode has answered the commit"),

  CHUNK_SOURCE_HALF(
      "chunk-source-half", "a server has sent at least half of a block, but not its end"),
  CHUNK_COMBINE_CREATE(
      "chunk-combine-create", "a combine is about to create an output on this server or on a peer"),
  CHUNK_COMBINE_HALF("chunk-combine-half", "half of the bytes of a combine are written"),
  CHUNK_COMBINE_FINALIZE("chunk-combine-finalize", "a combine is about to finish an output"),
  CHUNK_COMBINE_ANSWER(
      "chunk-combine-answer", "all outputs of a combine are finished; no answer was sent"),
  CHUNK_TARGET_CREATE("chunk-target-create", "a server is asked to receive a block"),
  CHUNK_TARGET_HALF("chunk-target-half", "half of the bytes of a block are received"),
  CHUNK_TARGET_FINALIZE("chunk-target-finalize", "a received block is about to be finalized"),
  CHUNK_TARGET_ANSWER("chunk-target-answer", "a received block is finalized; no answer was sent");

  private final String pointName;
  private final String meaning;

  FailPoint(String pointName, String meaning) {
    this.pointName = pointName;
    this.meaning = meaning;
  }

  /** The name under which the point is armed. It begins with the kind of process. */
  public String pointName() {
    return pointName;
  }

  /** The moment in the life of a transition at which a process passes the point. */
  public String meaning() {
    return meaning;
  }

  /**
   * Passes the point. Nothing happens unless this process was started with a directory of fail
   * points, and the point is armed there for this process.
   *
   * @throws java.io.UncheckedIOException if the point is armed as an error
   */
  public void reach() {
    FailPoints.OF_THIS_PROCESS.reach(pointName);
  }

  /** The point with this name, or null. */
  public static FailPoint byName(String name) {
    for (FailPoint point : values()) {
      if (point.pointName.equals(name)) {
        return point;
      }
    }
    return null;
  }
}
