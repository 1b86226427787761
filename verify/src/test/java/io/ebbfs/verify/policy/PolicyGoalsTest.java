package io.ebbfs.verify.policy;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.verify.policy.PolicyGoals.Goal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PolicyGoalsTest {
  private static final String ABOVE_ORACLE = ": at most 15% above the oracle on CC1";
  private static final String HOTTEST =
      "auto: degraded reads of the hottest tenth at most 5% slower than with threshold on CC1";

  private final Map<String, List<Ledger.Figures>> systems = new LinkedHashMap<>();

  PolicyGoalsTest() {
    PolicySystem.all().forEach(system -> set(system.name(), 1, 0.1, 2000.0));
    set(PolicyComparison.ORACLE, 1, 0.1, 2000.0);
    set(PolicyComparison.ORACLE_NET, 1, 0.1, 2000.0);
  }

  private void set(String system, double net, double degraded, Double hotMillis) {
    Ledger.Figures figures =
        new Ledger.Figures(net - degraded, 0, 0, 0, degraded, 3000, 1.4, 0, hotMillis);
    systems.put(system, List.of(figures, figures));
  }

  private Optional<Goal> goal(String name) {
    return PolicyGoals.judge(List.of(new ComparedPolicies.Result("CC1", systems))).stream()
        .filter(goal -> goal.name().equals(name))
        .findFirst();
  }

  /** Both move as much, but readers of "auto" wait for ten times as much. */
  @Test
  void theDefaultIsJudgedByMovesAndWaits() {
    set(PolicySystem.AUTO, 1, 0.2, 2000.0);
    set(PolicyComparison.ORACLE, 1, 0.02, 2000.0);
    Goal goal = goal(PolicySystem.AUTO + ABOVE_ORACLE).orElseThrow();
    assertThat(goal.confirmed()).isFalse();
    assertThat(goal.text())
        .contains("auto moves and waits for 1200.00, +17.6%", "'oracle' with 1020.00")
        .contains("in net bytes alone +0.0%");
  }

  /** Its oracle waits for nothing, either, so that it may move less. */
  @Test
  void theOneWhoseWaitsAreFreeIsJudgedByMovesAlone() {
    set(PolicySystem.AUTO_WAITS_FREE, 1.14, 0.9, 2000.0);
    set(PolicyComparison.ORACLE, 0.5, 0, 2000.0);
    assertThat(goal(PolicySystem.AUTO_WAITS_FREE + ABOVE_ORACLE).orElseThrow().confirmed())
        .isTrue();
    set(PolicyComparison.ORACLE_NET, 0.99, 0.9, 2000.0);
    assertThat(goal(PolicySystem.AUTO_WAITS_FREE + ABOVE_ORACLE).orElseThrow().confirmed())
        .isFalse();
  }

  @Test
  void readersOfTheHottestFilesWaitNotMuchLongerThanWithAThreshold() {
    set(PolicySystem.AUTO, 1, 0.1, 2100.0);
    assertThat(goal(HOTTEST).orElseThrow().confirmed()).isTrue();
    set(PolicySystem.AUTO, 1, 0.1, 2101.0);
    Goal goal = goal(HOTTEST).orElseThrow();
    assertThat(goal.confirmed()).isFalse();
    assertThat(goal.text()).contains("auto takes 2101 ms", "against threshold with 2000 ms");
  }

  @Test
  void olderFiguresAreNotJudgedByWhatTheyDoNotTell() {
    PolicySystem.all().forEach(system -> set(system.name(), 1, 0.1, null));
    systems.remove(PolicyComparison.ORACLE_NET);
    assertThat(goal(HOTTEST)).isEmpty();
    assertThat(goal(PolicySystem.AUTO_WAITS_FREE + ABOVE_ORACLE)).isEmpty();
    assertThat(goal(PolicySystem.AUTO + ABOVE_ORACLE)).isPresent();
  }
}
