package io.ebbfs.workloads.experiment;

import io.ebbfs.coding.Codes;
import io.ebbfs.coding.ErasureCode;
import io.ebbfs.fault.Timetable;
import io.ebbfs.workloads.experiment.Results.SystemInfo;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What an experiment's file says. Immutable.
 *
 * @param name of the file, without its ending
 * @param seed of everything random
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
  /** The cluster that each system gets, anew. */
  public record Cluster(
      int servers, int disks, int racks, String rate, long blockBytes, long deadAfterMillis) {}

  /**
   * The files of each workload, and when they are read.
   *
   * @param workloads names of profiles; or "trace"
   * @param files of each
   * @param meanBytes of a cold file
   * @param smallFiles share of the files that are smaller than a block, whatever the profile says
   * @param trace a recorded trace, if the workload is one
   * @param traceSpeed its seconds in one second
   * @param traceDivisor of its lengths
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
   * How data follows its heat, in every system that adapts.
   *
   * @param readHot as policies.yaml has it
   */
  public record Policy(
      long writeColdAfterMillis, long fillWaitMillis, String readHot, double hysteresis) {}

  /**
   * A system to be compared, with what it does differently.
   *
   * @param family of codes, if it adapts
   * @param code if it has but one
   * @param halfLifeMillis of the heat
   * @param smallFiles instead of that of the data
   */
  public record Variant(
      String name,
      String title,
      Optional<String> family,
      Optional<String> code,
      Optional<Double> bound,
      long halfLifeMillis,
      double smallFiles) {
    /** As the results name it. */
    public SystemInfo info() {
      return new SystemInfo(
          name,
          title,
          family.map(f -> Codes.family(f).fast()).or(() -> code).orElse(null),
          family.map(f -> Codes.family(f).compact()).or(() -> code).orElse(null),
          bound.orElse(null));
    }

    /** The codes that its data may be in. */
    public List<ErasureCode> codes() {
      return family
          .map(f -> List.of(Codes.family(f).fastCode(), Codes.family(f).compactCode()))
          .or(() -> code.map(c -> List.of(Codes.byName(c))))
          .orElse(List.of());
    }
  }

  /**
   * How often what is measured.
   *
   * @param repetitions of degraded reads: the server that is dead is another one each time
   * @param serverLosses in how many of them the server is also repaired; in the others it comes
   *     back with its blocks before anything is repaired
   * @param readsPerCode blocks read in each repetition, of each code
   * @param diskLosses disks that fail, one after the other is mended
   * @param readersDuringRepair clients that read whole files while as many servers are repaired
   *     once more, and during the timetable's faults
   * @param grep the workload whose files a MapReduce job reads; empty: none
   */
  public record Measure(
      int repetitions,
      int serverLosses,
      int readsPerCode,
      int diskLosses,
      int readersDuringRepair,
      Optional<String> grep) {}

  /** The configuration files of a system's cluster, by path below {@code conf}. */
  public Map<String, String> configuration(Variant system) {
    return Configuration.of(this, system);
  }
}
