package io.ebbfs.verify.policy;

import io.ebbfs.manager.economics.Prices;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/** Compares redundancy policies on simulated traffic. It is deterministic. */
public final class PolicyComparison {
  static final String ORACLE = "oracle";
  static final String ORACLE_UNBOUND = "oracle, no bound";

  /** Waits of readers have no price, so that it minimises the net moves alone. */
  static final String ORACLE_NET = "oracle, net only";

  private final Options options;

  public PolicyComparison(Options options) {
    this.options = options;
  }

  /**
   * What is compared.
   *
   * @param seed the first seed
   * @param seeds how many
   * @param days that are simulated
   * @param workloads their names; empty for all
   * @param trace a recorded trace in the format of SWIM; without it that workload is left out
   */
  public record Options(
      long seed, int seeds, int days, List<String> workloads, Optional<Path> trace) {}

  /** The names of all workloads. */
  public static List<String> workloads() {
    return TrafficSource.names();
  }

  /** Runs all workloads with all seeds. */
  public ComparedPolicies run(PrintStream out) throws IOException {
    List<String> names = names(out);
    try {
      return new ComparedPolicies(
          ComparedPolicies.FORMAT, options.seed, options.seeds, options.days, results(names));
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private List<String> names(PrintStream out) {
    List<String> names =
        new ArrayList<>(options.workloads.isEmpty() ? TrafficSource.names() : options.workloads);
    if (options.trace.isEmpty() && names.remove(TrafficSource.TRACE)) {
      out.println("The workload 'trace' is left out: give a recorded trace with --trace FILE.");
    }
    return names;
  }

  /** Runs all workloads with all seeds, several at a time. */
  private List<ComparedPolicies.Result> results(List<String> names) {
    List<Map<String, Ledger.Figures>> runs =
        IntStream.range(0, names.size() * options.seeds)
            .parallel()
            .mapToObj(i -> compare(names.get(i / options.seeds), options.seed + i % options.seeds))
            .toList();
    List<ComparedPolicies.Result> results = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      Map<String, List<Ledger.Figures>> figures = new LinkedHashMap<>();
      runs.subList(i * options.seeds, (i + 1) * options.seeds)
          .forEach(
              run ->
                  run.forEach(
                      (name, one) ->
                          figures.computeIfAbsent(name, n -> new ArrayList<>()).add(one)));
      results.add(new ComparedPolicies.Result(names.get(i), figures));
    }
    return results;
  }

  private Map<String, Ledger.Figures> compare(String name, long seed) {
    FailureDraws failures = FailureDraws.draw(options.days * 24, seed);
    try {
      Traffic traffic =
          new TrafficSource(TrafficSource.FILES, options.days, options.trace)
              .make(name, seed, failures);
      return compare(traffic, failures);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** All systems on the same traffic and failures. */
  static Map<String, Ledger.Figures> compare(Traffic traffic, FailureDraws failures) {
    Map<String, Ledger.Figures> all = new LinkedHashMap<>();
    for (PolicySystem system : PolicySystem.all()) {
      all.put(system.name(), PolicySystemRun.of(system, traffic, failures));
    }
    double reader = Prices.DEFAULT.reader();
    all.put(ORACLE, FutureOracle.of(traffic, failures, true, reader));
    all.put(ORACLE_NET, FutureOracle.of(traffic, failures, true, 0));
    all.put(ORACLE_UNBOUND, FutureOracle.of(traffic, failures, false, reader));
    return all;
  }
}
