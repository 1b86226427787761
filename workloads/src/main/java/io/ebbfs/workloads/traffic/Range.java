package io.ebbfs.workloads.traffic;

/**
 * A range of shares, both ends included.
 *
 * @param from 0 to 1
 * @param to 0 to 1
 */
public record Range(double from, double to) {
  /** Whether a share is in the range. */
  public boolean contains(double value) {
    return value >= from && value <= to;
  }

  double middle() {
    return (from + to) / 2;
  }

  @Override
  public String toString() {
    return "%.0f-%.0f%%".formatted(100 * from, 100 * to);
  }
}
