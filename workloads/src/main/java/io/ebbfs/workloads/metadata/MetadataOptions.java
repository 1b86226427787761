package io.ebbfs.workloads.metadata;

import java.util.List;

/**
 * What a benchmark of metadata measures.
 *
 * @param rows names of {@link RowNames#ALL}
 * @param loads the rows of operations are measured with each of them in turn
 * @param rounds runs per row and system
 * @param seconds length of a run of the rows that belong to no load
 * @param ebbfsOnly without HDFS
 * @param heapMebibytes of each namenode
 * @param sizes of what is large
 */
public record MetadataOptions(
    List<String> rows,
    List<Load> loads,
    int rounds,
    double seconds,
    boolean quick,
    boolean ebbfsOnly,
    int heapMebibytes,
    Sizes sizes) {
  /**
   * Sizes.
   *
   * @param directoryFiles of the directory that is renamed and deleted, each with a block
   * @param namespaceFiles of the namespaces with which a namenode starts
   * @param starts per namespace and system
   * @param cacheMebibytes the cache of EbbFS's namenode ({@code storeCache}) when it starts with
   *     these namespaces
   */
  public record Sizes(
      int directoryFiles, List<Integer> namespaceFiles, int starts, int cacheMebibytes) {
    public Sizes {
      namespaceFiles = List.copyOf(namespaceFiles);
    }
  }

  public MetadataOptions {
    rows = List.copyOf(rows);
    loads = List.copyOf(loads);
  }

  List<String> operations() {
    return RowNames.OPERATIONS.stream().filter(rows::contains).toList();
  }
}
