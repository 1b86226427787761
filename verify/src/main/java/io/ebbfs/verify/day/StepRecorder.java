package io.ebbfs.verify.day;

import io.ebbfs.common.config.Units;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.testbed.ConditionWaiter;
import io.ebbfs.testbed.client.ClusterProbe;
import io.ebbfs.verify.cluster.RunLog;
import io.ebbfs.verify.cluster.VerifyCluster;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Runs the steps of a day, one after the other, and keeps their figures. Not thread-safe. */
final class StepRecorder implements AutoCloseable {
  private static final long POLL_MILLIS = 200;

  /** A step; it returns the bytes that it makes necessary. */
  interface Step {
    long run() throws Exception;
  }

  private final ClusterProbe probe;
  private final RunLog log;
  private final ReceivedBytes received;
  private final ConvertedBytes converted = new ConvertedBytes();
  private final List<DayStep> steps = new ArrayList<>();
  private Map<String, Object> figures = new LinkedHashMap<>();

  StepRecorder(VerifyCluster cluster, RunLog log) {
    this.probe = cluster.probe();
    this.log = log;
    this.received = new ReceivedBytes(cluster.local());
  }

  List<DayStep> steps() {
    return steps;
  }

  /** Runs a step. Its figures are kept also if it fails. */
  void run(String name, Step step) throws Exception {
    log.say("step: %s", name);
    figures = new LinkedHashMap<>();
    long began = System.nanoTime();
    List<TransitionRow> rows = probe.transitions(TransitionStateProto.values());
    long lastId = rows.stream().mapToLong(TransitionRow::getId).max().orElse(0);
    long receivedBefore = received.now();
    long convertedBefore = converted.now(rows);
    long necessary = 0;
    try {
      necessary = step.run();
    } catch (Exception e) {
      figures.put("failure", String.valueOf(e.getMessage()));
      throw e;
    } finally {
      double seconds = (System.nanoTime() - began) / 1e9;
      List<TransitionRow> rowsAfter = probe.transitions(TransitionStateProto.values());
      long conversions = converted.now(rowsAfter) - convertedBefore;
      long moved = Math.max(0, received.now() - receivedBefore - conversions);
      figures.put("transitions", byKind(rowsAfter, lastId));
      steps.add(new DayStep(name, seconds, moved, necessary, conversions, figures));
      log.say(
          "      %s: %.1f s, %s moved, %s necessary, %s for conversions; %s",
          name,
          seconds,
          Units.showBytes(moved),
          Units.showBytes(necessary),
          Units.showBytes(conversions),
          figures);
    }
  }

  private static Map<String, Long> byKind(List<TransitionRow> rows, long afterId) {
    return new TreeMap<>(
        ClusterProbe.countBy(
            rows.stream().filter(row -> row.getId() > afterId).toList(),
            row -> row.getKind().name()));
  }

  /** Keeps a figure of the step that runs. */
  void figure(String name, Object value) {
    figures.put(name, value);
  }

  /** Tells what a step is about to do. */
  void say(String format, Object... arguments) {
    log.say("      " + format, arguments);
  }

  /** Waits for a condition; an error names it, and the last objection. */
  void await(String what, long seconds, ConditionWaiter.Objection<IOException> condition)
      throws InterruptedException {
    awaitQuiet(what, seconds, 0, condition);
  }

  /** Waits until a condition holds without a break for some seconds. */
  void awaitQuiet(
      String what,
      long seconds,
      long quietSeconds,
      ConditionWaiter.Objection<IOException> condition)
      throws InterruptedException {
    log.say("      waits for %s", what);
    ConditionWaiter waiter =
        ConditionWaiter.within(seconds * 1000).every(POLL_MILLIS).quietFor(quietSeconds * 1000);
    VerifyCluster.await(what, waiter, condition);
  }

  @Override
  public void close() {
    received.close();
  }
}
