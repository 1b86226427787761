package io.ebbfs.workloads.metadata;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * What a benchmark of metadata measures.
 *
 * @param rows names of {@link RowNames}
 * @param connections each row is measured with each of these numbers
 * @param rounds runs per row and system
 * @param seconds length of a run
 * @param warmUpSeconds length of the unmeasured run of each row before the first round
 * @param nativeOnly without stock clients
 * @param ebbfsOnly without HDFS
 * @param heapMebibytes of each namenode
 * @param json written at the end; the page lies beside it
 * @param directory for the files of both systems; a temporary one without it
 */
public record MetadataOptions(
    List<String> rows,
    List<Integer> connections,
    int rounds,
    double seconds,
    double warmUpSeconds,
    boolean quick,
    boolean nativeOnly,
    boolean ebbfsOnly,
    int heapMebibytes,
    Optional<Path> json,
    Optional<Path> directory) {
  public MetadataOptions {
    rows = List.copyOf(rows);
    connections = List.copyOf(connections);
  }
}
