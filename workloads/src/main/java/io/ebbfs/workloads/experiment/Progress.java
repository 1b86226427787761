package io.ebbfs.workloads.experiment;

import java.util.List;

/** Shows phase, duration and time left of a run, on a terminal in one line that is redrawn. */
final class Progress {
  private final String label;
  private final List<Double> took;
  private final int left;
  private final boolean terminal = System.console() != null;
  private final long start = System.nanoTime();

  /**
   * @param took seconds of each system that is done
   * @param left the number of systems to run, this one included
   */
  Progress(String label, List<Double> took, int left) {
    this.label = label;
    this.took = List.copyOf(took);
    this.left = left;
  }

  /** A phase begins. */
  void phase(String name) {
    double seconds = (System.nanoTime() - start) / 1e9;
    String rest = "";
    if (!took.isEmpty()) {
      double mean = took.stream().mapToDouble(Double::doubleValue).average().orElse(0);
      rest = ", about %.0f min left".formatted(Math.max(1, (mean * left - seconds) / 60));
    }
    System.out.printf(
        terminal ? "\r\033[K%s %s (%.0f s%s)" : "%s %s (%.0f s%s)%n", label, name, seconds, rest);
    System.out.flush();
  }

  /** Prints the last line. */
  void end(String text) {
    System.out.printf("%s%s %s%n", terminal ? "\r\033[K" : "", label, text);
  }
}
