package io.ebbfs.raid.mapreduce;

import java.util.Map;

/**
 * One MapReduce job of the raid-node, running or ended.
 *
 * @param id of MapReduce; empty before the job is submitted
 * @param queue {@code repair} or {@code convert}
 * @param state {@code RUNNING}, {@code SUCCEEDED} or {@code FAILED}
 * @param startedMillis since the epoch
 * @param endedMillis since the epoch; 0 while it runs
 * @param transitions number of its transitions by kind; while it runs, at its start
 * @param counters by name, see {@code JobCounters}; empty while it runs
 * @param failure the reason if it failed; else empty
 */
public record JobStatus(
    String id,
    String queue,
    String state,
    long startedMillis,
    long endedMillis,
    Map<String, Long> transitions,
    Map<String, Long> counters,
    String failure) {
  public JobStatus {
    transitions = Map.copyOf(transitions);
    counters = Map.copyOf(counters);
  }
}
