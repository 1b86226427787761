package io.ebbfs.namenode.tasks.scan;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A number for each stripe of which something is to be told, such as how many blocks it has lost,
 * and the sums over all of them. It takes about five bytes for a stripe where many stripes with ids
 * close to each other have a number: millions of stripes are damaged after a large server is lost.
 * Thread-safe; the sums take the same time however many stripes there are.
 */
public final class StripeTally {
  private static final int RANGE_BITS = 12;

  // By the ids of their stripes without the last bits. None is empty.
  private final NavigableMap<Long, Range> ranges = new TreeMap<>();
  private final SortedMap<Integer, Long> stripesByNumber = new TreeMap<>();
  private int stripes;

  /** The stripes whose ids differ in their last bits alone. */
  private static final class Range {
    private static final int NUMBER_BITS = 16;
    private static final int MOST = (1 << NUMBER_BITS) - 1;

    // Sorted. Each entry has the last bits of the id, and in its lower half the number.
    private int[] entries = new int[2];
    private int size;

    /** Returns the number before, or 0. */
    int put(int lastBits, int number) {
      int entry = lastBits << NUMBER_BITS | number;
      int at = find(lastBits);
      if (has(at, lastBits)) {
        int before = entries[at] & MOST;
        entries[at] = entry;
        return before;
      }
      if (size == entries.length) {
        entries = Arrays.copyOf(entries, size + Math.max(2, size / 2));
      }
      System.arraycopy(entries, at, entries, at + 1, size - at);
      entries[at] = entry;
      size++;
      return 0;
    }

    /** Returns the number before, or 0. */
    int remove(int lastBits) {
      int at = find(lastBits);
      if (!has(at, lastBits)) {
        return 0;
      }
      int before = entries[at] & MOST;
      size--;
      System.arraycopy(entries, at + 1, entries, at, size - at);
      return before;
    }

    boolean contains(int lastBits) {
      return has(find(lastBits), lastBits);
    }

    /** Where the entry is, or would be; no entry has the number 0. */
    private int find(int lastBits) {
      return -1 - Arrays.binarySearch(entries, 0, size, lastBits << NUMBER_BITS);
    }

    private boolean has(int at, int lastBits) {
      return at < size && entries[at] >>> NUMBER_BITS == lastBits;
    }

    int lastBits(int index) {
      return entries[index] >>> NUMBER_BITS;
    }
  }

  private static long rangeOf(long stripeId) {
    return stripeId >> RANGE_BITS;
  }

  private static int lastBits(long stripeId) {
    return (int) (stripeId & (1 << RANGE_BITS) - 1);
  }

  /**
   * @param number above 0; one that is larger than 65,535 counts as 65,535
   */
  synchronized void put(long stripeId, int number) {
    int kept = Math.min(number, Range.MOST);
    Range range = ranges.computeIfAbsent(rangeOf(stripeId), id -> new Range());
    count(range.put(lastBits(stripeId), kept), -1);
    count(kept, 1);
  }

  synchronized void remove(long stripeId) {
    Range range = ranges.get(rangeOf(stripeId));
    if (range != null) {
      count(range.remove(lastBits(stripeId)), -1);
      if (range.size == 0) {
        ranges.remove(rangeOf(stripeId));
      }
    }
  }

  private void count(int number, int difference) {
    if (number != 0) {
      stripes += difference;
      stripesByNumber.merge(
          number, (long) difference, (known, more) -> known + more == 0 ? null : known + more);
    }
  }

  /**
   * Removes the stripes of a range of ids that are not named.
   *
   * @param after the range begins behind this id
   * @param upTo the last id of the range
   */
  synchronized void retain(long after, long upTo, Collection<Long> named) {
    Set<Long> kept = new HashSet<>(named);
    idsIn(after, upTo).stream().filter(id -> !kept.contains(id)).forEach(this::remove);
  }

  private List<Long> idsIn(long after, long upTo) {
    List<Long> ids = new ArrayList<>();
    ranges
        .subMap(rangeOf(after), true, rangeOf(upTo), true)
        .forEach(
            (first, range) -> {
              for (int i = 0; i < range.size; i++) {
                long id = (first << RANGE_BITS) + range.lastBits(i);
                if (id > after && id <= upTo) {
                  ids.add(id);
                }
              }
            });
    return ids;
  }

  synchronized boolean contains(long stripeId) {
    Range range = ranges.get(rangeOf(stripeId));
    return range != null && range.contains(lastBits(stripeId));
  }

  /** How many stripes there are. */
  public synchronized int stripes() {
    return stripes;
  }

  /** How many stripes have which number. */
  public synchronized SortedMap<Integer, Long> stripesByNumber() {
    return new TreeMap<>(stripesByNumber);
  }
}
