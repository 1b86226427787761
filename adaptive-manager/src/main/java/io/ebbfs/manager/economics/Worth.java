package io.ebbfs.manager.economics;

/**
 * Weighs a conversion: what it earns over the time that data is expected to stay, against what it
 * moves. Unit: moves of a block per data block. Immutable.
 *
 * <p>Data is expected to stay as it is for as long as the memory covers, or for as long as it has
 * been in its code if that is longer. So the waste of a wrong code adds up until it pays for the
 * conversion, and the same expectation holds in both directions: at most one of them pays.
 */
public final class Worth {
  private final PairCost cost;
  private final Prices prices;
  private final FailureRates rates;
  private final double countedDays;
  private final double windowDays;

  public Worth(PairCost cost, Prices prices, Experience experience) {
    this.cost = cost;
    this.prices = prices;
    this.rates = experience.rates();
    this.countedDays = experience.countedDays();
    this.windowDays = Math.min(experience.memoryDays(), countedDays);
  }

  /**
   * What a conversion earns, and what it moves.
   *
   * @param days for which the data is expected to stay as it is
   */
  public record Sides(double earns, double costs, double days) {
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

  /** Moves a day that the fast code earns; negative if the compact code is worth more. */
  private double perDay(double reads) {
    return windowDays == 0 ? 0 : perRead() * reads / windowDays - perDay();
  }

  /** How long data is expected to stay as it is, but not for longer than reads were counted. */
  private double expectedDays(double daysInCode) {
    return Math.min(Math.max(windowDays, daysInCode), countedDays);
  }

  /** The days for which the reads of data of this age are known. */
  private double observedDays(double ageDays) {
    return Math.min(windowDays, ageDays);
  }

  /**
   * Data is encoded for the first time, into the fast code. That writes more parities than the
   * compact code has, and some day the data becomes compact.
   *
   * @param ageDays since the data was written; reads are expected to go on for as long, at most for
   *     as long as the memory covers
   */
  public Sides first(double reads, double ageDays) {
    double days = observedDays(ageDays);
    return new Sides(
        perRead() * reads - perDay() * days, cost.extraStored() + cost.toCompact(), days);
  }

  /** From so many remembered reads on, data of this age is encoded into the fast code. */
  public double firstReads(double ageDays) {
    return (perDay() * observedDays(ageDays) + cost.extraStored() + cost.toCompact()) / perRead();
  }

  /**
   * Data stays replicated for another while instead of becoming compact. A read of an absent block
   * copies one block then, and replicas store more. Nothing is moved, so whatever is earned pays.
   *
   * @param replicas stored bytes per byte
   */
  public Sides stayReplicated(double reads, double ageDays, double replicas) {
    CodeCost replicated = CodeCost.replicated(replicas);
    CodeCost compact = cost.compact();
    double days = observedDays(ageDays);
    double earnsPerRead =
        rates.unavailable()
            * (compact.degradedReads() - replicated.degradedReads())
            * (1 + prices.reader());
    double costsPerDay =
        prices.storage() * (replicated.stored() - compact.stored())
            - rates.lostPerDay() * (compact.repairMoves() - replicated.repairMoves());
    return new Sides(earnsPerRead * reads, costsPerDay * days, days);
  }

  /** Compact data becomes fast. Some day it becomes compact again, so both ways are paid for. */
  public Sides toFast(double reads, double daysInCode) {
    double days = expectedDays(daysInCode);
    return new Sides(perDay(reads) * days, cost.toFast() + cost.toCompact(), days);
  }

  /** Fast data becomes compact. */
  public Sides toCompact(double reads, double daysInCode) {
    double days = expectedDays(daysInCode);
    return new Sides(-perDay(reads) * days, cost.toCompact(), days);
  }

  /**
   * Colder fast data makes room for hotter compact data. The storage stays the same.
   *
   * @param hotterReads remembered reads of the compact data
   * @param colderReads mean of the fast data
   * @param colderPart bytes that become compact for each byte that becomes fast
   * @param daysInCode for which the hotter data has been compact
   */
  public Sides swap(double hotterReads, double colderReads, double colderPart, double daysInCode) {
    double days = expectedDays(daysInCode);
    double reads = hotterReads - colderReads * colderPart;
    return new Sides(
        windowDays == 0 ? 0 : perRead() * reads / windowDays * days,
        cost.toFast() + cost.toCompact() * colderPart,
        days);
  }
}
