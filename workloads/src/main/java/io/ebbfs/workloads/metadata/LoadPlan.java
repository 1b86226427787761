package io.ebbfs.workloads.metadata;

import io.ebbfs.workloads.results.MetadataResults;
import java.util.ArrayList;
import java.util.List;

/**
 * Plans the loads of a benchmark. Most of the time goes to the native client with {@link
 * #MAIN_CONNECTIONS} connections. These runs come first, with the longest warm-up.
 *
 * @param seconds length of every run; null for the usual lengths
 * @param warmUpSeconds unmeasured run of every row; null for the usual lengths
 */
public record LoadPlan(boolean quick, Double seconds, Double warmUpSeconds) {
  static final int MAIN_CONNECTIONS = 64;

  private static final List<Integer> OTHER_NATIVE = List.of(16, 1, 1000);
  private static final int OTHER_STOCK = 16;

  /** Lengths of runs, in seconds. */
  private record Lengths(double run, double warmUp) {}

  /**
   * The usual numbers of connections. A quick run measures all rows with {@link #MAIN_CONNECTIONS}
   * and few rows with the others.
   */
  public List<Load> usual(boolean withNative, boolean withStock) {
    List<Load> loads = new ArrayList<>();
    if (withNative) {
      loads.add(load(MetadataResults.NATIVE, MAIN_CONNECTIONS, false));
      OTHER_NATIVE.forEach(number -> loads.add(load(MetadataResults.NATIVE, number, quick)));
    }
    if (withStock) {
      loads.add(load(MetadataResults.STOCK, MAIN_CONNECTIONS, false));
      loads.add(load(MetadataResults.STOCK, OTHER_STOCK, quick));
    }
    return loads;
  }

  /** All rows with other numbers of connections. */
  public List<Load> of(List<Integer> connections, boolean withNative, boolean withStock) {
    List<Load> loads = new ArrayList<>();
    for (int number : withNative ? connections : List.<Integer>of()) {
      loads.add(load(MetadataResults.NATIVE, number, false));
    }
    for (int number : withStock ? connections : List.<Integer>of()) {
      loads.add(load(MetadataResults.STOCK, number, false));
    }
    return loads;
  }

  /** The length of the longest runs. */
  public double longestSeconds() {
    return lengths(MetadataResults.NATIVE, MAIN_CONNECTIONS).run();
  }

  private Load load(String client, int connections, boolean fewRows) {
    Lengths lengths = lengths(client, connections);
    return new Load(client, connections, fewRows, lengths.run(), lengths.warmUp());
  }

  private Lengths lengths(String client, int connections) {
    boolean main = client.equals(MetadataResults.NATIVE) && connections == MAIN_CONNECTIONS;
    Lengths usual =
        main
            ? quick ? new Lengths(1, 1.2) : new Lengths(2, 4)
            : quick ? new Lengths(0.5, 0.4) : new Lengths(1, 1);
    return new Lengths(
        seconds == null ? usual.run() : seconds,
        warmUpSeconds == null ? usual.warmUp() : warmUpSeconds);
  }
}
