package io.ebbfs.namenode.tasks.claim;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongPredicate;

/**
 * Counts, on each chunk server, the combines that it runs and the combines that it reads for, over
 * all transitions that are handed out to whichever raid-node, and knows how many more it may take.
 * An attempt that asks for more than a server ever has is let in while that server has nothing else
 * to do. Not thread-safe: {@link ClaimLimiter} guards it.
 */
final class CombineSlots {
  /** A limit is 0 if there is none. */
  private record Limits(int combines, int reads) {
    Limits times(int factor) {
      return new Limits(combines * factor, reads * factor);
    }

    Limits half() {
      return new Limits((combines + 1) / 2, (reads + 1) / 2);
    }
  }

  /** The classes of work, by their shares of a server. */
  enum Share {
    /** What the next failure would lose: twice the limit. */
    URGENT,
    REPAIR,
    /** At most half of the limit, so that repairs always find room. */
    CONVERSION
  }

  private record Held(Footprint footprint, Share share) {}

  private static final class Counts {
    private final Map<String, Integer> combines = new HashMap<>();
    private final Map<String, Integer> reads = new HashMap<>();

    boolean haveRoom(Footprint wanted, Limits limits) {
      return haveRoom(combines, wanted.combines(), limits.combines)
          && haveRoom(reads, wanted.reads(), limits.reads);
    }

    private static boolean haveRoom(
        Map<String, Integer> taken, Map<String, Integer> wanted, int limit) {
      return limit == 0
          || wanted.entrySet().stream()
              .allMatch(
                  server ->
                      taken.getOrDefault(server.getKey(), 0) + Math.min(server.getValue(), limit)
                          <= limit);
    }

    void add(Footprint footprint, int sign) {
      add(combines, footprint.combines(), sign);
      add(reads, footprint.reads(), sign);
    }

    private static void add(Map<String, Integer> taken, Map<String, Integer> more, int sign) {
      more.forEach((server, n) -> taken.merge(server, sign * n, CombineSlots::sumOrNone));
    }
  }

  private final Limits limits;
  private final Map<Long, Held> held = new HashMap<>();
  private final Counts all = new Counts();
  private final Counts conversions = new Counts();

  /**
   * Slots that are all free.
   *
   * @param combines that a server runs at once; 0: no limit
   * @param reads that a server reads for at once; 0: no limit
   */
  CombineSlots(int combines, int reads) {
    this.limits = new Limits(combines, reads);
  }

  private static Integer sumOrNone(int one, int other) {
    return one + other == 0 ? null : Integer.valueOf(one + other);
  }

  /** Takes the slots of an attempt; false, and nothing is taken, if a server lacks them. */
  boolean take(long transition, Footprint wanted, Share share) {
    release(transition);
    if (!haveRoom(wanted, share)) {
      return false;
    }
    hold(transition, wanted, share);
    return true;
  }

  /** Takes the slots of an attempt that runs already, whether there is room or not. */
  void hold(long transition, Footprint taken, Share share) {
    release(transition);
    change(new Held(taken, share), 1);
    held.put(transition, new Held(taken, share));
  }

  boolean haveRoom(Footprint wanted, Share share) {
    return all.haveRoom(wanted, share == Share.URGENT ? limits.times(2) : limits)
        && (share != Share.CONVERSION || conversions.haveRoom(wanted, limits.half()));
  }

  void release(long transition) {
    Held before = held.remove(transition);
    if (before != null) {
      change(before, -1);
    }
  }

  private void change(Held one, int sign) {
    all.add(one.footprint, sign);
    if (one.share == Share.CONVERSION) {
      conversions.add(one.footprint, sign);
    }
  }

  /** Releases the slots of all attempts that do not run any more. */
  void keep(LongPredicate running) {
    for (long transition : List.copyOf(held.keySet())) {
      if (!running.test(transition)) {
        release(transition);
      }
    }
  }
}
