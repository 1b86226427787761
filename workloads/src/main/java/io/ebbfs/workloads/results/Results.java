package io.ebbfs.workloads.results;

import java.util.List;
import java.util.Map;

/**
 * The raw results of one system in one experiment. They are kept in {@code runs/SYSTEM.json} beside
 * the report. They contain the time of each read and repair, not the mean. All lists are in the
 * order of time.
 *
 * @param format of the file
 * @param experiment the name of the experiment's file
 * @param system the system that ran
 * @param environment the cluster, the machine and the commit that it ran on
 * @param workloads the stored data, as it was when the faults began
 * @param reads latencies of reads of single full blocks
 * @param repairs losses and their repairs
 * @param conversions the cost of encoding and converting, one entry for each kind and code
 * @param storage samples, one each second
 * @param jobs durations of whole MapReduce jobs
 * @param incidents the faults of the timetable and their ends; empty without a timetable
 * @param duringIncidents reads of whole files during the timetable
 * @param seconds duration of each phase
 * @param notes remarks for the reader of the report
 * @param recording of a run that was recorded; null for others, and in files that were written
 *     before this field existed
 */
public record Results(
    int format,
    String experiment,
    SystemInfo system,
    Environment environment,
    List<WorkloadInfo> workloads,
    List<Reads> reads,
    List<Repair> repairs,
    List<Conversion> conversions,
    List<Sample> storage,
    List<Job> jobs,
    List<Incident> incidents,
    List<TimedRead> duringIncidents,
    Map<String, Double> seconds,
    List<String> notes,
    Recording recording) {
  /** A list that is missing in a file is empty: its figures were not measured. */
  public Results {
    experiment = experiment == null ? "" : experiment;
    workloads = listed(workloads);
    reads = listed(reads);
    repairs = listed(repairs);
    conversions = listed(conversions);
    storage = listed(storage);
    jobs = listed(jobs);
    incidents = listed(incidents);
    duringIncidents = listed(duringIncidents);
    seconds = seconds == null ? Map.of() : seconds;
    notes = listed(notes);
  }

  private static <T> List<T> listed(List<T> list) {
    return list == null ? List.of() : list;
  }

  /** The format that this class writes. */
  public static final int FORMAT = 1;

  /**
   * A system.
   *
   * @param name "pc-1.5": of the file and for programs
   * @param title "EbbFS-PC, bound 1.5": for people
   * @param fast the code of hot data; for a single code the same as {@code compact}; null for
   *     replicas
   * @param compact the code of cold data; null for replicas
   * @param bound stored bytes per byte of encoded data; null for none
   * @param readHot {@link #AUTO} if conversions have to earn what they cost; null for a threshold,
   *     for systems that do not adapt, and in files that were written before this field existed
   */
  public record SystemInfo(
      String name, String title, String fast, String compact, Double bound, String readHot) {
    /** The value of {@code readHot}, as in policies.yaml. */
    public static final String AUTO = "auto";

    public SystemInfo {
      title = title == null ? name : title;
    }

    /** Whether data changes its code. */
    public boolean adapts() {
      return fast != null && !fast.equals(compact);
    }

    /** Whether conversions have to earn what they cost. The paper's systems have thresholds. */
    public boolean weighsCosts() {
      return AUTO.equals(readHot);
    }
  }

  /**
   * The cluster, the machine and the source tree of a run.
   *
   * @param rate of each link, as "100mbit"; null on loopback, where times of transfers over links
   *     cannot be compared
   * @param kernel of the machine
   * @param startedAt the moment, in ISO 8601
   * @param commit of the source tree; ends in "-dirty" if files were changed since; "unknown"
   *     outside of git, and in files that were written before this field existed
   */
  public record Environment(
      int servers,
      int disks,
      String rate,
      long blockBytes,
      int cores,
      String kernel,
      long seed,
      String startedAt,
      String commit) {
    public static final String UNKNOWN_COMMIT = "unknown";

    public Environment {
      commit = commit == null ? UNKNOWN_COMMIT : commit;
    }
  }

  /**
   * The data of a workload, as it was when the faults began.
   *
   * @param hotReads share of the reads on files that are read more often than the mean
   * @param coldFiles share of the files that are not
   * @param hotBytes share of the bytes in hot files
   * @param readsByCode share of the block reads of the last epoch on data in each code; "" stands
   *     for blocks in no stripe
   * @param bytesByCode share of the bytes in each code
   * @param storedBytes on the disks for the whole tree, parities and all
   * @param encodedLogicalBytes of live data in stripes
   * @param encodedStoredBytes of these stripes, with parities and deleted data
   * @param modelSeconds time of the trace that its reads cover, before its compression; 0 if it has
   *     no such time
   */
  public record WorkloadInfo(
      String name,
      int files,
      long bytes,
      double hotReads,
      double coldFiles,
      double hotBytes,
      double drift,
      Map<String, Double> readsByCode,
      Map<String, Double> bytesByCode,
      long storedBytes,
      long encodedLogicalBytes,
      long encodedStoredBytes,
      double modelSeconds) {
    /** Stored bytes per byte of encoded data. */
    public double encodedOverhead() {
      return encodedLogicalBytes == 0 ? 0 : (double) encodedStoredBytes / encodedLogicalBytes;
    }

    /** Stored bytes per byte of all data. */
    public double overhead() {
      return bytes == 0 ? 0 : (double) storedBytes / bytes;
    }
  }

  /**
   * Reads of single full blocks, one after the other, by a stock client behind its link.
   *
   * @param repetition from 0
   * @param what "healthy", or "degraded": the only holder of the block was dead and nothing was
   *     repaired meanwhile
   * @param code that the blocks are in; "" for none
   * @param millis of each
   * @param sourceBlocks bytes that theory says are read for each byte: blocks, and parts of a block
   *     where a source is shorter
   * @param leastOverLinks the part of sourceBlocks that crosses a link at least, because the server
   *     that decodes may hold sources itself; null in files that were written before this field
   *     existed
   * @param linkBytes that all servers received meanwhile, of payload and headers; 0 on loopback
   * @param clientBytes that the clients' link carried to them; 0 on loopback
   */
  public record Reads(
      int repetition,
      String what,
      String code,
      List<Double> millis,
      double sourceBlocks,
      Double leastOverLinks,
      long linkBytes,
      long clientBytes) {}

  /**
   * A loss and its repair, which ends when every stripe is whole again.
   *
   * @param what "disk", "server", or "server under load": while clients read; "none" for nothing:
   *     the same reads by clients without a loss, to compare with
   * @param lostBlocks replicas that were lost
   * @param detectSeconds from the fault to the first repair that was planned for it
   * @param seconds from there to the end of the last
   * @param blocksRead by all repairs, as their commits say
   * @param plannedReads that theory says for the same blocks
   * @param linkBytes that all servers received meanwhile; 0 on loopback
   * @param byCode the blocks that were rebuilt, and the blocks that were read for them, by code;
   *     empty if the lost blocks were replicas, which are copied again without reading others
   * @param safeAfterSeconds for each stripe, the time from the fault until it was whole again
   * @param foregroundMillis reads of whole files by clients during the repair
   * @param remoteBytes of all bytes that were read, written or checked, the bytes that came from or
   *     went to another server than the one that combined, and so crossed a link; 0 if unknown
   * @param checkBytesRead bytes that were read to check rebuilt blocks before their commit
   * @param retries attempts that failed
   */
  public record Repair(
      int repetition,
      String what,
      int lostBlocks,
      long lostBytes,
      double detectSeconds,
      double seconds,
      long blocksRead,
      long blocksWritten,
      long plannedReads,
      long bytesRead,
      long bytesWritten,
      long linkBytes,
      Map<String, ByCode> byCode,
      List<Double> safeAfterSeconds,
      List<Double> foregroundMillis,
      long remoteBytes,
      long checkBytesRead,
      int retries) {
    public Repair {
      safeAfterSeconds = listed(safeAfterSeconds);
      foregroundMillis = listed(foregroundMillis);
    }

    /** Reads of clients while nothing was lost. */
    public static Repair none(int repetition, List<Double> foregroundMillis) {
      return new Repair(
          repetition,
          "none",
          0,
          0,
          0,
          0,
          0,
          0,
          0,
          0,
          0,
          0,
          Map.of(),
          List.of(),
          foregroundMillis,
          0,
          0,
          0);
    }

    /** Data blocks and parities of one code that were rebuilt, and the blocks read for them. */
    public record ByCode(int data, int parities, long read) {}
  }

  /**
   * The cost of all transitions of one kind to one code.
   *
   * @param workload that owns the data
   * @param kind ENCODE, UPCODE (to compact) or DOWNCODE (to fast)
   * @param busySeconds the time from its last claim to its end, summed over all transitions
   */
  public record Conversion(
      String workload,
      String kind,
      String toCode,
      int count,
      long dataBytes,
      long blocksRead,
      long blocksWritten,
      long bytesRead,
      long bytesWritten,
      double busySeconds) {}

  /**
   * The storage overhead at one moment.
   *
   * @param second since the run began
   * @param phase of the run; no bound holds in the phase {@link #BY_ORDER}
   * @param overhead stored bytes per byte of encoded data, by workload; absent while nothing is
   *     encoded
   * @param fastShare share of the encoded bytes in the fast code, by workload
   * @param running transitions that were planned or running
   */
  public record Sample(
      double second,
      String phase,
      Map<String, Double> overhead,
      Map<String, Double> fastShare,
      int running) {
    /** All data is brought into one code after the other by order, whatever that stores. */
    public static final String BY_ORDER = "conversions by order";
  }

  /** A MapReduce job over a workload's files: "healthy" or "degraded". */
  public record Job(String what, String workload, int repetition, double seconds, long bytes) {}

  /**
   * A fault of the timetable, or its end.
   *
   * @param second after the start of the timetable
   * @param error the reason if it could not be done; else null
   */
  public record Incident(double second, String what, String error) {}

  /**
   * A read of a whole file by a client.
   *
   * @param second when it ended, after the start of the timetable
   */
  public record TimedRead(double second, double millis) {}
}
