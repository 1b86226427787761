package io.ebbfs.workloads.results;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;

/**
 * What EbbFS and HDFS did with the same data on the same machine; the content of a JSON file. A
 * megabyte is 10^6 bytes, a gigabyte 10^9.
 *
 * @param rows one per kind of work and number of clients
 */
public record DataResults(Environment environment, List<Row> rows) {
  /**
   * Where and how it ran.
   *
   * @param commit of the source tree
   * @param servers chunk servers, and as many DataNodes
   * @param disks of each: directories of one file system
   * @param rate of the links of the servers and of the measuring clients; null for loopback
   * @param nativeChecksums whether HDFS and the clients had Hadoop's native library
   * @param nativeErasureCoding whether they had ISA-L as well
   * @param loadBefore average number of runnable processes of the machine before the run, over one
   *     minute
   * @param loadAfter the same after it
   */
  public record Environment(
      String commit,
      String startedAt,
      int cores,
      String processor,
      String kernel,
      String java,
      String hadoop,
      int servers,
      int disks,
      long blockBytes,
      String rate,
      boolean nativeChecksums,
      boolean nativeErasureCoding,
      boolean quick,
      int rounds,
      long seed,
      double loadBefore,
      double loadAfter) {}

  /**
   * A kind of work.
   *
   * @param client what did it: {@code stock x16} is one JVM with 16 threads; {@code native x16,
   *     stock x16} is the native client on EbbFS, with 16 threads, beside such a JVM on HDFS
   * @param goal what EbbFS is to reach; empty if nothing is set
   * @param ebbfs null if it could not be measured
   * @param hdfs likewise
   * @param note why something is missing, or what else has to be known; empty if nothing
   */
  public record Row(String name, String client, String goal, Side ebbfs, Side hdfs, String note) {}

  /**
   * Medians of the rounds of one system. What does not apply is null.
   *
   * @param leastMegabytesPerSecond of the slowest round
   * @param greatestMegabytesPerSecond of the fastest round
   * @param cpuSecondsPerGB of all processes of the system and of the client
   * @param millis of the median part: a file, a read, a command; of the whole where there is one
   *     part
   * @param readCallsPerMB system calls of the servers that read files, and {@code sendfile}
   * @param writeCallsPerMB system calls of the servers that write files, and {@code sendfile}
   * @param cpuSeconds of all processes, of work that is not counted by the bytes of a client
   * @param bytes that a client wrote or read, or that were lost
   * @param seconds of the whole; those of a repair begin when the namenode knew of the loss
   * @param noticedSeconds from the loss until the namenode knew of it
   * @param serverLinkBytes that the servers received over links of a rate; those of a repair since
   *     the loss
   * @param clientLinkBytes that the clients received over such a link
   * @param linkBytesPerByte both for each of the bytes
   * @param trafficBytes that servers read and wrote for the work
   * @param plannedBytes the same by the plan of the code
   * @param idleCores processors that the other system kept busy meanwhile, though idle
   * @param otherCores processors that strangers kept busy meanwhile
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Side(
      Double megabytesPerSecond,
      Double leastMegabytesPerSecond,
      Double greatestMegabytesPerSecond,
      Double cpuSecondsPerGB,
      Double userCpuSecondsPerGB,
      Double systemCpuSecondsPerGB,
      Double clientCpuSecondsPerGB,
      Double namenodeCpuSecondsPerGB,
      Double serverCpuSecondsPerGB,
      Double millis,
      Double readCallsPerMB,
      Double writeCallsPerMB,
      Double cpuSeconds,
      Long bytes,
      Double seconds,
      Double noticedSeconds,
      Long serverLinkBytes,
      Long clientLinkBytes,
      Double linkBytesPerByte,
      Long trafficBytes,
      Long plannedBytes,
      Double idleCores,
      Double otherCores) {}
}
