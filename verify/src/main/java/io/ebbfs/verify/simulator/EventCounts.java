package io.ebbfs.verify.simulator;

import java.util.Map;
import java.util.TreeMap;

/** Counts events by name, for example "fault server crashes". Used by one thread. */
final class EventCounts {
  private final Map<String, Long> counts = new TreeMap<>();

  void add(String what) {
    counts.merge(what, 1L, Long::sum);
  }

  void addMany(String what, long times) {
    if (times > 0) {
      counts.merge(what, times, Long::sum);
    }
  }

  void addAll(EventCounts other) {
    other.counts.forEach((what, count) -> counts.merge(what, count, Long::sum));
  }

  long of(String what) {
    return counts.getOrDefault(what, 0L);
  }

  /** All counts whose names begin with the prefix, by the rest of the name. */
  Map<String, Long> below(String prefix) {
    Map<String, Long> found = new TreeMap<>();
    counts.forEach(
        (what, count) -> {
          if (what.startsWith(prefix)) {
            found.put(what.substring(prefix.length()), count);
          }
        });
    return found;
  }

  @Override
  public String toString() {
    return counts.toString();
  }
}
