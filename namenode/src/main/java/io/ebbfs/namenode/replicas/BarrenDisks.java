package io.ebbfs.namenode.replicas;

import java.time.Clock;
import java.util.HashMap;
import java.util.Map;

/**
 * The disks on which a rebalance has found nothing to move from one end to the other, such as those
 * whose blocks would be less safe elsewhere. They are left out for ten times as long as the look
 * took, and a minute at least. A disk with members of stripes for which there was no room is looked
 * at again as soon as there is room. For one thread.
 */
final class BarrenDisks {
  private static final long LEAST_PAUSE_MILLIS = 60_000;
  private static final int TIMES = 10;

  /** What a look at a part of a disk has found. */
  enum Found {
    NOTHING,
    /** Nothing but members of stripes, and as many stripes are re-placed already as may be. */
    WAITING_MEMBERS,
    MOVABLE;

    Found or(Found other) {
      return compareTo(other) > 0 ? this : other;
    }
  }

  /** The looks at a disk since its start. */
  private record Round(long begunMillis, Found found) {}

  private record Pause(long untilMillis, boolean forRoom) {}

  private final Clock clock;
  private final Map<String, Round> rounds = new HashMap<>();
  private final Map<String, Pause> pauses = new HashMap<>();

  BarrenDisks(Clock clock) {
    this.clock = clock;
  }

  boolean has(String storageUuid) {
    Pause pause = pauses.get(storageUuid);
    if (pause != null && hasEnded(pause)) {
      pauses.remove(storageUuid);
      return false;
    }
    return pause != null;
  }

  private boolean hasEnded(Pause pause) {
    return clock.millis() >= pause.untilMillis();
  }

  /** Notes a look at a part of a disk. */
  void looked(String storageUuid, Found found, boolean atEnd) {
    long now = clock.millis();
    Round before = rounds.getOrDefault(storageUuid, new Round(now, Found.NOTHING));
    Round round = new Round(before.begunMillis(), before.found().or(found));
    if (!atEnd) {
      rounds.put(storageUuid, round);
      return;
    }
    rounds.remove(storageUuid);
    if (round.found() != Found.MOVABLE) {
      long pause = Math.max(LEAST_PAUSE_MILLIS, TIMES * (now - round.begunMillis()));
      pauses.put(storageUuid, new Pause(now + pause, round.found() == Found.WAITING_MEMBERS));
    }
  }

  /** Whether a disk is left out because there is no room for its members. */
  boolean someWaitForRoom() {
    return pauses.values().stream().anyMatch(pause -> pause.forRoom() && !hasEnded(pause));
  }

  /** There is room for members of stripes again. */
  void noteRoom() {
    pauses.values().removeIf(Pause::forRoom);
  }

  /** Something has moved from the disk. */
  void moved(String storageUuid) {
    pauses.remove(storageUuid);
    rounds.computeIfPresent(
        storageUuid, (uuid, round) -> new Round(round.begunMillis(), Found.MOVABLE));
  }

  void clear() {
    rounds.clear();
    pauses.clear();
  }
}
