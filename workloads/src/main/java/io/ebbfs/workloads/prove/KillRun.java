package io.ebbfs.workloads.prove;

import io.ebbfs.cluster.ClusterException;
import io.ebbfs.coding.CodeFamily;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.settings.FailPoints.Armed;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;

/** One case of the kill matrix on a cluster that is at rest and empty, and is so afterwards. */
final class KillRun {
  /**
   * What came of it.
   *
   * @param died the processes that died; empty if the point was never reached
   * @param outcome how the transition ended
   * @param wrong what was found that must not be; empty if the case passed
   * @param weak what was found that is not as good as it should be
   */
  record Result(
      KillCase cell,
      String family,
      String died,
      String outcome,
      List<String> wrong,
      List<String> weak,
      double seconds) {
    boolean passed() {
      return wrong.isEmpty();
    }
  }

  private static final int TRIES = 5;
  private static final long DEATH_MILLIS = 20_000;
  private static final long AFTER_END_NANOS = 1_500_000_000;
  private static final long END_MILLIS = 60_000;
  private static final Set<TransitionStateProto> GOOD_ENDS =
      EnumSet.of(TransitionStateProto.DONE, TransitionStateProto.DROPPED);

  private final ProvingCluster cluster;
  private final KillCase cell;
  private final Random random;
  private final List<String> wrong = new ArrayList<>();
  private List<String> weak = List.of();
  private long before;

  KillRun(ProvingCluster cluster, KillCase cell, Random random) {
    this.cluster = cluster;
    this.cell = cell;
    this.random = random;
  }

  Result run(String directory) throws Exception {
    long start = System.nanoTime();
    List<CodeFamily> families = Scenario.families(cell.kind());
    CodeFamily family = families.get(random.nextInt(families.size()));
    Set<String> all = cluster.local().running().keySet();
    List<String> died = List.of();
    for (int attempt = 0; attempt < TRIES && died.isEmpty(); attempt++) {
      Scenario scenario =
          new Scenario(cluster, cell.kind(), family, random, directory + "-" + attempt);
      scenario.prepare();
      // Points that are passed several times: sometimes a later one. A point that this transition
      // does not pass so often, or not at all by chance, is tried again.
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
        weak,
        (System.nanoTime() - start) / 1e9);
  }

  // ---- the death --------------------------------------------------------------------------------

  /** Arms the point, lets the transition happen, and says which processes died then. */
  private List<String> kill(Scenario scenario, Set<String> all, int skip) throws Exception {
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
          return withOther(dead);
        }
        if (!ended && !trigger.isAlive() && ended()) {
          // What comes after the end of the transition is still to be passed.
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

  /** What does not run, and is meant to. */
  private List<String> dead(Set<String> all, Scenario scenario) {
    // In this order: who is not away any more runs.
    Set<String> away = scenario.away();
    List<String> dead = new ArrayList<>(all);
    dead.removeAll(away);
    dead.removeAll(cluster.local().running().keySet());
    return dead;
  }

  /** Kills the other process of the case, too. They are started again in this order. */
  private List<String> withOther(List<String> dead) throws Exception {
    return switch (cell.also()) {
      case KillCase.NAMENODE -> {
        cluster.local().killNamenode();
        // Servers and control plane are only ready once they have registered with it.
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

  private void triggerQuietly(Scenario scenario) {
    try {
      scenario.trigger();
    } catch (Exception e) {
      // The process that should have answered is dead: it is triggered again once it is back.
      return;
    }
  }

  /** Whether a transition was there and is over. */
  private boolean ended() {
    try {
      List<TransitionRow> rows = cluster.transitionsAfter(before);
      return !rows.isEmpty() && rows.stream().noneMatch(ProvingCluster::isActive);
    } catch (IOException e) {
      return false;
    }
  }

  // ---- the end ----------------------------------------------------------------------------------

  /** Triggers again what did not come about, and waits until everything is at rest. */
  private void awaitEnd(Scenario scenario) throws InterruptedException {
    try {
      ProvingCluster.await(
          "a transition, and its end",
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
            String unrest = cluster.unrest();
            return unrest != null ? unrest : scenario.unfinished();
          });
    } catch (ProveException e) {
      wrong.add(e.getMessage());
    }
  }

  private static void retrigger(Scenario scenario) throws IOException {
    try {
      scenario.trigger();
    } catch (ClusterException e) {
      throw new IOException(e);
    } catch (InterruptedException e) {
      throw new InterruptedIOException("while triggering");
    }
  }

  private void check(Scenario scenario) throws Exception {
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
    Audit audit = new Audit(cluster).all(scenario.files());
    wrong.addAll(audit.wrong());
    weak = audit.weak();
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
