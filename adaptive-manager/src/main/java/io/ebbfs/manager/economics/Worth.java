package io.ebbfs.manager.economics;

/**
 * Weighs a conversion: what it earns over the time that data is expected to stay, against what it
 * moves. Unit: moves of a block per data block. Immutable.
 *
 * <p>The future is taken to be as long as the past: data that was read n times within the memory
 * will be read n times again, and data that nobody has read for some days will not be read for as
 * many days. So at worst a conversion comes as late, or is as useless, as it is dear: the cost of
 * wrong guesses is at most the cost that right ones would have saved, plus the conversions that
 * this sum has paid for.
 */
public final class Worth {
  private final PairCost cost;
  private final Prices prices;
  private final FailureRates rates;
  private final double memoryDays;

  public Worth(PairCost cost, Prices prices, Experience experience) {
    this.cost = cost;
    this.prices = prices;
    this.rates = experience.rates();
    this.memoryDays = experience.memoryDays();
  }

  /** What a conversion earns, and what it moves. */
  public record Sides(double earns, double costs) {
    public boolean pays() {
      return earns > costs;
    }
  }

  /** Moves that the fast code saves for one read of a block, on average over all reads. */
  public double perRead() {
    return rates.unavailable() * cost.readsSaved() * (1 + prices.reader());
  }

  /** Moves a day that the fast code costs beside reads: its storage, less the repairs it saves. */
  public double perDay() {
    return prices.storage() * cost.extraStored() - rates.lostPerDay() * cost.repairsSaved();
  }

  /**
   * What the fast code earns over the expected stay; negative if the compact code is worth more.
   */
  public double ofFast(double reads) {
    return perRead() * reads - perDay() * memoryDays;
  }

  /**
   * From so many remembered reads on, the fast code is worth more: data that is encoded for the
   * first time goes there. 0 or less if the fast code is worth more in any case.
   */
  public double evenReads() {
    return perRead() == 0 ? Double.POSITIVE_INFINITY : perDay() * memoryDays / perRead();
  }

  /** From so many remembered reads on, compact data is worth the way to the fast code and back. */
  public double payingReads() {
    return perRead() == 0
        ? Double.POSITIVE_INFINITY
        : evenReads() + (cost.toFast() + cost.toCompact()) / perRead();
  }

  /** Compact data becomes fast. Some day it becomes compact again, so both ways are paid for. */
  public Sides toFast(double reads) {
    return new Sides(ofFast(reads), cost.toFast() + cost.toCompact());
  }

  /**
   * Fast data becomes compact.
   *
   * @param idleDays for which nobody has read it
   */
  public Sides toCompact(double reads, double idleDays) {
    return new Sides(
        perDay() * Math.max(memoryDays, idleDays) - perRead() * reads, cost.toCompact());
  }

  /**
   * Colder fast data makes room for hotter compact data. The storage stays the same.
   *
   * @param hotterReads remembered reads of the compact data
   * @param colderReads mean of the fast data
   * @param colderPart data blocks that become compact for each data block that becomes fast
   */
  public Sides swap(double hotterReads, double colderReads, double colderPart) {
    return new Sides(
        perRead() * (hotterReads - colderReads * colderPart),
        cost.toFast() + cost.toCompact() * colderPart);
  }
}
