package io.ebbfs.verify.day;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;

/** The files that exist, by directory, the oldest first. Thread-safe. */
final class DayFiles {
  private final Map<String, Deque<DayFile>> byDirectory = new HashMap<>();
  private final Map<String, Long> bytes = new HashMap<>();
  private final Set<String> paths = new HashSet<>();

  synchronized void add(String directory, DayFile file) {
    byDirectory.computeIfAbsent(directory, name -> new ArrayDeque<>()).add(file);
    bytes.merge(directory, (long) file.lengthBytes(), Long::sum);
    paths.add(file.path());
  }

  /** Takes the oldest file out if the directory has more bytes than this: it is to be deleted. */
  synchronized Optional<DayFile> takeOldest(String directory, long mostBytes) {
    if (bytesIn(directory) <= mostBytes) {
      return Optional.empty();
    }
    DayFile oldest = byDirectory.get(directory).remove();
    bytes.merge(directory, (long) -oldest.lengthBytes(), Long::sum);
    paths.remove(oldest.path());
    return Optional.of(oldest);
  }

  synchronized long bytesIn(String directory) {
    return bytes.getOrDefault(directory, 0L);
  }

  synchronized Optional<DayFile> any(Random random) {
    List<DayFile> all = all();
    return all.isEmpty() ? Optional.empty() : Optional.of(all.get(random.nextInt(all.size())));
  }

  /** False once the file was taken out. */
  synchronized boolean has(DayFile file) {
    return paths.contains(file.path());
  }

  synchronized List<DayFile> all() {
    List<DayFile> all = new ArrayList<>();
    byDirectory.values().forEach(all::addAll);
    return all;
  }
}
