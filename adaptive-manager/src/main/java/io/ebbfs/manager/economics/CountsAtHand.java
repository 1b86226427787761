package io.ebbfs.manager.economics;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongPredicate;

/** The counts of few files, in memory. */
record CountsAtHand(Map<Long, Double> counts) implements ReadCounts {
  @Override
  public double of(long fileId) {
    return counts.getOrDefault(fileId, 0.0);
  }

  @Override
  public List<Long> mostRead(int limit, LongPredicate exists) {
    return counts.entrySet().stream()
        .filter(entry -> exists.test(entry.getKey()))
        .sorted(Map.Entry.<Long, Double>comparingByValue().reversed())
        .limit(limit)
        .map(Map.Entry::getKey)
        .toList();
  }

  @Override
  public double all() {
    return counts.values().stream().mapToDouble(Double::doubleValue).sum();
  }

  @Override
  public Map<Long, Double> of(Collection<Long> fileIds) {
    Map<Long, Double> found = new HashMap<>();
    for (long id : fileIds) {
      if (counts.containsKey(id)) {
        found.put(id, counts.get(id));
      }
    }
    return found;
  }
}
