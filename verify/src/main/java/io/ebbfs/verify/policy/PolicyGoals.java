package io.ebbfs.verify.policy;

import io.ebbfs.manager.economics.Prices;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * Judges the goals of the policy "auto" by the means over the seeds. The first goal counts no waits
 * of readers, so it is judged for the same policy without a price of waits, too. The second one
 * judges each of the two by what the policy and its oracle minimise. The third one is about waits,
 * so only the policy that has a price for them is judged.
 */
final class PolicyGoals {
  private static final double ABOVE_SINGLE = 1.02;
  private static final double ABOVE_ORACLE = 1.15;
  private static final double SLOWER_THAN_THRESHOLD = 1.05;

  /** The replicas of the first hours are not encoded data, which the bound is about. */
  static final double REPLICA_SLACK = 0.02;

  private static final Set<String> WITH_ORACLE = Set.of("trace", "CC1", "CC2", "CC3", "CC4");

  private static final Judged AUTO =
      new Judged(PolicySystem.AUTO, PolicyComparison.ORACLE, Prices.DEFAULT.reader());
  private static final Judged WAITS_FREE =
      new Judged(PolicySystem.AUTO_WAITS_FREE, PolicyComparison.ORACLE_NET, 0);

  private PolicyGoals() {}

  /**
   * A policy and the oracle that minimises the same.
   *
   * @param reader the price of waits that both have
   */
  private record Judged(String system, String oracle, double reader) {
    double objective(Ledger.Figures figures) {
      return figures.objective(reader);
    }

    String what() {
      return reader == 0 ? "moves" : "moves and waits for";
    }
  }

  /** A goal for one workload, in the words that people read. */
  record Goal(String name, boolean confirmed, String text) {}

  static List<Goal> judge(List<ComparedPolicies.Result> results) {
    List<Goal> goals = new ArrayList<>();
    goals.addAll(judge(AUTO, results));
    goals.addAll(judge(WAITS_FREE, results));
    results.forEach(result -> hottest(result).ifPresent(goals::add));
    return goals;
  }

  private static List<Goal> judge(Judged judged, List<ComparedPolicies.Result> results) {
    List<Goal> goals = new ArrayList<>();
    results.forEach(result -> goals.add(single(judged.system, result)));
    results.stream()
        .filter(result -> WITH_ORACLE.contains(result.workload()))
        // Older figures have one oracle only.
        .filter(result -> result.systems().containsKey(judged.oracle))
        .forEach(result -> goals.add(oracle(judged, result)));
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
            bySeed(result, system, best, Ledger.Figures::net),
            best,
            net(result, best) * 1000,
            ofAll,
            net(result, ofAll) * 1000));
  }

  private static Goal oracle(Judged judged, ComparedPolicies.Result result) {
    double auto = PolicyTable.mean(result.systems().get(judged.system), judged::objective);
    double oracle = PolicyTable.mean(result.systems().get(judged.oracle), judged::objective);
    return new Goal(
        judged.system + ": at most 15% above the oracle on " + result.workload(),
        auto <= oracle * ABOVE_ORACLE,
        String.format(
            Locale.ROOT,
            "%s %s %.2f, %+.1f%% (%s) against '%s' with %.2f; in net bytes alone %+.1f%%",
            judged.system,
            judged.what(),
            auto * 1000,
            (auto / oracle - 1) * 100,
            bySeed(result, judged.system, judged.oracle, judged::objective),
            judged.oracle,
            oracle * 1000,
            (net(result, judged.system) / net(result, judged.oracle) - 1) * 100));
  }

  /** Empty if no seed tells the waits for the hottest files. */
  private static Optional<Goal> hottest(ComparedPolicies.Result result) {
    String system = PolicySystem.AUTO;
    String today = PolicySystem.THRESHOLD.name();
    OptionalDouble auto = PolicyTable.hotMillis(result.systems().get(system));
    OptionalDouble threshold = PolicyTable.hotMillis(result.systems().get(today));
    if (auto.isEmpty() || threshold.isEmpty()) {
      return Optional.empty();
    }
    double share = auto.getAsDouble() / threshold.getAsDouble();
    return Optional.of(
        new Goal(
            "%s: degraded reads of the hottest tenth at most 5%% slower than with %s on %s"
                .formatted(system, today, result.workload()),
            share <= SLOWER_THAN_THRESHOLD,
            String.format(
                Locale.ROOT,
                "%s takes %.0f ms, %+.1f%% (%s) against %s with %.0f ms",
                system,
                auto.getAsDouble(),
                (share - 1) * 100,
                bySeed(result, system, today, Ledger.Figures::hotDegradedMillis),
                today,
                threshold.getAsDouble())));
  }

  /**
   * The gap of each seed, whose traffic both systems share: the mean and its 95% interval. Seeds
   * without the figure are left out.
   */
  private static String bySeed(
      ComparedPolicies.Result result,
      String auto,
      String other,
      Function<Ledger.Figures, Double> figure) {
    List<Ledger.Figures> autos = result.systems().get(auto);
    List<Ledger.Figures> others = result.systems().get(other);
    MeanOfSeeds gap =
        MeanOfSeeds.of(
            IntStream.range(0, autos.size())
                .filter(seed -> figure.apply(autos.get(seed)) != null)
                .filter(seed -> figure.apply(others.get(seed)) != null)
                .mapToObj(
                    seed ->
                        100 * (figure.apply(autos.get(seed)) / figure.apply(others.get(seed)) - 1))
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
}
