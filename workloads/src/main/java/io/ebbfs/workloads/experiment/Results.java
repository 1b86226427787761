package io.ebbfs.workloads.experiment;

import java.util.List;
import java.util.Map;

/**
 * What one system showed in one experiment: the raw results, as they are kept in {@code
 * runs/SYSTEM.json} beside the report. Times of single things are kept, not their means; all lists
 * are in the order of what happened.
 *
 * @param format of the file
 * @param experiment the name of the experiment's file
 * @param system which one it was
 * @param environment where it ran
 * @param workloads what was stored and how it lay when the faults began
 * @param reads latencies of reads of single full blocks
 * @param repairs losses and how they were mended
 * @param conversions what encoding and converting took, one entry for each kind and code
 * @param storage samples, one each second
 * @param jobs durations of whole MapReduce jobs
 * @param incidents what the timetable broke, and mended; empty without one
 * @param duringIncidents reads of whole files meanwhile
 * @param seconds how long each phase took
 * @param notes what else a reader has to know
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
    List<String> notes) {
  /** What was not measured, and is missing in a file, is empty. */
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
   */
  public record SystemInfo(String name, String title, String fast, String compact, Double bound) {
    public SystemInfo {
      title = title == null ? name : title;
    }

    /** Whether data changes its code. */
    public boolean adapts() {
      return fast != null && !fast.equals(compact);
    }
  }

  /**
   * Where it ran.
   *
   * @param rate of each link, as "100mbit"; null on loopback, where nothing that takes time over a
   *     link can be compared
   * @param kernel of the machine
   */
  public record Environment(
      int servers,
      int disks,
      String rate,
      long blockBytes,
      int cores,
      String kernel,
      long seed,
      String startedAt) {}

  /**
   * A workload's data, when the faults began.
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
   * @param modelSeconds time that its reads cover for those who made them, before any compression;
   *     0 if it has no such time
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
   * @param leastOverLinks those of them that cross a link at least, since the server that decodes
   *     may hold sources itself; null in files of before this was known
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
   * A loss and its end: every block that it cost is whole again.
   *
   * @param what "disk", "server", or "server under load": while clients read; "none" for nothing:
   *     the same reads by clients without a loss, to compare with
   * @param lostBlocks replicas that went with it
   * @param detectSeconds from the fault to the first repair that was planned for it
   * @param seconds from there to the end of the last
   * @param blocksRead by all repairs, as their commits say
   * @param plannedReads that theory says for the same blocks
   * @param linkBytes that all servers received meanwhile; 0 on loopback
   * @param byCode the blocks rebuilt, and read for them, by code
   * @param safeAfterSeconds from the fault to each stripe's being whole again
   * @param foregroundMillis reads of whole files meanwhile, by clients
   * @param remoteBytes of the bytes read and written, and read by checks, those that the server
   *     that combined had from or sent to another one: what the links have to carry; 0 if unknown
   * @param checkBytesRead what was read beside that to check what was rebuilt before it counted
   * @param retries attempts that did not succeed
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

    /** What clients read while nothing was lost. */
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

    /** Blocks of one code: data and parities that were rebuilt, and what was read for them. */
    public record ByCode(int data, int parities, long read) {}
  }

  /**
   * What all transitions of a kind took together.
   *
   * @param workload whose data it was
   * @param kind ENCODE, UPCODE or DOWNCODE
   * @param busySeconds from each one's last claim to its end, summed
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
   * The space at one moment.
   *
   * @param second since the run began
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
      int running) {}

  /** A MapReduce job over a workload's files: "healthy" or "degraded". */
  public record Job(String what, String workload, int repetition, double seconds, long bytes) {}

  /**
   * Something that the timetable did.
   *
   * @param second after its start
   * @param error why it could not be done; null if it was
   */
  public record Incident(double second, String what, String error) {}

  /**
   * A read of a whole file by a client.
   *
   * @param second when it ended, after the start of the timetable
   */
  public record TimedRead(double second, double millis) {}
}
