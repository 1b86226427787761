package io.ebbfs.verify.soak;

import io.ebbfs.verify.cluster.RunLog;
import io.ebbfs.verify.soak.Finding.Kind;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Everything that is known about a soak: its files, the names of deleted files, counts and
 * findings. Findings are printed as they come. Thread-safe.
 */
final class SoakBook {
  private static final int PRINTED = 20;

  private final PrintStream out;
  private final RunLog log;
  private final List<SoakFile> files = new ArrayList<>();
  private final Set<String> goneNames = new HashSet<>();
  private final Map<String, Long> acknowledged = new TreeMap<>();
  private final Map<String, Long> failed = new TreeMap<>();
  private final Map<String, Long> faults = new TreeMap<>();
  private final Map<Kind, Long> counts = new EnumMap<>(Kind.class);
  private final List<Finding> findings = new ArrayList<>();
  private long liveBytes;

  SoakBook(PrintStream out) {
    this.out = out;
    this.log = new RunLog(out);
  }

  /** One line with the time. */
  void say(String format, Object... arguments) {
    log.say(format, arguments);
  }

  // ---- files ------------------------------------------------------------------------------------

  synchronized void add(SoakFile file) {
    files.add(file);
  }

  /** The name of a file that is gone for sure; nothing may ever be there again. */
  synchronized void addGoneName(String path) {
    goneNames.add(path);
  }

  synchronized void remove(SoakFile file) {
    files.remove(file);
    goneNames.add(file.expectation().path());
  }

  synchronized List<SoakFile> files() {
    return new ArrayList<>(files);
  }

  synchronized Set<String> goneNames() {
    return new HashSet<>(goneNames);
  }

  synchronized void addBytes(long bytes) {
    liveBytes += bytes;
  }

  synchronized long liveBytes() {
    return liveBytes;
  }

  // ---- counts -----------------------------------------------------------------------------------

  synchronized void acknowledged(String verb) {
    acknowledged.merge(verb, 1L, Long::sum);
  }

  synchronized void failed(String verb) {
    failed.merge(verb, 1L, Long::sum);
  }

  synchronized void fault(String kind) {
    faults.merge(kind, 1L, Long::sum);
  }

  synchronized Map<String, Long> acknowledgedByVerb() {
    return new TreeMap<>(acknowledged);
  }

  synchronized Map<String, Long> failedByVerb() {
    return new TreeMap<>(failed);
  }

  synchronized Map<String, Long> faultsByKind() {
    return new TreeMap<>(faults);
  }

  static long sum(Map<String, Long> counts) {
    return counts.values().stream().mapToLong(Long::longValue).sum();
  }

  // ---- findings ---------------------------------------------------------------------------------

  void find(Kind kind, String what) {
    find(new Finding(kind, what, List.of()));
  }

  /** A finding about a file, unless there is one already. */
  void find(Kind kind, SoakFile file, String what) {
    if (file.reportOnce()) {
      find(new Finding(kind, "%s (seed %d) %s".formatted(file, file.seed(), what), file.history()));
    }
  }

  private synchronized void find(Finding finding) {
    counts.merge(finding.kind(), 1L, Long::sum);
    findings.add(finding);
    if (findings.size() <= PRINTED) {
      say("%s: %s", finding.kind(), finding.what());
      finding.history().forEach(line -> out.println("            " + line));
    }
  }

  synchronized long count(Kind kind) {
    return counts.getOrDefault(kind, 0L);
  }

  synchronized List<Finding> findings() {
    return new ArrayList<>(findings);
  }
}
