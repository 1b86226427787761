package io.ebbfs.namenode.replicas;

import java.time.Clock;
import java.util.HashMap;
import java.util.Map;

/**
 * The disks on which a rebalance has found nothing to move from one end to the other, such as those
 * whose blocks would be less safe elsewhere. They are left out for ten times as long as the look
 * took, and a minute at least. For one thread.
 */
final class BarrenDisks {
  private static final long LEAST_PAUSE_MILLIS = 60_000;
  private static final int TIMES = 10;

  /** The looks at a disk since its start. */
  private record Round(long begunMillis, boolean hasFound) {}

  private final Clock clock;
  private final Map<String, Round> rounds = new HashMap<>();
  private final Map<String, Long> pauses = new HashMap<>();

  BarrenDisks(Clock clock) {
    this.clock = clock;
  }

  boolean has(String storageUuid) {
    Long until = pauses.get(storageUuid);
    if (until != null && clock.millis() >= until) {
      pauses.remove(storageUuid);
      return false;
    }
    return until != null;
  }

  /** Notes a look at a part of a disk. */
  void looked(String storageUuid, boolean hasFound, boolean atEnd) {
    long now = clock.millis();
    Round before = rounds.getOrDefault(storageUuid, new Round(now, false));
    Round round = new Round(before.begunMillis(), before.hasFound() || hasFound);
    if (!atEnd) {
      rounds.put(storageUuid, round);
      return;
    }
    rounds.remove(storageUuid);
    if (!round.hasFound()) {
      long pause = Math.max(LEAST_PAUSE_MILLIS, TIMES * (now - round.begunMillis()));
      pauses.put(storageUuid, now + pause);
    }
  }

  /** Something has moved from the disk. */
  void moved(String storageUuid) {
    pauses.remove(storageUuid);
    rounds.computeIfPresent(storageUuid, (uuid, round) -> new Round(round.begunMillis(), true));
  }

  void clear() {
    rounds.clear();
    pauses.clear();
  }
}
