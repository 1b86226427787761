package io.ebbfs.workloads.traffic;

/**
 * What a share may be, both ends included.
 *
 * @param from 0 to 1
 * @param to 0 to 1
 */
public record Range(double from, double to) {
  /** Whether it is in it. */
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
