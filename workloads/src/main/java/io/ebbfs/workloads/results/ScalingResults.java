package io.ebbfs.workloads.results;

import java.util.List;

/**
 * What operations cost with several namenodes on a shared store; the content of a JSON file.
 *
 * @param connections of the load generators, over all namenodes
 * @param rows one per kind of operation and cluster
 */
public record ScalingResults(
    MetadataResults.Environment environment, int connections, List<Row> rows) {
  /**
   * A kind of operation on one cluster; medians of its runs.
   *
   * @param namenodes all of which serve
   * @param storeNodes nodes of the store; each row has a copy on each of up to three
   * @param namenodeMicrosPerOp processor time of all namenodes per operation, without the compilers
   *     of their JVMs
   * @param storeMicrosPerOp the same of all nodes of the store
   * @param compilerMicrosPerOp processor time of the compilers of all these JVMs per operation
   * @param roundTripsPerOp calls of the store by the namenodes: reads, scans, locking reads and
   *     commits
   * @param commitsPerOp the commits among them
   * @param conflictsPerOp transactions that began again, because another one was faster
   */
  public record Row(
      String name,
      int namenodes,
      int storeNodes,
      double opsPerSecond,
      double namenodeMicrosPerOp,
      double storeMicrosPerOp,
      double compilerMicrosPerOp,
      double roundTripsPerOp,
      double commitsPerOp,
      double conflictsPerOp) {
    /** Processor time of all processes of the metadata per operation, without the compilers. */
    public double microsPerOp() {
      return namenodeMicrosPerOp + storeMicrosPerOp;
    }
  }
}
