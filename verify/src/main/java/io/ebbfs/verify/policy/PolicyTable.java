package io.ebbfs.verify.policy;

import java.io.PrintStream;
import java.util.List;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.function.ToDoubleFunction;

/** The tables and the JSON of the comparison. */
final class PolicyTable {
  private static final double THOUSAND = 1000;

  private PolicyTable() {}

  static void print(ComparedPolicies.Result result, PrintStream out) {
    out.printf("%n%s%n", result.workload());
    boolean tellsHottest =
        result.systems().values().stream().anyMatch(seeds -> hotMillis(seeds).isPresent());
    out.printf(
        "%-17s %8s %7s %9s %8s %8s %8s %8s %8s %9s %7s %9s%s%n",
        "system",
        "net",
        "+-95%",
        "net+wait",
        "ingest",
        "encode",
        "convert",
        "repair",
        "degraded",
        "wait ms",
        "stored",
        "conv/day",
        tellsHottest ? "%10s".formatted("hot ms") : "");
    result
        .systems()
        .forEach(
            (name, seeds) -> {
              MeanOfSeeds net = MeanOfSeeds.of(seeds, Ledger.Figures::net);
              out.printf(
                  "%-17s %8.2f %7.2f %9.2f %8.2f %8.2f %8.2f %8.2f %8.2f %9.0f %7.3f %9.4f%s%n",
                  name,
                  net.mean() * THOUSAND,
                  net.half() * THOUSAND,
                  mean(seeds, Ledger.Figures::objective) * THOUSAND,
                  mean(seeds, Ledger.Figures::ingest) * THOUSAND,
                  mean(seeds, Ledger.Figures::encode) * THOUSAND,
                  mean(seeds, Ledger.Figures::convert) * THOUSAND,
                  mean(seeds, Ledger.Figures::repair) * THOUSAND,
                  mean(seeds, Ledger.Figures::degraded) * THOUSAND,
                  mean(seeds, Ledger.Figures::degradedMillis),
                  mean(seeds, Ledger.Figures::stored),
                  mean(seeds, Ledger.Figures::conversions),
                  tellsHottest ? hottest(seeds) : "");
            });
  }

  static void print(List<PolicyGoals.Goal> goals, PrintStream out) {
    out.println();
    for (PolicyGoals.Goal goal : goals) {
      out.printf(
          "%s: %s: %s%n", goal.confirmed() ? "confirmed" : "refuted", goal.name(), goal.text());
    }
  }

  /** A column. A system without such reads has no figure. */
  private static String hottest(List<Ledger.Figures> seeds) {
    OptionalDouble millis = hotMillis(seeds);
    return millis.isPresent() ? "%10.0f".formatted(millis.getAsDouble()) : "%10s".formatted("-");
  }

  /**
   * The mean time of a read of an absent block of the hottest files, over the seeds that tell it.
   */
  static OptionalDouble hotMillis(List<Ledger.Figures> seeds) {
    return seeds.stream()
        .map(Ledger.Figures::hotDegradedMillis)
        .filter(Objects::nonNull)
        .mapToDouble(Double::doubleValue)
        .average();
  }

  static double mean(List<Ledger.Figures> seeds, ToDoubleFunction<Ledger.Figures> figure) {
    return MeanOfSeeds.of(seeds, figure).mean();
  }
}
