package io.ebbfs.coding.reliability;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClusterSimulationTest {
  private static final long SEED = 42;

  /** Failures so frequent that losses can be counted; nothing else differs from the model. */
  @ParameterizedTest
  @ValueSource(strings = {"PC(2x5)", "LRC(12,6,2)", "LRC(12,2,2)", "RS(6,3)", "XOR(3,1)"})
  void agreesWithTheMarkovChainWhereBothApply(String name) {
    agrees(name, new MarkovModel(1, 40, 40));
    agrees(name, new MarkovModel(1, 30, 60));
  }

  private static void agrees(String name, MarkovModel model) {
    ErasureCode code = Codes.byName(name);
    SimulatedCluster cluster = new SimulatedCluster(code.size(), 1, 1, 1, 1, 1, 0, 0, 0, 1);
    ClusterSimulation simulation =
        new ClusterSimulation(
            code,
            cluster,
            SEED,
            new ExponentialRepairs(model.firstRepairsPerYear(), model.laterRepairsPerYear()),
            1);
    double expected = model.meanTimeToLossYears(code);
    SimulationOutcome outcome = simulation.run(1500 * expected);
    double[] interval = outcome.interval95();
    System.out.printf(
        "%s, seed %d: model %.4g years, simulated %.4g, 95%% of %.4g to %.4g, %d losses%n",
        name,
        SEED,
        expected,
        outcome.meanTimeToLossYears(),
        interval[0],
        interval[1],
        outcome.losses());
    // Four standard deviations: the seed is fixed, but a change of the order of draws is not a bug.
    assertThat(outcome.meanTimeToLossYears() / expected)
        .as("%s, seed %d, model %.3g years", outcome, SEED, expected)
        .isBetween(1 - 4 * outcome.relativeError(), 1 + 4 * outcome.relativeError());
  }

  /** Many stripes on shared disks are each what the model says, as long as disks fail alone. */
  @Test
  void agreesWithTheMarkovChainForManyStripesOnAFewDisks() {
    ErasureCode code = Codes.byName("RS(6,3)");
    MarkovModel model = new MarkovModel(1, 40, 40);
    SimulatedCluster cluster = new SimulatedCluster(12, 2, 3, 40, 1, 1, 0, 0, 0, 1);
    SimulationOutcome outcome =
        new ClusterSimulation(code, cluster, SEED, new ExponentialRepairs(40, 40), 1_000)
            .run(40 * model.meanTimeToLossYears(code));
    double expected = model.meanTimeToLossYears(code);
    System.out.printf(
        "40 stripes, seed %d: model %.4g years, simulated %.4g%n",
        SEED, expected, outcome.meanTimeToLossYears());
    // Stripes that share disks are lost together: fewer independent losses, a wider margin.
    assertThat(outcome.meanTimeToLossYears() / expected).isBetween(0.8, 1.25);
  }

  @Test
  void burstsOfServersCostMoreThanTheSameNumberAlone() {
    ErasureCode code = Codes.byName("RS(6,3)");
    SimulatedCluster alone = new SimulatedCluster(18, 2, 3, 60, 1e8, 0, 4, 0, 1, 1e7);
    SimulatedCluster bursts =
        new SimulatedCluster(18, 2, 3, 60, 1e8, 0, 0, 0, 1, 1e7).withBursts(18, 4);
    assertThat(new ClusterSimulation(code, bursts, SEED).run(50).losses())
        .isGreaterThan(20 * Math.max(1, new ClusterSimulation(code, alone, SEED).run(50).losses()));
  }

  @Test
  void repairsMoveWhatThePlansSay() {
    ErasureCode code = Codes.byName("RS(6,3)");
    SimulatedCluster cluster = new SimulatedCluster(12, 4, 3, 50, 1e6, 0.5, 0, 0, 0.01, 1e9);
    SimulationOutcome outcome = new ClusterSimulation(code, cluster, SEED).run(50);
    // Hardly ever two losses at once: six blocks read and one written for each.
    assertThat(outcome.repairedBlocks()).isGreaterThan(500);
    assertThat(outcome.repairBytes() / outcome.repairedBlocks() / 1e6).isBetween(6.95, 7.0001);
  }

  @Test
  void theIntervalOfNoLossHasNoUpperEnd() {
    double[] interval = new SimulationOutcome(0, 100, 0, 0, 0).interval95();
    assertThat(interval[0]).isBetween(20.0, 60.0);
    assertThat(interval[1]).isInfinite();
    double[] many = new SimulationOutcome(400, 4000, 0, 0, 0).interval95();
    assertThat(many[0]).isBetween(9.0, 9.2);
    assertThat(many[1]).isBetween(10.9, 11.2);
  }

  @Test
  void correlatedFailuresCostMoreThanTheSameNumberOfSingleOnes() {
    ErasureCode code = Codes.byName("LRC(12,2,2)");
    // 8 servers hold two blocks of each stripe; 4 racks hold four.
    SimulatedCluster single = new SimulatedCluster(8, 4, 4, 50, 1e8, 8, 0, 0, 1, 1e6);
    SimulatedCluster racks = new SimulatedCluster(8, 4, 4, 50, 1e8, 0, 0, 8, 1, 1e6);
    long alone = new ClusterSimulation(code, single, SEED).run(50).losses();
    long together = new ClusterSimulation(code, racks, SEED).run(50).losses();
    assertThat(together).isGreaterThan(10 * Math.max(1, alone));
  }

  @Test
  void moreBandwidthMeansLessTimeAtRisk() {
    ErasureCode code = Codes.byName("RS(6,3)");
    SimulatedCluster slow = new SimulatedCluster(9, 2, 3, 100, 1e9, 2, 1, 0, 0.1, 1e6);
    SimulatedCluster fast = new SimulatedCluster(9, 2, 3, 100, 1e9, 2, 1, 0, 0.1, 1e8);
    assertThat(new ClusterSimulation(code, fast, SEED).run(20).atRiskStripeYears())
        .isLessThan(new ClusterSimulation(code, slow, SEED).run(20).atRiskStripeYears() / 5);
  }

  @Test
  void aClusterTooSmallForTheCodeIsRefused() {
    SimulatedCluster small = new SimulatedCluster(3, 4, 1, 1, 1, 1, 0, 0, 0, 1);
    assertThatThrownBy(() -> new ClusterSimulation(Codes.byName("PC(6x5)"), small, SEED))
        .hasMessageContaining("needs 42 disks, the cluster has 12");
  }
}
