package io.ebbfs.namenode.tasks.claim;

import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The transitions that were planned and had to wait for servers without room. To plan costs time,
 * so such a transition is planned again only when what it wanted has room, or after ten seconds,
 * since another plan may take other servers. After some plans in vain, no further transition is
 * planned for a moment: the servers are busy. Thread-safe.
 */
final class PostponedTransitions {
  private static final long REPLAN_MILLIS = 10_000;
  private static final int MOST_IN_VAIN = 8;
  private static final long PAUSE_MILLIS = 200;

  private static final class Postponed {
    private final TransitionRow row;
    private final Footprint wanted;
    private final long untilMillis;
    private volatile boolean fits;

    Postponed(TransitionRow row, Footprint wanted, long untilMillis) {
      this.row = row;
      this.wanted = wanted;
      this.untilMillis = untilMillis;
    }
  }

  private final ClaimLimiter limiter;
  private final Clock clock;
  private final Map<Long, Postponed> byId = new HashMap<>();
  private int inVain;
  private long pausedUntilMillis = Long.MIN_VALUE;

  PostponedTransitions(ClaimLimiter limiter, Clock clock) {
    this.limiter = limiter;
    this.clock = clock;
  }

  /** A transition was planned, and the limiter has refused what the plan wants. */
  synchronized void add(TransitionRow row, Footprint wanted) {
    byId.put(row.getId(), new Postponed(row, wanted, clock.millis() + REPLAN_MILLIS));
    if (++inVain >= MOST_IN_VAIN) {
      inVain = 0;
      pausedUntilMillis = clock.millis() + PAUSE_MILLIS;
    }
  }

  synchronized void remove(long id) {
    byId.remove(id);
  }

  /**
   * Looks which transitions have room by now. The limiter is asked without the lock of this object:
   * the limiter asks the index of transitions under its own lock, and the index asks this object.
   */
  void refresh() {
    for (Postponed one : inForce()) {
      one.fits = limiter.hasRoom(one.row, one.wanted);
    }
  }

  private synchronized List<Postponed> inForce() {
    long now = clock.millis();
    byId.values().removeIf(one -> one.untilMillis <= now);
    return List.copyOf(byId.values());
  }

  /** Whether it is worth planning the transition now. */
  synchronized boolean isWorthPlanning(long id) {
    Postponed known = byId.get(id);
    return known == null ? clock.millis() >= pausedUntilMillis : known.fits;
  }
}
