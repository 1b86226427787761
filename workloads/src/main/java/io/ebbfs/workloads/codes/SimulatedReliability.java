package io.ebbfs.workloads.codes;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.reliability.ClusterSimulation;
import io.ebbfs.coding.reliability.ExponentialRepairs;
import io.ebbfs.coding.reliability.MarkovModel;
import io.ebbfs.coding.reliability.SimulatedCluster;
import io.ebbfs.coding.reliability.SimulationOutcome;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;

/**
 * {@code ebb codes --simulate}: a Monte Carlo simulation beside the Markov chain, at rates that
 * make losses frequent enough to be counted. A second simulation is of a cluster whose servers fail
 * too, alone and in bursts.
 */
public final class SimulatedReliability {
  private static final MarkovModel FREQUENT = new MarkovModel(1, 30, 60);
  private static final int LOSSES = 2_000;

  /** 12 servers of 6 disks in 3 racks, which rebuild 1 MB/s each; failures are very frequent. */
  private static final SimulatedCluster CLUSTER =
      new SimulatedCluster(12, 6, 3, 100, 64e6, 1, 2, 0, 1, 1e6).withBursts(4, 2);

  private static final double CLUSTER_YEARS = 20;

  private SimulatedReliability() {}

  public static void print(List<ErasureCode> codes, long seed, PrintStream out) {
    out.printf(
        "seed %d. One stripe, %.0f failures per block-year, %.0f first and %.0f later repairs per"
            + " year:%n",
        seed,
        FREQUENT.failuresPerBlockYear(),
        FREQUENT.firstRepairsPerYear(),
        FREQUENT.laterRepairsPerYear());
    out.println("code               model, years  simulated  95% interval       losses");
    codes.forEach(code -> out.println(besideTheModel(code, seed)));
    out.println();
    out.printf(
        Locale.ROOT,
        "%d stripes on %d servers of %d disks in %d racks, %.0f years: each disk fails %.0f times a"
            + " year, each%nserver %.0f times, %d servers at once %.0f times; found after %.0f h;"
            + " %.0f MB/s of repairs a server:%n",
        CLUSTER.stripes(),
        CLUSTER.servers(),
        CLUSTER.disksPerServer(),
        CLUSTER.racks(),
        CLUSTER_YEARS,
        CLUSTER.diskFailuresPerYear(),
        CLUSTER.serverFailuresPerYear(),
        CLUSTER.serversPerBurst(),
        CLUSTER.burstsPerYear(),
        CLUSTER.detectionHours(),
        CLUSTER.repairBytesPerSecond() / 1e6);
    out.println(
        "code               lost per 1000 stripe-years  time at risk  blocks moved per repair");
    codes.forEach(code -> out.println(onTheCluster(code, seed)));
  }

  private static String besideTheModel(ErasureCode code, long seed) {
    double model = FREQUENT.meanTimeToLossYears(code);
    SimulatedCluster alone = new SimulatedCluster(code.size(), 1, 1, 1, 1, 1, 0, 0, 0, 1);
    ExponentialRepairs repairs =
        new ExponentialRepairs(FREQUENT.firstRepairsPerYear(), FREQUENT.laterRepairsPerYear());
    SimulationOutcome outcome =
        new ClusterSimulation(code, alone, seed, repairs, 1).run(Math.min(LOSSES * model, 200_000));
    double[] interval = outcome.interval95();
    return String.format(
        Locale.ROOT,
        "%-16s%15.2f%11.2f  %8.2f to %-8.2f%6d",
        code,
        model,
        outcome.meanTimeToLossYears(),
        interval[0],
        interval[1],
        outcome.losses());
  }

  private static String onTheCluster(ErasureCode code, long seed) {
    SimulationOutcome outcome = new ClusterSimulation(code, CLUSTER, seed).run(CLUSTER_YEARS);
    return String.format(
        Locale.ROOT,
        "%-16s%29.2f%13.3f%%%25.2f",
        code,
        1000 * outcome.losses() / outcome.stripeYears(),
        100 * outcome.atRiskStripeYears() / outcome.stripeYears(),
        outcome.repairBytes() / outcome.repairedBlocks() / CLUSTER.blockBytes());
  }
}
