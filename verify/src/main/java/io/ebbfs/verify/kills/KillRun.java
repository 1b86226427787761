package io.ebbfs.verify.kills;

import io.ebbfs.coding.code.CodeFamily;
import io.ebbfs.common.failpoint.FailPoints.Armed;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.verify.audit.ClusterAudit;
import io.ebbfs.verify.cluster.VerifyCluster;
import io.ebbfs.verify.cluster.VerifyException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;

/** Runs one case of the kill matrix. The cluster is at rest and empty before and after. */
final class KillRun {
  /**
   * The result of a case.
   *
   * @param died the processes that died; empty if the point was never reached
   * @param outcome how the transition ended
   * @param wrong the broken promises; empty if the case passed
   * @param underProtected stripes that one failure would hurt more than it should
   */
  record Result(
      KillCase cell,
      String family,
      String died,
      String outcome,
      List<String> wrong,
      List<String> underProtected,
      double seconds) {
    boolean passed() {
      return wrong.isEmpty();
    }
  }

  private static final int TRIES = 5;
  private static final long DEATH_MILLIS = 60_000;
  private static final long AFTER_END_NANOS = 1_500_000_000;
  private static final long END_MILLIS = 240_000;
  private static final Set<TransitionStateProto> GOOD_ENDS =
      EnumSet.of(TransitionStateProto.DONE, TransitionStateProto.DROPPED);

  private final VerifyCluster cluster;
  private final KillCase cell;
  private final Random random;
  private final List<String> wrong = new ArrayList<>();
  private List<String> underProtected = List.of();
  private long before;

  KillRun(VerifyCluster cluster, KillCase cell, Random random) {
    this.cluster = cluster;
    this.cell = cell;
    this.random = random;
  }

  Result run(String directory) throws Exception {
    long start = System.nanoTime();
    List<CodeFamily> families = TransitionScenario.families(cluster.codes(), cell.kind());
    CodeFamily family = families.get(random.nextInt(families.size()));
    Set<String> all = cluster.local().running().keySet();
    List<String> died = List.of();
    for (int attempt = 0; attempt < TRIES && died.isEmpty(); attempt++) {
      TransitionScenario scenario =
          new TransitionScenario(cluster, cell.kind(), family, random, directory + "-" + attempt);
      scenario.prepare();
      // The first attempt may skip some passings of the point. If the transition passes the point
      // less often, or by chance not at all, the next attempt skips none.
      int skip = attempt == 0 ? random.nextInt(3) : 0;
      died = kill(scenario, all, cell.isPassedOnce() ? 0 : skip);
      for (String process : died) {
        cluster.restart(process);
      }
      awaitEnd(scenario);
      check(scenario);
      scenario.clear();
    }
    if (died.isEmpty()) {
      wrong.add("the point was not reached in " + TRIES + " tries");
    }
    return new Result(
        cell,
        family.name(),
        String.join(" + ", died),
        outcome(),
        wrong,
        underProtected,
        (System.nanoTime() - start) / 1e9);
  }

  // ---- the death --------------------------------------------------------------------------------

  /** Arms the point and triggers the transition. Returns the processes that died. */
  private List<String> kill(TransitionScenario scenario, Set<String> all, int skip)
      throws Exception {
    before = cluster.lastTransition();
    cluster.local().arm(cell.point(), Armed.KILL.after(skip));
    Thread trigger = new Thread(() -> triggerQuietly(scenario), "trigger");
    trigger.start();
    try {
      boolean ended = false;
      long deadline = System.nanoTime() + DEATH_MILLIS * 1_000_000;
      while (System.nanoTime() < deadline) {
        List<String> dead = dead(all, scenario);
        if (!dead.isEmpty()) {
          return withSecondDeath(dead);
        }
        if (!ended && !trigger.isAlive() && ended()) {
          // Some points are passed only after the end of the transition.
          ended = true;
          deadline = Math.min(deadline, System.nanoTime() + AFTER_END_NANOS);
        }
        Thread.sleep(5);
      }
      return List.of();
    } finally {
      cluster.local().disarm(cell.point());
      trigger.join();
    }
  }

