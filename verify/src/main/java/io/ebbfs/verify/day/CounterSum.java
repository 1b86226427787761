package io.ebbfs.verify.day;

import java.util.HashMap;
import java.util.Map;

/** The sum of counters that begin again at 0 when their processes start again. Thread-safe. */
final class CounterSum {
  private final Map<Integer, Long> last = new HashMap<>();
  private long total;

  /** Takes the present value of one of the counters. */
  synchronized void take(int counter, long value) {
    long before = last.getOrDefault(counter, 0L);
    total += value >= before ? value - before : value;
    last.put(counter, value);
  }

  /** By how much all counters together have grown, as far as their values were taken. */
  synchronized long total() {
    return total;
  }
}
