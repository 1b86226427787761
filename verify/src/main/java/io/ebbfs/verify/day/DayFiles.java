package io.ebbfs.verify.day;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/**
 * The files that exist, by directory, the oldest first. A file that is read is not taken out, so
 * that every read has to succeed. Thread-safe.
 */
final class DayFiles {
  private final Map<String, Deque<DayFile>> byDirectory = new HashMap<>();
  private final Map<String, Long> bytes = new HashMap<>();
  // Once for each reader.
  private final List<DayFile> borrowed = new ArrayList<>();

  synchronized void add(String directory, DayFile file) {
    byDirectory.computeIfAbsent(directory, name -> new ArrayDeque<>()).add(file);
    bytes.merge(directory, (long) file.lengthBytes(), Long::sum);
  }

  /**
   * Takes the oldest file out that nobody reads, if the directory has more bytes than this: it is
   * to be deleted.
   */
  synchronized Optional<DayFile> takeOldest(String directory, long mostBytes) {
    if (bytesIn(directory) <= mostBytes) {
      return Optional.empty();
    }
    Optional<DayFile> oldest =
        byDirectory.get(directory).stream().filter(file -> !borrowed.contains(file)).findFirst();
    oldest.ifPresent(
        file -> {
          byDirectory.get(directory).remove(file);
          bytes.merge(directory, (long) -file.lengthBytes(), Long::sum);
        });
    return oldest;
  }

  synchronized long bytesIn(String directory) {
    return bytes.getOrDefault(directory, 0L);
  }

  /** Any file; its reader gives it back. */
  synchronized Optional<DayFile> borrow(Random random) {
    List<DayFile> all = all();
    if (all.isEmpty()) {
      return Optional.empty();
    }
    DayFile file = all.get(random.nextInt(all.size()));
    borrowed.add(file);
    return Optional.of(file);
  }

  synchronized void giveBack(DayFile file) {
    borrowed.remove(file);
  }

  synchronized List<DayFile> all() {
    List<DayFile> all = new ArrayList<>();
    byDirectory.values().forEach(all::addAll);
    return all;
  }
}
