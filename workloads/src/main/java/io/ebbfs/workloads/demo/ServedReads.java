package io.ebbfs.workloads.demo;

import io.ebbfs.workloads.demo.DataSet.Family;
import io.ebbfs.workloads.demo.DataSet.LocalFile;
import java.util.EnumMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Counts the blocks that background readers read, by family and by the code that the blocks are in
 * at that time. Thread-safe.
 */
final class ServedReads {
  private final FileCodes codes;
  private final Map<Family, Map<String, Long>> blocks = new EnumMap<>(Family.class);
  private boolean counting;

  ServedReads(FileCodes codes) {
    this.codes = codes;
  }

  /** Counts from now on. */
  synchronized void begin() {
    counting = true;
  }

  /** A whole file was read. */
  synchronized void add(LocalFile file) {
    if (counting) {
      Map<String, Long> ofFamily = blocks.computeIfAbsent(file.family(), family -> new TreeMap<>());
      codes
          .blocksByCode(file.remote())
          .forEach((code, count) -> ofFamily.merge(code, (long) count, Long::sum));
    }
  }

  /** The share of the block reads of a family that fell on data in a code; 0 without reads. */
  synchronized double share(Family family, String code) {
    Map<String, Long> ofFamily = blocks.getOrDefault(family, Map.of());
    long all = ofFamily.values().stream().mapToLong(Long::longValue).sum();
    return all == 0 ? 0 : (double) ofFamily.getOrDefault(code, 0L) / all;
  }
}
