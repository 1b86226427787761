package io.ebbfs.verify.simulator;

/** Bugs that are planted in the programs, to see that the simulation finds them. */
enum PlantedBug {
  NONE("the programs as they are"),
  COMMITS_WITHOUT_WRITING("a raid-node commits outputs that no server has written"),
  SWAPS_SOURCES("servers swap the coefficients of the first two sources of a combine"),
  SKIPS_CHECKS("a raid-node says without running the checks that all have passed"),
  TRUSTS_UNVERIFIED("the namenode counts an output of a repair as live before its checks"),
  ACCEPTS_OLD_ATTEMPTS("the namenode takes the commit of an older attempt or another raid-node"),
  FORGETS_DELETIONS("the store does not delete rows of block owners"),
  TEARS_TRANSACTIONS("a crash leaves half of the writes of a transaction"),
  DELETES_TOO_MUCH("servers delete one more replica than they were told to"),
  PUBLISHES_UNASKED("the namenode publishes new stripes without asking which servers live"),
  ANSWERS_BEFORE_SCAN(
      "a server that scans its disks says that it has no block, and a raid-node reports such blocks"
          + " as wrong for good"),
  BELIEVES_CLIENTS("the namenode marks a replica as corrupt because a client says so"),
  RECOVERS_BEFORE_SCAN(
      "a server that scans its disks tells block recoveries that it has no replica, and the"
          + " namenode takes every result of a recovery"),
  DELETES_UNKNOWN("the namenode deletes replicas of unknown blocks without a wait"),
  REUSES_IDS("the namenode does not skip the ids that may be in use after a restore"),
  FORGETS_ORDERS(
      "a restarted namenode has forgotten which replicas it ordered to be deleted, and servers"
          + " report such replicas until they have deleted them"),
  KEEPS_UNSYNCED("the replicas that an encoding keeps are not synced before the others go"),
  KEEPS_TAILS(
      "a recovery does not cut the bytes of a write that broke off, and the server drops the"
          + " replica"),
  OBEYS_FORMER_LEADERS("a leader does not look whether its term is over, and goes on to lead", 3),
  RUNS_DOUBLED_CALLS("a namenode does not look whether another one has run a call before", 3),
  IGNORES_CONFLICTS("the store commits although another namenode has changed a locked row", 3);

  private final String what;
  private final int namenodes;

  PlantedBug(String what) {
    this(what, 1);
  }

  PlantedBug(String what, int namenodes) {
    this.what = what;
    this.namenodes = namenodes;
  }

  /** The number of namenodes of the schedules that find the bug. */
  int namenodes() {
    return namenodes;
  }

  /** What the bug does, for people. */
  String what() {
    return what;
  }
}
