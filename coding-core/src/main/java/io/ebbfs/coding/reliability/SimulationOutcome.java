package io.ebbfs.coding.reliability;

/**
 * The outcome of a {@link ClusterSimulation}. Immutable.
 *
 * @param losses how many stripes stopped decoding
 * @param stripeYears simulated time, summed over the stripes
 * @param repairedBlocks how many blocks were rebuilt
 * @param repairBytes read and written by the repairs
 * @param atRiskStripeYears time with at least one lost block, summed over the stripes
 */
public record SimulationOutcome(
    long losses,
    double stripeYears,
    long repairedBlocks,
    double repairBytes,
    double atRiskStripeYears) {
  /** Mean time to data loss of a stripe in years; infinite if none was lost. */
  public double meanTimeToLossYears() {
    return losses == 0 ? Double.POSITIVE_INFINITY : stripeYears / losses;
  }

  /**
   * The 95% confidence interval of the mean time to loss in years: the lower and the upper bound.
   * The losses are a Poisson count, whose square root is nearly normal with a deviation of a half.
   */
  public double[] interval95() {
    double root = Math.sqrt(losses + 0.375);
    double most = Math.pow(root + 0.98, 2);
    double least = Math.pow(Math.max(0, root - 0.98), 2);
    return new double[] {stripeYears / most, stripeYears / least};
  }

  /** One standard deviation of the mean time, relative to the mean. */
  double relativeError() {
    return losses == 0 ? Double.POSITIVE_INFINITY : 1 / Math.sqrt(losses);
  }
}
