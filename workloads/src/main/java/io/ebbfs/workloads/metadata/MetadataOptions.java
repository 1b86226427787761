package io.ebbfs.workloads.metadata;

import java.util.List;

/**
 * What a benchmark of metadata measures.
 *
 * @param rows names of {@link RowNames#ALL}
 * @param nativeConnections the rows are measured with each of these numbers
 * @param fewRowsConnections with these numbers only {@link #FEW_ROWS} are measured
 * @param stockConnections of stock clients; none: without stock clients
 * @param rounds runs per row and system
 * @param seconds length of a run
 * @param warmUpSeconds length of the unmeasured run of each row before the first round
 * @param ebbfsOnly without HDFS
 * @param heapMebibytes of each namenode
 * @param sizes of what is large
 */
public record MetadataOptions(
    List<String> rows,
    List<Integer> nativeConnections,
    List<Integer> fewRowsConnections,
    List<Integer> stockConnections,
    int rounds,
    double seconds,
    double warmUpSeconds,
    boolean quick,
    boolean ebbfsOnly,
    int heapMebibytes,
    Sizes sizes) {
  /** Measured with numbers of connections that are measured shortly. */
  static final List<String> FEW_ROWS = List.of("create", "stat", "spotify");

  /**
   * Sizes.
   *
   * @param directoryFiles of the directory that is renamed and deleted, each with a block
   * @param namespaceFiles of the namespaces with which a namenode starts
   * @param starts per namespace and system
   */
  public record Sizes(int directoryFiles, List<Integer> namespaceFiles, int starts) {
    public Sizes {
      namespaceFiles = List.copyOf(namespaceFiles);
    }
  }

  public MetadataOptions {
    rows = List.copyOf(rows);
    nativeConnections = List.copyOf(nativeConnections);
    fewRowsConnections = List.copyOf(fewRowsConnections);
    stockConnections = List.copyOf(stockConnections);
  }

  List<String> operations() {
    return RowNames.OPERATIONS.stream().filter(rows::contains).toList();
  }
}
