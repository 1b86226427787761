package io.ebbfs.namenode.files.io;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * How many block recoveries of a file this process has ordered of which none has ended: they may be
 * slow rather than lost. If there are too many files, the oldest are forgotten. Thread-safe.
 */
final class RecoveryAttempts {
  /** How many times the usual time a recovery has at most, before the next one makes it void. */
  static final int MOST_PATIENCE = 3;

  private static final int ATTEMPTS_PER_PATIENCE = 2;
  private static final int MOST_FILES = 100_000;

  private final Map<Long, Integer> byFile =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Integer> eldest) {
          return size() > MOST_FILES;
        }
      };

  /** Notes that a recovery of the last block of a file was ordered. */
  synchronized void ordered(long fileId) {
    byFile.merge(fileId, 1, Integer::sum);
  }

  /** A recovery has ended, whatever came of it, or the file is closed or deleted. */
  synchronized void ended(long fileId) {
    byFile.remove(fileId);
  }

  /** How many times the usual time the last recovery of a file has. */
  synchronized int patience(long fileId) {
    int before = byFile.getOrDefault(fileId, 1) - 1;
    return Math.min(MOST_PATIENCE, 1 + before / ATTEMPTS_PER_PATIENCE);
  }

  /** Forgets the files that nobody holds any more. */
  synchronized void retain(Set<Long> openFiles) {
    byFile.keySet().retainAll(openFiles);
  }
}
