package io.ebbfs.settings;

/**
 * The named places at which a test may make a process die, stall or fail, in every language; see
 * docs/faults.md. Those of the chunk server are in {@code common/fail_point.h} too.
 */
public enum FailPoint {
  NAMENODE_PROPOSE_BEFORE("namenode-propose-before", "a proposal has arrived"),
  NAMENODE_PROPOSE_ANSWER("namenode-propose-answer", "its transitions are stored, not answered"),
  NAMENODE_PLANNED("namenode-planned", "a new transition, of any kind, was stored"),
  NAMENODE_CLAIM_BEFORE_RESERVE("namenode-claim-before-reserve", "an attempt is planned"),
  NAMENODE_CLAIM_AFTER_RESERVE("namenode-claim-after-reserve", "it is stored, not answered"),
  NAMENODE_COMMIT_BEFORE("namenode-commit-before", "before the transaction of a commit"),
  NAMENODE_COMMIT_AFTER("namenode-commit-after", "after it; nothing was released yet"),
  NAMENODE_COMMIT_ANSWER("namenode-commit-answer", "deletions are ordered, nothing is answered"),

  RAID_AFTER_CLAIM("raid-after-claim", "a batch is claimed, no job is made"),
  RAID_BEFORE_COMBINE("raid-before-combine", "before each combine"),
  RAID_AFTER_COMBINE("raid-after-combine", "after each combine"),
  RAID_BEFORE_CHECKS("raid-before-checks", "all combines are done, nothing is checked"),
  RAID_BEFORE_COMMIT("raid-before-commit", "all is checked, nothing committed"),
  RAID_AFTER_COMMIT("raid-after-commit", "the commit was answered"),

  CHUNK_SOURCE_HALF("chunk-source-half", "a server has sent half of a block, or is about to"),
  CHUNK_COMBINE_CREATE("chunk-combine-create", "a combine is about to create its outputs"),
  CHUNK_COMBINE_HALF("chunk-combine-half", "half of the bytes of a combine are written"),
  CHUNK_COMBINE_FINALIZE("chunk-combine-finalize", "a combine is about to finish each output"),
  CHUNK_COMBINE_ANSWER("chunk-combine-answer", "all outputs are finished, nothing is answered"),
  CHUNK_TARGET_CREATE("chunk-target-create", "a server is asked to receive a block"),
  CHUNK_TARGET_HALF("chunk-target-half", "half of the bytes of a block are received"),
  CHUNK_TARGET_FINALIZE("chunk-target-finalize", "a received block is about to be finalized"),
  CHUNK_TARGET_ANSWER("chunk-target-answer", "it is finalized, nothing is answered");

  private final String pointName;
  private final String meaning;

  FailPoint(String pointName, String meaning) {
    this.pointName = pointName;
    this.meaning = meaning;
  }

  /** The name under which it is armed; it begins with the kind of process that has it. */
  public String pointName() {
    return pointName;
  }

  /** The moment in the life of a transition that it stands for. */
  public String meaning() {
    return meaning;
  }

  /**
   * Passes the point: nothing happens unless this process was started with a directory of fail
   * points and this one is armed there for it.
   *
   * @throws java.io.UncheckedIOException if it was armed as an error
   */
  public void reach() {
    FailPoints.OF_THIS_PROCESS.reach(pointName);
  }

  /** The point of a name, or null. */
  public static FailPoint byName(String name) {
    for (FailPoint point : values()) {
      if (point.pointName.equals(name)) {
        return point;
      }
    }
    return null;
  }
}
