package io.ebbfs.manager.api;

import static io.ebbfs.manager.api.ActionAnswers.figures;
import static io.ebbfs.manager.api.ActionAnswers.overhead;

import io.ebbfs.common.config.ConfigException;
import io.ebbfs.common.config.Units;
import io.ebbfs.manager.api.ActionAnswers.Answer;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.view.PolicySums;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.function.ToLongFunction;

/**
 * The answers of /actions that change a storage bound in policies.yaml: that of a policy, or that
 * of the cluster. The figures follow from sums, so they cost the same for any number of files.
 */
final class BoundAnswers {
  private final ManagerState manager;
  private final ActionAnswers actions;

  BoundAnswers(ManagerState manager, ActionAnswers actions) {
    this.manager = manager;
    this.actions = actions;
  }

  Answer bound(Query query) {
    boolean dryRun = query.flag("dryRun");
    PolicyRule rule = actions.named(query.text("policy").orElse(""));
    double bound = query.decimal("bound", 1, 100);
    OptionalDouble before = rule.storageBound();
    edit(
        () -> {
          if (dryRun) {
            manager.policies().checkBound(rule.name(), bound);
          } else {
            manager.policies().setBound(rule.name(), bound, manager.nowMillis());
          }
        });
    Map<String, Number> figures = figuresOf(rule, bound);
    return actions.answer("bound", dryRun, summary(rule, before, bound, figures), figures);
  }

  Answer clusterBound(Query query) {
    boolean dryRun = query.flag("dryRun");
    double bound = query.decimal("bound", 1, 100);
    OptionalDouble before = manager.policies().current().policies().storageBound();
    edit(
        () -> {
          if (dryRun) {
            manager.policies().checkClusterBound(bound);
          } else {
            manager.policies().setClusterBound(bound, manager.nowMillis());
          }
        });
    Map<String, Number> figures = figuresOfCluster(bound);
    return actions.answer("clusterbound", dryRun, clusterSummary(before, bound, figures), figures);
  }

  private interface Edit {
    void run() throws ConfigException, IOException;
  }

  private void edit(Edit edit) {
    try {
      edit.run();
    } catch (ConfigException e) {
      throw new ApiException(
          400, e.getMessage().strip(), "correct this, and send the request again; nothing changed");
    } catch (IOException e) {
      throw new ApiException(
          500,
          "%s cannot be written (%s); nothing changed".formatted(manager.policies().path(), e),
          "let the user of the control plane write the file and its directory");
    }
  }

  private static List<String> summary(
      PolicyRule rule, OptionalDouble before, double bound, Map<String, Number> figures) {
    return List.of(
        "The bound of policy '%s' is %sx instead of %s, in policies.yaml and at once in force."
            .formatted(rule.name(), bound, show(before)),
        "Its encoded data stores %s now: %s."
            .formatted(
                overhead(figures.get("overheadNow").doubleValue()),
                effect(figures, "about %s of the coldest fast data become compact")));
  }

  private static List<String> clusterSummary(
      OptionalDouble before, double bound, Map<String, Number> figures) {
    List<String> lines = new ArrayList<>();
    lines.add(
        "The bound of the cluster is %sx instead of %s, in policies.yaml and at once in force; the bound of each policy holds besides."
            .formatted(bound, show(before)));
    lines.add(
        "The encoded data of all policies stores %s now: %s."
            .formatted(
                overhead(figures.get("overheadNow").doubleValue()),
                effect(
                    figures,
                    "deleted data is freed, or about %s of fast data, where it is worth least, become compact")));
    long still = figures.get("stillOverBytes").longValue();
    if (still > 0) {
      lines.add(
          "If all fast data becomes compact, %s are still too much: delete data, or give policies codes that store less."
              .formatted(Units.showBytes(still)));
    }
    return lines;
  }

  private static String show(OptionalDouble bound) {
    return bound.isPresent() ? bound.getAsDouble() + "x" : "none";
  }

  /**
   * @param remedy what happens to data that is too much, with a place for bytes
   */
  private static String effect(Map<String, Number> figures, String remedy) {
    long over = figures.get("overBytes").longValue();
    return over > 0
        ? "that is %s too much, so %s"
            .formatted(
                Units.showBytes(over),
                remedy.formatted(Units.showBytes(figures.get("toCompactBytes").longValue())))
        : "there is room for %s more, for data that is read often"
            .formatted(Units.showBytes(figures.get("roomBytes").longValue()));
  }

  private Map<String, Number> figuresOf(PolicyRule rule, double bound) {
    PolicySums sums = manager.view().sums().get(rule.name());
    long live = sums == null ? 0 : sums.liveBytes();
    long stored = sums == null ? 0 : sums.storedBytes();
    long fast = sums == null ? 0 : sums.fastBytes();
    double room = bound * live - stored;
    double saved = savedPerByte(rule);
    double toCompact = saved <= 0 ? 0 : Math.min(fast, Math.max(0, -room) / saved);
    return figures(
        "overheadNow", live == 0 ? 0.0 : (double) stored / live,
        "roomBytes", Math.round(Math.max(0, room)),
        "overBytes", Math.round(Math.max(0, -room)),
        "toCompactBytes", Math.round(toCompact));
  }

  /** Bytes that a byte of fast data stores less once it is compact. */
  private static double savedPerByte(PolicyRule rule) {
    return rule.family().fastCode().overhead() - rule.family().compactCode().overhead();
  }

  private Map<String, Number> figuresOfCluster(double bound) {
    Map<String, PolicySums> sums = manager.view().sums();
    long live = sum(sums, PolicySums::liveBytes);
    long stored = sum(sums, PolicySums::storedBytes);
    double room = bound * live - stored;
    double over = Math.max(0, -room);
    double saved = 0;
    for (PolicyRule rule : manager.policies().current().policies().rules()) {
      PolicySums own = sums.get(rule.name());
      saved += own == null ? 0 : own.fastBytes() * savedPerByte(rule);
    }
    double share = saved <= 0 ? 0 : Math.min(1, over / saved);
    return figures(
        "overheadNow", live == 0 ? 0.0 : (double) stored / live,
        "roomBytes", Math.round(Math.max(0, room)),
        "overBytes", Math.round(over),
        "toCompactBytes", Math.round(share * sum(sums, PolicySums::fastBytes)),
        "stillOverBytes", Math.round(Math.max(0, over - saved)));
  }

  private static long sum(Map<String, PolicySums> sums, ToLongFunction<PolicySums> what) {
    return sums.values().stream().mapToLong(what).sum();
  }
}
