package io.ebbfs.manager.heat;

/**
 * A read count that halves every half-life: a read at time t counts 2^-((now - t) / halfLife). The
 * pair (count, at) stands for the whole history, and reads may be added in any order.
 */
record Decay(double count, long atMillis) {
  static final Decay NONE = new Decay(0, 0);

  /** The count at a time. A time before {@link #atMillis} is taken as {@link #atMillis}. */
  double at(long timeMillis, long halfLifeMillis) {
    return count * factor(Math.max(0, timeMillis - atMillis), halfLifeMillis);
  }

  Decay plusReads(long reads, long timeMillis, long halfLifeMillis) {
    if (timeMillis >= atMillis) {
      return new Decay(at(timeMillis, halfLifeMillis) + reads, timeMillis);
    }
    return new Decay(count + reads * factor(atMillis - timeMillis, halfLifeMillis), atMillis);
  }

  /** Adds another count, or takes it away again; the count does not fall below 0. */
  Decay plus(Decay other, long halfLifeMillis, int sign) {
    long later = Math.max(atMillis, other.atMillis);
    double sum = at(later, halfLifeMillis) + sign * other.at(later, halfLifeMillis);
    return new Decay(Math.max(0, sum), later);
  }

  private static double factor(long ageMillis, long halfLifeMillis) {
    return Math.pow(2, -(double) ageMillis / halfLifeMillis);
  }
}
