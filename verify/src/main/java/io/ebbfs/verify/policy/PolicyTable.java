package io.ebbfs.verify.policy;

import java.io.PrintStream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** The tables and the JSON of the comparison. */
final class PolicyTable {
  private static final double THOUSAND = 1000;

  private PolicyTable() {}

  static void print(PolicyComparison.Result result, PrintStream out) {
    out.printf("%n%s%n", result.workload());
    out.printf(
        "%-17s %8s %7s %9s %8s %8s %8s %8s %8s %9s %7s %9s%n",
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
        "conv/day");
    result
        .systems()
        .forEach(
            (name, seeds) -> {
              MeanOfSeeds net = MeanOfSeeds.of(seeds, Ledger.Figures::net);
              out.printf(
                  "%-17s %8.2f %7.2f %9.2f %8.2f %8.2f %8.2f %8.2f %8.2f %9.0f %7.3f %9.4f%n",
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
                  mean(seeds, Ledger.Figures::conversions));
            });
  }

  static void print(List<PolicyGoals.Goal> goals, PrintStream out) {
    out.println();
    for (PolicyGoals.Goal goal : goals) {
      out.printf(
          "%s: %s: %s%n", goal.confirmed() ? "confirmed" : "refuted", goal.name(), goal.text());
    }
  }

  static double mean(List<Ledger.Figures> seeds, ToDoubleFunction<Ledger.Figures> figure) {
    return MeanOfSeeds.of(seeds, figure).mean();
  }

  static Map<String, Object> json(PolicyComparison.Result result) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", result.workload());
    json.put(
        "systems",
        result.systems().entrySet().stream().map(e -> json(e.getKey(), e.getValue())).toList());
    return json;
  }

  private static Map<String, Object> json(String name, List<Ledger.Figures> seeds) {
    Map<String, Object> json = new LinkedHashMap<>();
    MeanOfSeeds net = MeanOfSeeds.of(seeds, Ledger.Figures::net);
    json.put("name", name);
    json.put("netBytesPerByteDay", net.mean());
    json.put("netHalfWidth95", net.half());
    json.put("netAndWaitPerByteDay", mean(seeds, Ledger.Figures::objective));
    json.put("degradedReadMillis", mean(seeds, Ledger.Figures::degradedMillis));
    json.put("storedPerByte", mean(seeds, Ledger.Figures::stored));
    json.put("ingest", mean(seeds, Ledger.Figures::ingest));
    json.put("encode", mean(seeds, Ledger.Figures::encode));
    json.put("convert", mean(seeds, Ledger.Figures::convert));
    json.put("repair", mean(seeds, Ledger.Figures::repair));
    json.put("degraded", mean(seeds, Ledger.Figures::degraded));
    json.put("conversionsPerFileDay", mean(seeds, Ledger.Figures::conversions));
    return json;
  }
}
