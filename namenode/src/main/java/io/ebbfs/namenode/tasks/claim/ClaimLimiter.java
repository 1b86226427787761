package io.ebbfs.namenode.tasks.claim;

import io.ebbfs.namenode.datanodes.ByteBudget;
import io.ebbfs.namenode.tasks.claim.CombineSlots.Share;
import io.ebbfs.namenode.tasks.lifecycle.BackgroundLimits;
import io.ebbfs.namenode.tasks.lifecycle.TransitionPriority;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.time.Clock;
import java.util.function.LongPredicate;

/**
 * Decides whether the chunk servers have room for a transition now. A server takes part in a
 * limited number of combines at once, and moves a limited number of bytes per second; see {@link
 * BackgroundLimits}. The limits hold for all raid-nodes together. The counts are in memory; after a
 * restart they follow from the rows of the transitions that run. Thread-safe.
 */
final class ClaimLimiter {
  private final CombineSlots slots;
  private final ByteBudget repairBytes;
  private final ByteBudget conversionBytes;

  ClaimLimiter(BackgroundLimits limits, Clock clock) {
    this.slots = new CombineSlots(limits.combinesPerServer(), limits.readsPerServer());
    this.repairBytes = new ByteBudget(limits.repair(), clock);
    this.conversionBytes = new ByteBudget(limits.conversion(), clock);
  }

  /** Counts an attempt that was claimed from an earlier process and still runs. */
  synchronized void hold(TransitionRow running) {
    slots.hold(running.getId(), Footprint.of(running), share(running));
  }

  /** Whether {@link #admit} would let the attempt in now. */
  synchronized boolean hasRoom(TransitionRow row, Footprint wanted) {
    Share share = share(row);
    return slots.haveRoom(wanted, share)
        && bytes(share).allows(wanted.bytes().keySet(), share == Share.URGENT);
  }

  /** Takes what an attempt needs; false, and nothing is taken, if the attempt has to wait. */
  synchronized boolean admit(TransitionRow row, Footprint wanted) {
    Share share = share(row);
    if (!slots.take(row.getId(), wanted, share)) {
      return false;
    }
    if (!bytes(share).take(wanted.bytes(), wanted.totalBytes(), share == Share.URGENT)) {
      slots.release(row.getId());
      return false;
    }
    return true;
  }

  /** Gives back what was taken for an attempt that did not start. */
  synchronized void giveBack(TransitionRow row, Footprint taken) {
    slots.release(row.getId());
    bytes(share(row)).giveBack(taken.bytes(), taken.totalBytes());
  }

  /** Frees the servers of all attempts that do not run any more. */
  synchronized void keep(LongPredicate running) {
    slots.keep(running);
  }

  private ByteBudget bytes(Share share) {
    return share == Share.CONVERSION ? conversionBytes : repairBytes;
  }

  private static Share share(TransitionRow row) {
    if (TransitionPriority.isUrgent(row.getPriority())) {
      return Share.URGENT;
    }
    return TransitionPriority.isRepair(row.getPriority()) ? Share.REPAIR : Share.CONVERSION;
  }
}
