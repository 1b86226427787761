package io.ebbfs.raid.mapreduce;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Keeps the latest jobs and the sums of the counters of all jobs. Thread-safe. */
public final class JobHistory {
  private static final int MAX_JOBS = 200;

  private final Deque<JobStatus> jobs = new ArrayDeque<>();
  private final Map<String, Long> totals = new TreeMap<>();

  public synchronized void started(JobStatus job) {
    jobs.addFirst(job);
    if (jobs.size() > MAX_JOBS) {
      jobs.removeLast();
    }
  }

  /** Puts the ended job in the place of the running one. */
  public synchronized void ended(JobStatus running, JobStatus ended) {
    if (jobs.remove(running)) {
      jobs.addFirst(ended);
    }
    totals.merge("jobs." + ended.state(), 1L, Long::sum);
    ended.counters().forEach((name, value) -> totals.merge(name, value, Long::sum));
  }

  public synchronized List<JobStatus> jobs() {
    return new ArrayList<>(jobs);
  }

  public synchronized Map<String, Long> totals() {
    return new TreeMap<>(totals);
  }
}
