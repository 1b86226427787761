package io.ebbfs.verify.policy;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Judges the goals of the policy "auto" by the means over the seeds. The goals count no waits of
 * readers, so they are judged for the same policy without a price of waits, too.
 */
final class PolicyGoals {
  private static final double ABOVE_SINGLE = 1.02;
  private static final double ABOVE_ORACLE = 1.15;

  /** The replicas of the first hours are not encoded data, which the bound is about. */
  static final double REPLICA_SLACK = 0.02;

  private static final Set<String> WITH_ORACLE = Set.of("trace", "CC1", "CC2", "CC3", "CC4");

  private PolicyGoals() {}

  /** A goal for one workload, in the words that people read. */
  record Goal(String name, boolean confirmed, String text) {}

  static List<Goal> judge(List<ComparedPolicies.Result> results) {
    List<Goal> goals = new ArrayList<>();
    for (String auto : List.of(PolicySystem.AUTO, PolicySystem.AUTO_WAITS_FREE)) {
      results.forEach(result -> goals.add(single(auto, result)));
      results.stream()
          .filter(result -> WITH_ORACLE.contains(result.workload()))
          .forEach(result -> goals.add(oracle(auto, result)));
    }
    return goals;
  }

  private static Goal single(String system, ComparedPolicies.Result result) {
    double auto = net(result, system);
    String best = best(result, PolicySystem.BOUND + REPLICA_SLACK);
    String ofAll = best(result, Double.POSITIVE_INFINITY);
    double share = auto / net(result, best);
    return new Goal(
        system + ": at most 2% above the best single configuration on " + result.workload(),
        share <= ABOVE_SINGLE,
        String.format(
            Locale.ROOT,
            "%s moves %.2f, %+.1f%% (%s) against %s with %.2f (best of all: %s with %.2f)",
            system,
            auto * 1000,
            (share - 1) * 100,
            bySeed(result, system, best),
            best,
            net(result, best) * 1000,
            ofAll,
            net(result, ofAll) * 1000));
  }

  private static Goal oracle(String system, ComparedPolicies.Result result) {
    double auto = net(result, system);
    double oracle = net(result, PolicyComparison.ORACLE);
    return new Goal(
        system + ": at most 15% above the oracle on " + result.workload(),
        auto <= oracle * ABOVE_ORACLE,
        String.format(
            Locale.ROOT,
            "%s moves %.2f, %+.1f%% (%s) against the oracle with %.2f; with the readers' wait %+.1f%%",
            system,
            auto * 1000,
            (auto / oracle - 1) * 100,
            bySeed(result, system, PolicyComparison.ORACLE),
            oracle * 1000,
            (objective(result, system) / objective(result, PolicyComparison.ORACLE) - 1) * 100));
  }

  /** The gap of each seed, whose traffic both systems share: the mean and its 95% interval. */
  private static String bySeed(ComparedPolicies.Result result, String auto, String other) {
    List<Ledger.Figures> autos = result.systems().get(auto);
    List<Ledger.Figures> others = result.systems().get(other);
    MeanOfSeeds gap =
        MeanOfSeeds.of(
            IntStream.range(0, autos.size())
                .mapToObj(seed -> 100 * (autos.get(seed).net() / others.get(seed).net() - 1))
                .toList());
    return String.format(Locale.ROOT, "by seed %+.1f +- %.1f", gap.mean(), gap.half());
  }

  static String best(ComparedPolicies.Result result, double mostStored) {
    return PolicySystem.all().stream()
        .filter(PolicySystem::isSingle)
        .map(PolicySystem::name)
        .filter(
            name ->
                PolicyTable.mean(result.systems().get(name), Ledger.Figures::stored) <= mostStored)
        .min(Comparator.comparingDouble(name -> net(result, name)))
        .orElseThrow();
  }

  private static double net(ComparedPolicies.Result result, String system) {
    Map<String, List<Ledger.Figures>> systems = result.systems();
    return PolicyTable.mean(systems.get(system), Ledger.Figures::net);
  }

  private static double objective(ComparedPolicies.Result result, String system) {
    return PolicyTable.mean(result.systems().get(system), Ledger.Figures::objective);
  }
}
