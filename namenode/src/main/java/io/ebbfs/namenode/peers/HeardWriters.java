package io.ebbfs.namenode.peers;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The clients that write files at a namenode that does not lead, on their way to the leader, which
 * ends the lease of a client of whom it never hears. A leader that begins gives each client a whole
 * lease, so what an earlier leader was told need not be told again at once. Thread-safe.
 */
public final class HeardWriters {
  /** A client is named to the leader this often, much more often than its lease ends. */
  private static final long AGAIN_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final int MAX_AT_ONCE = 10_000;

  private final int limit;
  private final LongSupplier nanoClock;
  private final Set<String> toTell = ConcurrentHashMap.newKeySet();
  private final Map<String, Long> toldNanos = new ConcurrentHashMap<>();

  /**
   * @param limit of clients that wait to be named, and of those that are remembered
   */
  public HeardWriters(int limit, LongSupplier nanoClock) {
    this.limit = limit;
    this.nanoClock = nanoClock;
  }

  /**
   * Notes that a client lives.
   *
   * @return false if too many clients wait to be named: the caller tells the leader by itself
   */
  public boolean hear(String writer) {
    Long told = toldNanos.get(writer);
    if (told != null && nanoClock.getAsLong() - told < AGAIN_NANOS) {
      return true;
    }
    if (toTell.size() >= limit && !toTell.contains(writer)) {
      return false;
    }
    toTell.add(writer);
    return true;
  }

  /** The clients that are to be named to the leader, or some of them. */
  public List<String> toTell() {
    return toTell.stream().limit(MAX_AT_ONCE).toList();
  }

  /** The leader has heard of these clients. */
  public void told(Collection<String> writers) {
    if (toldNanos.size() + writers.size() > limit) {
      toldNanos.clear();
    }
    long now = nanoClock.getAsLong();
    for (String writer : writers) {
      toldNanos.put(writer, now);
      toTell.remove(writer);
    }
  }
}