  /** The processes that do not run and are not meant to be away. */
  private List<String> dead(Set<String> all, TransitionScenario scenario) {
    // Asked before the running ones: a server starts before it stops being away.
    Set<String> away = scenario.away();
    List<String> dead = new ArrayList<>(all);
    dead.removeAll(away);
    dead.removeAll(cluster.local().running().keySet());
    return dead;
  }

  /**
   * Kills the second process of the case, if any. Returns all dead in the order to restart them.
   */
  private List<String> withSecondDeath(List<String> dead) throws Exception {
    return switch (cell.also()) {
      case KillCase.NAMENODE -> {
        cluster.local().killNamenode();
        // First: all other processes are ready only once they have registered with the namenode.
        List<String> both = new ArrayList<>(List.of(KillCase.NAMENODE));
        both.addAll(dead);
        yield both;
      }
      case KillCase.CONTROL -> {
        cluster.local().killControl();
        List<String> both = new ArrayList<>(dead);
        both.add(KillCase.CONTROL);
        yield both;
      }
      default -> dead;
    };
  }

  private void triggerQuietly(TransitionScenario scenario) {
    try {
      scenario.trigger();
    } catch (Exception e) {
      // The process that should have answered is dead. awaitEnd triggers again once it is back.
      return;
    }
  }

  /** Whether a transition has begun and all have ended. */
  private boolean ended() {
    try {
      List<TransitionRow> rows = cluster.transitionsAfter(before);
      return !rows.isEmpty() && rows.stream().noneMatch(VerifyCluster::isActive);
    } catch (IOException e) {
      return false;
    }
  }

  // ---- the end ----------------------------------------------------------------------------------

  /** Triggers the transition again if none has begun, and waits until the cluster is at rest. */
  private void awaitEnd(TransitionScenario scenario) throws InterruptedException {
    try {
      VerifyCluster.await(
          "a transition and its end",
          END_MILLIS,
          () -> {
            if (cluster.probe().cluster().getSafeMode()) {
              return "safe mode";
            }
            if (!scenario.away().isEmpty()
                || cluster.transitionsAfter(before).stream()
                    .noneMatch(r -> r.getKind() == cell.kind())) {
              retrigger(scenario);
            }
            if (!ended()) {
              return "transitions " + cluster.transitionsAfter(before);
            }
            String whyNotAtRest = cluster.whyNotAtRest();
            return whyNotAtRest != null ? whyNotAtRest : scenario.unfinished();
          });
    } catch (VerifyException e) {
      wrong.add(e.getMessage());
    }
  }

  private static void retrigger(TransitionScenario scenario) throws IOException {
    try {
      scenario.trigger();
    } catch (ClusterException e) {
      throw new IOException(e);
    } catch (InterruptedException e) {
      throw new InterruptedIOException("while triggering");
    }
  }

  private void check(TransitionScenario scenario) throws Exception {
    for (TransitionRow row : cluster.transitionsAfter(before)) {
      if (!GOOD_ENDS.contains(row.getState())) {
        wrong.add(
            "transition %d %s is %s: %s"
                .formatted(row.getId(), row.getKind(), row.getState(), row.getFailure()));
      }
    }
    boolean done =
        cluster.transitionsAfter(before).stream()
            .anyMatch(r -> r.getKind() == cell.kind() && r.getState() == TransitionStateProto.DONE);
    if (done && KillCase.PROPOSED.contains(cell.kind())) {
      for (StripeStatusProto stripe : cluster.probe().stripes()) {
        if (!stripe.getStripe().getCode().equals(scenario.result().name())) {
          wrong.add(
              "%s is done, but a stripe is in %s"
                  .formatted(cell.kind(), stripe.getStripe().getCode()));
        }
      }
    }
    ClusterAudit audit = new ClusterAudit(cluster).all(scenario.files());
    wrong.addAll(audit.wrong());
    underProtected = audit.underProtected();
  }

  private String outcome() throws IOException {
    Map<String, Integer> ends = new TreeMap<>();
    for (TransitionRow row : cluster.transitionsAfter(before)) {
      ends.merge(
          "%s %s (attempt %d)".formatted(row.getKind(), row.getState(), row.getAttempt()),
          1,
          Integer::sum);
    }
    return String.join(", ", ends.keySet());
  }
}
