package io.ebbfs.coding.reliability;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.coding.Codes;
import io.ebbfs.coding.ErasureCode;
import io.ebbfs.coding.reliability.ClusterSimulation.Cluster;
import io.ebbfs.coding.reliability.ClusterSimulation.Outcome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClusterSimulationTest {
  private static final long SEED = 42;

  /** Failures so frequent that losses can be counted; nothing else differs from the model. */
  @ParameterizedTest
  @ValueSource(strings = {"PC(2x5)", "LRC(12,6,2)", "LRC(12,2,2)", "RS(6,3)"})
  void agreesWithTheMarkovChainWhereBothApply(String name) {
    ErasureCode code = Codes.byName(name);
    MarkovModel model = new MarkovModel(1, 40, 40);
    Cluster cluster = new Cluster(code.size(), 1, 1, 1, 1, 1, 0, 0, 0, 1);
    ClusterSimulation simulation =
        new ClusterSimulation(
            code, cluster, 1, SEED, (lost, random) -> -Math.log(1 - random.nextDouble()) / 40, 1);
    double expected = model.meanTimeToLossYears(code);
    Outcome outcome = simulation.run(2000 * expected);
    // One rate for all repairs, because one that has begun keeps its rate when a second block goes,
    // where the chain would draw anew. Four standard deviations of the count.
    assertThat(outcome.meanTimeToLossYears() / expected)
        .as("%s, seed %d, model %.3g years", outcome, SEED, expected)
        .isBetween(1 - 4 * outcome.relativeError(), 1 + 4 * outcome.relativeError());
  }

  @Test
  void correlatedFailuresCostMoreThanTheSameNumberOfSingleOnes() {
    ErasureCode code = Codes.byName("LRC(12,2,2)");
    // 8 servers hold two blocks of each stripe; 4 racks hold four.
    Cluster single = new Cluster(8, 4, 4, 50, 1e8, 8, 0, 0, 1, 1e6);
    Cluster racks = new Cluster(8, 4, 4, 50, 1e8, 0, 0, 8, 1, 1e6);
    long alone = new ClusterSimulation(code, single, 6.75, SEED).run(50).losses();
    long together = new ClusterSimulation(code, racks, 6.75, SEED).run(50).losses();
    assertThat(together).isGreaterThan(10 * Math.max(1, alone));
  }

  @Test
  void moreBandwidthMeansLessTimeAtRisk() {
    ErasureCode code = Codes.byName("RS(6,3)");
    Cluster slow = new Cluster(9, 2, 3, 100, 1e9, 2, 1, 0, 0.1, 1e6);
    Cluster fast = new Cluster(9, 2, 3, 100, 1e9, 2, 1, 0, 0.1, 1e8);
    assertThat(new ClusterSimulation(code, fast, 6, SEED).run(20).atRiskStripeYears())
        .isLessThan(new ClusterSimulation(code, slow, 6, SEED).run(20).atRiskStripeYears() / 5);
  }

  @Test
  void aClusterTooSmallForTheCodeIsRefused() {
    Cluster small = new Cluster(3, 4, 1, 1, 1, 1, 0, 0, 0, 1);
    assertThatThrownBy(() -> new ClusterSimulation(Codes.byName("PC(6x5)"), small, 5, SEED))
        .hasMessageContaining("needs 42 disks, the cluster has 12");
  }
}
