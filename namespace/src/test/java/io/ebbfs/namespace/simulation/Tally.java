package io.ebbfs.namespace.simulation;

import java.util.Map;
import java.util.TreeMap;

/** Counts of what happened, by name. Used by one thread. */
final class Tally {
  private final Map<String, Long> counts = new TreeMap<>();

  void add(String what) {
    counts.merge(what, 1L, Long::sum);
  }

  void addMany(String what, long times) {
    if (times > 0) {
      counts.merge(what, times, Long::sum);
    }
  }

  void addAll(Tally other) {
    other.counts.forEach((what, count) -> counts.merge(what, count, Long::sum));
  }

  long of(String what) {
    return counts.getOrDefault(what, 0L);
  }

  /** All counts whose names begin so, by the rest of the name. */
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
