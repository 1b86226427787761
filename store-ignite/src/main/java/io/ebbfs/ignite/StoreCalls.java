package io.ebbfs.ignite;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** Counts what a process asks of the nodes of the store. Thread-safe. */
final class StoreCalls {
  /** Unlocked rows by key. */
  final LongAdder reads = new LongAdder();

  /** Rows of a partition in their order. */
  final LongAdder scans = new LongAdder();

  /** Rows whose versions are noted for the commit. */
  final LongAdder lockingReads = new LongAdder();

  /** Commits that write, and checks that nothing has changed. */
  final LongAdder commits = new LongAdder();

  /** Transactions that began again, because another one was faster. */
  final LongAdder conflicts = new LongAdder();

  /** The sums by name; all but the conflicts are round trips. */
  Map<String, Long> sums() {
    Map<String, Long> sums = new LinkedHashMap<>();
    sums.put("read", reads.sum());
    sums.put("scan", scans.sum());
    sums.put("locking-read", lockingReads.sum());
    sums.put("commit", commits.sum());
    sums.put("conflict", conflicts.sum());
    return sums;
  }
}
