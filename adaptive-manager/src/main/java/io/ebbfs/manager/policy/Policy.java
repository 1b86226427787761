package io.ebbfs.manager.policy;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.view.ClusterSnapshot;
import io.ebbfs.manager.view.FileView;
import io.ebbfs.manager.view.PolicyOfStripe;
import io.ebbfs.manager.view.StripeView;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The policy function. It is pure: the same snapshot gives the same evaluation, without effects.
 * Every file has a state with a reason, and every decision has a reason with its figures.
 */
public final class Policy {
  private Policy() {}

  /** Decides about the files and stripes of the snapshot. Thread-safe. */
  public static Evaluation decide(CodeRegistry codes, ClusterSnapshot snapshot) {
    return decide(codes, snapshot, Set.of());
  }

  /**
   * Decides about the files and stripes of the snapshot. Thread-safe.
   *
   * @param edited names of policies that decide nothing, and so take neither quota nor room: files
   *     are still being sorted by an edit of them
   */
  public static Evaluation decide(
      CodeRegistry codes, ClusterSnapshot snapshot, Set<String> edited) {
    Map<Long, FileView> filesById = new HashMap<>();
    Map<String, List<FileView>> filesByPolicy = new LinkedHashMap<>();
    Map<Long, PolicyRule> ruleOfFile = new HashMap<>();
    for (FileView file : snapshot.files()) {
      filesById.put(file.id(), file);
      file.policyOf(snapshot.policies())
          .ifPresent(
              rule -> {
                ruleOfFile.put(file.id(), rule);
                filesByPolicy.computeIfAbsent(rule.name(), n -> new ArrayList<>()).add(file);
              });
    }
    Map<String, List<StripeView>> stripesByPolicy = stripesByPolicy(snapshot, ruleOfFile);
    Verdicts verdicts = new Verdicts(snapshot);
    Evaluation result =
        new Evaluation(
            snapshot.nowMillis(), new ArrayList<>(), verdicts, List.of(), null, new ArrayList<>());
    TransitionQuota transitions =
        new TransitionQuota(
            snapshot.limits().maxPendingTransitions() - conversionsUnderWay(snapshot));
    ClusterBoundKeeper cluster = new ClusterBoundKeeper(snapshot);
    List<PolicyRun> runs = new ArrayList<>();
    for (PolicyRule rule : snapshot.policies().rules()) {
      PolicyView view =
          new PolicyView(
              codes,
              snapshot,
              rule,
              filesById,
              filesByPolicy.getOrDefault(rule.name(), List.of()),
              stripesByPolicy.getOrDefault(rule.name(), List.of()));
      runs.add(
          new PolicyRun(view, cluster.boundOf(view), transitions, edited.contains(rule.name())));
    }
    decide(runs, cluster, result.decisions());
    runs.forEach(run -> run.report(result));
    return new Evaluation(
        result.atMillis(),
        List.copyOf(result.decisions()),
        verdicts,
        runs.stream().map(PolicyRun::account).toList(),
        cluster.account(),
        List.copyOf(result.refusals()));
  }

  private static void decide(
      List<PolicyRun> runs, ClusterBoundKeeper cluster, List<Decision> decisions) {
    runs.forEach(run -> run.keepBound(decisions));
    cluster.keep(runs, decisions);
    runs.forEach(run -> run.encode(decisions));
    runs.forEach(run -> run.recode(decisions));
    runs.forEach(run -> run.release(decisions));
    // Encodings have entered the bound, so the cluster may be over its bound now.
    cluster.keep(runs, decisions);
    runs.forEach(run -> run.convert(decisions));
  }

  private static long conversionsUnderWay(ClusterSnapshot snapshot) {
    return snapshot.transitions().stream()
        .filter(t -> t.active() && t.kind() != TransitionKindProto.REPAIR && !t.ofNamenode())
        .count();
  }

  private static Map<String, List<StripeView>> stripesByPolicy(
      ClusterSnapshot snapshot, Map<Long, PolicyRule> ruleOfFile) {
    Map<String, List<StripeView>> stripes = new HashMap<>();
    for (StripeView stripe : snapshot.stripes().values()) {
      PolicyOfStripe.find(snapshot.policies(), stripe, ruleOfFile::get)
          .ifPresent(
              rule -> stripes.computeIfAbsent(rule.name(), n -> new ArrayList<>()).add(stripe));
    }
    return stripes;
  }
}
