package io.ebbfs.workloads.experiment;

import io.ebbfs.coding.code.CodeFamily;
import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.fault.Timetable;
import io.ebbfs.workloads.results.Results.SystemInfo;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The content of an experiment's file. Immutable.
 *
 * @param name of the file, without its ending
 * @param seed of all random choices
 * @param faults that happen after everything else was measured
 */
public record Experiment(
    String name,
    String title,
    long seed,
    Cluster cluster,
    Data data,
    Policy policy,
    List<Variant> systems,
    Measure measure,
    Timetable faults) {
  /** The cluster. Each system gets a new one. */
  public record Cluster(
      int servers, int disks, int racks, String rate, long blockBytes, long deadAfterMillis) {}

  /**
   * The files of each workload, and their reads.
   *
   * @param workloads names of profiles; or "trace"
   * @param files of each workload
   * @param meanBytes of a cold file
   * @param smallFiles share of the files that are smaller than a block, whatever the profile says
   * @param trace a recorded trace, if the workload is one
   * @param traceSpeed seconds of the trace in one second of the experiment
   * @param traceDivisor the factor by which lengths of the trace are divided
   */
  public record Data(
      List<String> workloads,
      int files,
      long meanBytes,
      double smallFiles,
      int epochs,
      long epochMillis,
      int readsPerFile,
      Optional<Path> trace,
      double traceSpeed,
      double traceDivisor) {}

  /**
   * The policy of every system that adapts.
   *
   * @param readHot the threshold in the syntax of policies.yaml; for systems without prices
   * @param memoryMillis half-life of the reads that systems with prices remember
   * @param waitWhileReadMillis how long files may stay replicated because they are read; for
   *     systems with prices
   */
  public record Policy(
      long writeColdAfterMillis,
      long fillWaitMillis,
      String readHot,
      double hysteresis,
      long memoryMillis,
      long waitWhileReadMillis) {}

  /**
   * What things are worth to a system with {@code readHot: auto}, in bytes that are moved.
   *
   * @param storage one stored byte for one day
   * @param reader one byte that a reader waits for
   */
  public record Prices(double storage, double reader) {}

  /**
   * A system, with the settings in which it differs from others.
   *
   * @param family of codes, if it adapts
   * @param code if it has a single code
   * @param prices if conversions have to earn what they cost; empty for a threshold
   * @param halfLifeMillis of the heat
   * @param smallFiles in place of the value of {@link Data}
   */
  public record Variant(
      String name,
      String title,
      Optional<String> family,
      Optional<String> code,
      Optional<Double> bound,
      Optional<Prices> prices,
      long halfLifeMillis,
      double smallFiles) {
    /** The description of the system in its results. */
    SystemInfo info() {
      return new SystemInfo(
          name,
          title,
          family.map(f -> codesOf(f).fast()).or(() -> code).orElse(null),
          family.map(f -> codesOf(f).compact()).or(() -> code).orElse(null),
          bound.orElse(null),
          prices.isPresent() ? SystemInfo.AUTO : null);
    }

    private static CodeFamily codesOf(String family) {
      return CodeRegistry.builtIn().family(family);
    }

    /** The codes of the system; empty for replicas. */
    List<ErasureCode> codes() {
      return family
          .map(f -> List.of(codesOf(f).fastCode(), codesOf(f).compactCode()))
          .or(() -> code.map(c -> List.of(Codes.byName(c))))
          .orElse(List.of());
    }
  }

  /**
   * The number of repetitions of each measurement.
   *
   * @param repetitions of degraded reads, each with another dead server
   * @param serverLosses the number of these repetitions in which the server's blocks are repaired;
   *     in the others the server comes back with its blocks before a repair
   * @param readsPerCode blocks read in each repetition, of each code
   * @param diskLosses disks that fail, each after the repair of the one before
   * @param readersDuringRepair clients that read whole files during further repairs of servers and
   *     during the timetable
   * @param convertDuringFaults whether all data is converted during the timetable, into each code
   *     of the system in turn, so that faults meet conversions. Otherwise codes stay frozen
   * @param grep the workload whose files a MapReduce job reads; empty for none
   * @param recorded whether clients read while data adapts and the timetable is played, and a
   *     recording is kept. Nothing else is measured then, and all files have whole blocks
   */
  public record Measure(
      int repetitions,
      int serverLosses,
      int readsPerCode,
      int diskLosses,
      int readersDuringRepair,
      boolean convertDuringFaults,
      Optional<String> grep,
      boolean recorded) {}

  /** The configuration files of a system's cluster, by path below {@code conf}. */
  public Map<String, String> configuration(Variant system) {
    return Configuration.of(this, system);
  }
}
