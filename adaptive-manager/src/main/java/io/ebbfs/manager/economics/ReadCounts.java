package io.ebbfs.manager.economics;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongPredicate;

/**
 * How often files were read, as of one time; a read counts less the longer ago it was. There may be
 * far more files that were read than fit in memory, so the counts are asked for by id, and only the
 * files that were read most can be listed. Thread-safe.
 */
public interface ReadCounts {
  /** Nobody has read anything. */
  ReadCounts NONE = of(Map.of());

  /** The reads of a file; 0 if it was not read. */
  double of(long fileId);

  /** Files that are looked at for each file that {@link #mostRead} may list. */
  int LOOKED_AT_PER_FILE = 10;

  /**
   * The files that were read most, of those that exist. A file that is left out has at most 1.1
   * times the reads of each file that is listed. Of many deleted files, at most {@link
   * #LOOKED_AT_PER_FILE} times the limit are passed over.
   *
   * @param exists tells by the id whether a file exists
   */
  List<Long> mostRead(int limit, LongPredicate exists);

  /** The files that were read most, deleted ones included. */
  default List<Long> mostRead(int limit) {
    return mostRead(limit, id -> true);
  }

  /** The reads of all files together, deleted ones included. */
  double all();

  /** The reads of several files; those of 0 may be left out. */
  Map<Long, Double> of(Collection<Long> fileIds);

  /**
   * The same counts, of which those of some files are read once, now. A decision that looks at
   * these files alone finds the same counts however often it asks.
   */
  default ReadCounts fixed(Collection<Long> fileIds) {
    Map<Long, Double> known = new HashMap<>();
    fileIds.forEach(id -> known.put(id, 0.0));
    known.putAll(of(fileIds));
    ReadCounts others = this;
    return new ReadCounts() {
      @Override
      public double of(long fileId) {
        Double count = known.get(fileId);
        return count == null ? others.of(fileId) : count;
      }

      @Override
      public List<Long> mostRead(int limit, LongPredicate exists) {
        return others.mostRead(limit, exists);
      }

      @Override
      public double all() {
        return others.all();
      }

      @Override
      public Map<Long, Double> of(Collection<Long> ids) {
        Map<Long, Double> counts = new HashMap<>();
        ids.forEach(id -> counts.put(id, of(id)));
        return counts;
      }
    };
  }

  /** Counts that are all at hand, by file id. */
  static ReadCounts of(Map<Long, Double> counts) {
    return new CountsAtHand(counts);
  }
}
