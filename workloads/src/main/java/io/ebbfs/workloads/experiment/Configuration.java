package io.ebbfs.workloads.experiment;

import io.ebbfs.workloads.experiment.Experiment.Policy;
import io.ebbfs.workloads.experiment.Experiment.Prices;
import io.ebbfs.workloads.experiment.Experiment.Variant;
import java.util.Locale;
import java.util.Map;

/** Writes the configuration of a system's cluster. */
final class Configuration {
  static final String POLICIES = "policies.yaml";

  /** Policies that match nothing, so that no data changes its code. */
  static final String NO_POLICIES =
      """
      policies:
        - name: none
          paths: [/nothing]
          family: product
          writeColdAfter: 1000d
          readHot: {perMiB: 1}
      """;

  private static final int COMBINES_PER_SERVER = 6;
  private static final int MOST_TASKS = 64;

  private Configuration() {}

  static Map<String, String> of(Experiment experiment, Variant system) {
    return Map.of(
        POLICIES,
        policies(experiment, system),
        "manager.yaml",
        manager(experiment.policy(), system),
        "namenode.yaml",
        namenode(experiment),
        "raid-node.yaml",
        raidNode(experiment),
        "chunk-server.yaml",
        "scrub: {period: 0s}\n");
  }

  /** A policy for each workload's tree, so that each has its own bound. */
  private static String policies(Experiment experiment, Variant system) {
    return system.codes().isEmpty()
        ? NO_POLICIES
        : policies(
            experiment,
            system
                .code()
                .map(Configuration::single)
                .orElseGet(() -> family(experiment.policy(), system)));
  }

  /** Policies that bring all data into one code, whatever is read. */
  static String allIn(Experiment experiment, String code) {
    return policies(experiment, single(code));
  }

  private static String single(String code) {
    return "    code: %s%n".formatted(code);
  }

  private static String family(Policy policy, Variant system) {
    return "    family: %s%n    storageBound: %s%n%s"
        .formatted(
            system.family().orElseThrow(),
            system.bound().map(String::valueOf).orElse("null"),
            system
                .prices()
                .map(prices -> priced(policy, prices))
                .orElseGet(() -> threshold(policy)));
  }

  private static String threshold(Policy policy) {
    return "    readHot: %s%n    hysteresis: %s%n"
        .formatted(policy.readHot(), plain(policy.hysteresis()));
  }

  private static String priced(Policy policy, Prices prices) {
    return "    readHot: auto%n    prices: {storage: %s, reader: %s}%n    waitWhileRead: %dms%n"
        .formatted(plain(prices.storage()), plain(prices.reader()), policy.waitWhileReadMillis());
  }

  private static String policies(Experiment experiment, String codes) {
    StringBuilder yaml = new StringBuilder("policies:\n");
    Policy policy = experiment.policy();
    for (String workload : experiment.data().workloads()) {
      yaml.append("  - name: %s%n    paths: [/%s]%n".formatted(workload, workload));
      yaml.append(codes);
      yaml.append(
          "    writeColdAfter: %dms%n    fillWait: %dms%n    maxBytesPerRun: 10GiB%n"
              .formatted(policy.writeColdAfterMillis(), policy.fillWaitMillis()));
    }
    return yaml.toString();
  }

  private static String manager(Policy policy, Variant system) {
    return """
    heat: {halfLife: %dms, memory: %dms, pruneEvery: 30s, pruneBelow: 0.0001}
    schedule: {evaluateEvery: 2s, sampleEvery: 2s}
    limits: {retryFailedAfter: 10s}
    startup: {requireFailureDomains: true, clusterWait: 60s}
    """
        .formatted(system.halfLifeMillis(), policy.memoryMillis());
  }

  private static String namenode(Experiment experiment) {
    return """
    minBlockSize: 64KiB
    deadAfter: %dms
    repairDelay: 0s
    combinesPerServer: 0
    readsPerServer: 0
    safeModeGrace: 20s
    orphanWait: 10s
    mendPlacements: false
    """
        .formatted(experiment.cluster().deadAfterMillis());
  }

  /**
   * Several combines run on each server at once. With one only, the link would be idle while a
   * block is written.
   */
  private static String raidNode(Experiment experiment) {
    return """
    mapTasks: %1$d
    combines: %1$d
    combinesPerServer: %2$d
    poll: 50ms
    scrub: {period: 0s}
    """
        .formatted(
            Math.min(MOST_TASKS, COMBINES_PER_SERVER * experiment.cluster().servers()),
            COMBINES_PER_SERVER);
  }

  private static String plain(double value) {
    return String.format(Locale.ROOT, "%s", value);
  }
}
