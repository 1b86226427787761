package io.ebbfs.namenode.tasks.scan;

import java.util.Collection;
import java.util.HashSet;
import java.util.NavigableMap;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A number for each stripe of which something is to be told, such as how many blocks it has lost,
 * and the sums over all of them. It takes about 70 bytes for a stripe: millions of stripes are
 * damaged after a large server is lost. Thread-safe; the sums take the same time however many
 * stripes there are.
 */
public final class StripeTally {
  private final NavigableMap<Long, Integer> numbers = new TreeMap<>();
  private final SortedMap<Integer, Long> stripesByNumber = new TreeMap<>();

  /**
   * @param number above 0
   */
  synchronized void put(long stripeId, int number) {
    count(numbers.put(stripeId, number), -1);
    count(number, 1);
  }

  synchronized void remove(long stripeId) {
    count(numbers.remove(stripeId), -1);
  }

  private void count(Integer number, long difference) {
    if (number != null) {
      stripesByNumber.merge(
          number, difference, (known, more) -> known + more == 0 ? null : known + more);
    }
  }

  /**
   * Removes the stripes of a range that are not named.
   *
   * @param after the range begins behind this id
   * @param upTo the last id of the range
   */
  synchronized void retain(long after, long upTo, Collection<Long> named) {
    Set<Long> gone = new HashSet<>(numbers.subMap(after, false, upTo, true).keySet());
    gone.removeAll(new HashSet<>(named));
    gone.forEach(this::remove);
  }

  synchronized boolean contains(long stripeId) {
    return numbers.containsKey(stripeId);
  }

  /** How many stripes there are. */
  public synchronized int stripes() {
    return numbers.size();
  }

  /** How many stripes have which number. */
  public synchronized SortedMap<Integer, Long> stripesByNumber() {
    return new TreeMap<>(stripesByNumber);
  }
}
