package io.ebbfs.namenode.tasks.scan;

import java.util.SortedSet;

/**
 * What is to be done about a stripe.
 *
 * @param action what to do
 * @param lost the positions without a live replica; empty if the stripe is whole
 * @param priority of the repair, lower is earlier; 0 unless the action is REPAIR or CHANGE_REPAIR
 * @param reason for people: stored with the transition that is created, changed or dropped
 */
record RepairDecision(Action action, SortedSet<Integer> lost, int priority, String reason) {
  /** The possible actions. */
  enum Action {
    /** Nothing: a transition works on the stripe already. */
    NOTHING,
    /** The stripe is whole and in no transition: only its placement is looked at. */
    CHECK_PLACEMENT,
    /** As CHECK_PLACEMENT, and its live data is to be rewritten: too much of the stripe is dead. */
    REWRITE,
    /**
     * Its live data is to be rewritten at once: the lost blocks are parities and tombstones that
     * cannot be rebuilt, so nothing protects the live data any more.
     */
    RESCUE,
    /** A repair of the lost positions is to be created. */
    REPAIR,
    /** The planned repair gets new positions and a new priority: more or less is lost by now. */
    CHANGE_REPAIR,
    /** The planned repair is dropped: every block is live again. */
    DROP_REPAIR,
    /** Another transition of the stripe is dropped, so that the stripe can be repaired first. */
    INTERRUPT,
    /**
     * Its servers or disks were lost a short while ago and may come back, and the stripe survives
     * the next failure: the disks' blocks are looked at again when the wait is over.
     */
    WAIT_FOR_SERVER,
    /** Nothing can be done until a server or disk comes back: no lost block can be rebuilt. */
    WAIT_FOR_REPLICA
  }
}
