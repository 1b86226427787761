package io.ebbfs.workloads.report;

import io.ebbfs.coding.code.Codes;
import io.ebbfs.workloads.results.Results;
import io.ebbfs.workloads.results.Results.Conversion;
import io.ebbfs.workloads.results.Results.Environment;
import io.ebbfs.workloads.results.Results.Job;
import io.ebbfs.workloads.results.Results.Reads;
import io.ebbfs.workloads.results.Results.Repair;
import io.ebbfs.workloads.results.Results.Sample;
import io.ebbfs.workloads.results.Results.SystemInfo;
import io.ebbfs.workloads.results.Results.WorkloadInfo;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Results of a made-up cluster that obeys the arithmetic: a degraded read takes 20 ms and 80 ms for
 * each source, a repair 0.2 s for each block moved; parities are lost in their share. Tests of the
 * report change what they are about. The numbers mean nothing else.
 */
final class Synthetic {
  static final long BLOCK = 4 << 20;
  static final int REPETITIONS = 5;
  static final double MILLIS_PER_READ = 20;
  static final double MILLIS_PER_SOURCE = 80;

  private static final Map<String, Double> HOT_READS =
      Map.of("CC1", .87, "CC2", .77, "CC3", .70, "CC4", .87, "FB", .88);
  private static final Map<String, Double> COLD_FILES =
      Map.of("CC1", .90, "CC2", .90, "CC3", .65, "CC4", .65, "FB", .90);
  private static final List<String> WORKLOADS = List.of("CC1", "CC2", "CC3", "CC4", "FB");

  private Synthetic() {}

  /** Every system that the evaluation names. */
  static List<Results> all() {
    List<Results> all = new ArrayList<>();
    all.add(system("pc-1.5", "EbbFS-PC, bound 1.5", Codes.PC_FAST, Codes.PC_COMPACT, 1.5));
    all.add(system("pc-none", "EbbFS-PC, no bound", Codes.PC_FAST, Codes.PC_COMPACT, null));
    all.add(system("lrc-1.4", "EbbFS-LRC, bound 1.4", Codes.LRC_FAST, Codes.LRC_COMPACT, 1.4));
    all.add(system("lrc-1.5", "EbbFS-LRC, bound 1.5", Codes.LRC_FAST, Codes.LRC_COMPACT, 1.5));
    all.add(system("rs-1.4", "EbbFS-RS, bound 1.4", Codes.RS_FAST, Codes.RS_COMPACT, 1.4));
    all.add(single(Codes.RS_FAST));
    all.add(single(Systems.RS_10_4));
    all.add(single(Codes.LRC_COMPACT));
    all.add(system("replicas", "three replicas", null, null, null));
    return all;
  }

  static Results product() {
    return all().get(0);
  }

  static Results single(String code) {
    return system(code, code, code, code, null);
  }

  static Results system(String name, String title, String fast, String compact, Double bound) {
    SystemInfo system = new SystemInfo(name, title, fast, compact, bound, null);
    return new Results(
        Results.FORMAT,
        "synthetic",
        system,
        new Environment(11, 6, "100mbit", BLOCK, 2, "6.1", 7, "2026-01-01T00:00:00Z", "0123abcd"),
        WORKLOADS.stream().map(w -> workload(system, w)).toList(),
        reads(system),
        repairs(system),
        conversions(system),
        storage(system),
        jobs(system),
        List.of(),
        List.of(),
        new LinkedHashMap<>(Map.of("store", 40.0, "adapt", 60.0)),
        List.of("Made up for a test."),
        null);
  }

  /** The share of the bytes of a workload that its bound allows in the fast code. */
  static double fastBytes(SystemInfo system, String workload) {
    if (system.bound() == null) {
      return 1 - COLD_FILES.get(workload);
    }
    double fast = Codes.byName(system.fast()).overhead();
    double compact = Codes.byName(system.compact()).overhead();
    double allowed = (system.bound() - compact) / (fast - compact);
    return Math.min(1 - COLD_FILES.get(workload), allowed);
  }

  private static Map<String, Double> shares(SystemInfo system, double fast) {
    if (system.fast() == null) {
      return Map.of("", 1.0);
    }
    Map<String, Double> shares = new LinkedHashMap<>();
    shares.put(system.compact(), system.adapts() ? 1 - fast : 1);
    if (system.adapts()) {
      shares.put(system.fast(), fast);
    }
    return shares;
  }

  private static WorkloadInfo workload(SystemInfo system, String name) {
    boolean adapts = system.adapts();
    double fast = adapts ? fastBytes(system, name) : 0;
    double reads = adapts ? HOT_READS.get(name) * fast / (1 - COLD_FILES.get(name)) : 0;
    double overhead = 3;
    if (system.fast() != null) {
      overhead =
          fast * Codes.byName(system.fast()).overhead()
              + (1 - fast) * Codes.byName(system.compact()).overhead();
    }
    long bytes = 400 * BLOCK;
    long encoded = system.fast() == null ? 0 : bytes;
    return new WorkloadInfo(
        name,
        200,
        bytes,
        HOT_READS.get(name),
        COLD_FILES.get(name),
        1 - COLD_FILES.get(name),
        .1,
        shares(system, reads),
        shares(system, fast),
        (long) (bytes * overhead),
        encoded,
        (long) (encoded * overhead),
        0);
  }

  private static List<String> codes(SystemInfo system) {
    if (system.fast() == null) {
      return List.of("");
    }
    return system.adapts() ? List.of(system.fast(), system.compact()) : List.of(system.fast());
  }

  static double sources(String code) {
    return code.isEmpty() ? 1 : CodeTable.repairReads(code);
  }

  private static List<Reads> reads(SystemInfo system) {
    List<Reads> reads = new ArrayList<>();
    for (int repetition = 0; repetition < REPETITIONS; repetition++) {
      double noise = 1 + .05 * (repetition - 2);
      for (String code : codes(system)) {
        double millis = MILLIS_PER_READ + MILLIS_PER_SOURCE * sources(code);
        double healthy = MILLIS_PER_READ + MILLIS_PER_SOURCE;
        reads.add(read(repetition, "healthy", code, healthy * noise));
        if (!code.isEmpty()) {
          reads.add(read(repetition, "degraded", code, millis * noise));
        }
      }
    }
    return reads;
  }

  static Reads read(int repetition, String what, String code, double millis) {
    double sources = what.equals("healthy") ? 1 : sources(code);
    return new Reads(
        repetition,
        what,
        code,
        List.of(millis - 5, millis, millis + 5),
        sources,
        sources - 1,
        what.equals("healthy") ? 0 : (long) (3 * sources * BLOCK * 1.02),
        (long) (3 * BLOCK * 1.02));
  }

  private static List<Repair> repairs(SystemInfo system) {
    List<Repair> repairs = new ArrayList<>();
    for (int repetition = 0; repetition < REPETITIONS; repetition++) {
      repairs.add(baseline(repetition));
      repairs.add(repair(system, repetition, "disk", 60));
      repairs.add(repair(system, repetition, "server", 360));
    }
    repairs.add(underReads(repair(system, 0, "server under load", 360)));
    return repairs;
  }

  private static Repair baseline(int repetition) {
    return new Repair(
        repetition,
        "none",
        0,
        0,
        0,
        20,
        0,
        0,
        0,
        0,
        0,
        0,
        Map.of(),
        List.of(),
        List.of(100.0, 110.0, 120.0, 130.0 + repetition),
        0,
        0,
        0);
  }

  /** A loss of so many data blocks, and of parities in their share. */
  static Repair repair(SystemInfo system, int repetition, String what, int dataBlocks) {
    Map<String, Repair.ByCode> byCode = new LinkedHashMap<>();
    double fast =
        system.adapts()
            ? WORKLOADS.stream().mapToDouble(w -> fastBytes(system, w)).average().orElseThrow()
            : 0;
    shares(system, fast)
        .forEach(
            (code, share) -> {
              int data = (int) Math.round(share * dataBlocks);
              double parities = code.isEmpty() ? 0 : Codes.byName(code).overhead() - 1;
              double moved = data * CodeTable.moved(code);
              int lost = (int) Math.round(data * parities);
              byCode.put(code, new Repair.ByCode(data, lost, Math.round(moved) - data - lost));
            });
    int written = byCode.values().stream().mapToInt(c -> c.data() + c.parities()).sum();
    long read = byCode.values().stream().mapToLong(Repair.ByCode::read).sum();
    double seconds = .05 * (read + written) * (1 + .04 * repetition);
    List<Double> safe = new ArrayList<>();
    for (int i = 1; i <= written; i++) {
      safe.add(2 + seconds * i / written);
    }
    return new Repair(
        repetition,
        what,
        written,
        written * BLOCK,
        2,
        seconds,
        read,
        written,
        read,
        read * BLOCK,
        written * BLOCK,
        (long) (read * BLOCK * 1.03),
        byCode,
        safe,
        List.of(),
        0,
        0,
        0);
  }

  /** The same while clients read, which takes twice as long and fills the links. */
  private static Repair underReads(Repair r) {
    return scaled(r, 2, 1, 2, List.of(140.0, 150.0, 170.0, 180.0));
  }

  /** The same loss with other reads, planned and made, and other bytes on links. */
  static Repair scaled(Repair r, double reads, double links) {
    return scaled(r, 1, reads, links, r.foregroundMillis());
  }

  private static Repair scaled(
      Repair r, double seconds, double reads, double links, List<Double> foregroundMillis) {
    return new Repair(
        r.repetition(),
        r.what(),
        r.lostBlocks(),
        r.lostBytes(),
        r.detectSeconds(),
        seconds * r.seconds(),
        Math.round(reads * r.blocksRead()),
        r.blocksWritten(),
        Math.round(reads * r.plannedReads()),
        Math.round(reads * r.bytesRead()),
        r.bytesWritten(),
        Math.round(links * r.linkBytes()),
        r.byCode(),
        r.safeAfterSeconds(),
        foregroundMillis,
        r.remoteBytes(),
        r.checkBytesRead(),
        r.retries());
  }

  private static List<Conversion> conversions(SystemInfo system) {
    List<Conversion> all = new ArrayList<>();
    if (system.fast() == null) {
      return all;
    }
    all.add(conversion("CC1", "ENCODE", system.compact(), 2000, 1.0));
    if (system.adapts()) {
      for (String workload : List.of("CC2", "CC3", "CC4")) {
        all.add(conversion(workload, "UPCODE", system.compact(), 50, .5));
        all.add(conversion(workload, "DOWNCODE", system.fast(), 50, .8));
      }
    }
    return all;
  }

  static Conversion conversion(
      String workload, String kind, String to, int blocks, double perBlock) {
    double parities = Codes.byName(to).overhead() - 1;
    long written = Math.round(blocks * parities);
    return new Conversion(
        workload,
        kind,
        to,
        blocks / 10,
        blocks * BLOCK,
        blocks,
        written,
        blocks * BLOCK,
        written * BLOCK,
        blocks * perBlock * (1 + parities));
  }

  private static List<Sample> storage(SystemInfo system) {
    List<Sample> samples = new ArrayList<>();
    for (int second = 0; second < 300; second++) {
      Map<String, Double> overhead = new LinkedHashMap<>();
      Map<String, Double> fast = new LinkedHashMap<>();
      if (system.fast() != null && second >= 20) {
        for (String name : WORKLOADS) {
          WorkloadInfo w = workload(system, name);
          double compact = Codes.byName(system.compact()).overhead();
          double way = (1 - Math.exp(-(second - 20) / 40.0)) * (1 - .1 * ((second / 30) % 2));
          overhead.put(name, compact + (w.encodedOverhead() - compact) * way);
          fast.put(name, system.adapts() ? fastBytes(system, name) * way : 0.0);
        }
      }
      String phase = second < 40 ? "store" : "adapt";
      samples.add(new Sample(second, phase, overhead, fast, second % 3));
    }
    return samples;
  }

  private static List<Job> jobs(SystemInfo system) {
    List<Job> jobs = new ArrayList<>();
    for (String workload : WORKLOADS) {
      for (int i = 0; i < REPETITIONS; i++) {
        jobs.add(new Job("healthy", workload, i, 20 + .2 * i, 400 * BLOCK));
        double slower = 2 * sources(codes(system).get(0));
        jobs.add(new Job("degraded", workload, i, 20 + slower + .3 * i, 400 * BLOCK));
      }
    }
    return jobs;
  }

  /** The same results of another system. */
  static Results named(Results r, String name) {
    SystemInfo s = r.system();
    SystemInfo named = new SystemInfo(name, name, s.fast(), s.compact(), s.bound(), s.readHot());
    return copy(r, named, r.environment());
  }

  /** The same results of a system whose conversions have to earn what they cost. */
  static Results weighingCosts(Results r, String name) {
    SystemInfo s = r.system();
    SystemInfo auto = new SystemInfo(name, name, s.fast(), s.compact(), s.bound(), SystemInfo.AUTO);
    return copy(r, auto, r.environment());
  }

  /** The same results, measured at a commit. */
  static Results of(Results r, String commit) {
    Environment e = r.environment();
    return with(
        r,
        new Environment(
            e.servers(),
            e.disks(),
            e.rate(),
            e.blockBytes(),
            e.cores(),
            e.kernel(),
            e.seed(),
            e.startedAt(),
            commit));
  }

  static Results with(Results r, Environment environment) {
    return copy(r, r.system(), environment);
  }

  private static Results copy(Results r, SystemInfo system, Environment environment) {
    return copy(r, system, environment, r.workloads(), r.reads(), r.repairs(), r.storage());
  }

  static Results withReads(Results r, List<Reads> reads) {
    return copy(r, r.system(), r.environment(), r.workloads(), reads, r.repairs(), r.storage());
  }

  static Results withRepairs(Results r, List<Repair> repairs) {
    return copy(r, r.system(), r.environment(), r.workloads(), r.reads(), repairs, r.storage());
  }

  static Results withStorage(Results r, List<Sample> storage) {
    return copy(r, r.system(), r.environment(), r.workloads(), r.reads(), r.repairs(), storage);
  }

  static Results withWorkloads(Results r, List<WorkloadInfo> workloads) {
    return copy(r, r.system(), r.environment(), workloads, r.reads(), r.repairs(), r.storage());
  }

  private static Results copy(
      Results r,
      SystemInfo system,
      Environment environment,
      List<WorkloadInfo> workloads,
      List<Reads> reads,
      List<Repair> repairs,
      List<Sample> storage) {
    return new Results(
        r.format(),
        r.experiment(),
        system,
        environment,
        workloads,
        reads,
        repairs,
        r.conversions(),
        storage,
        r.jobs(),
        r.incidents(),
        r.duringIncidents(),
        r.seconds(),
        r.notes(),
        r.recording());
  }

  static Results withConversions(Results r, List<Conversion> conversions) {
    return copy(r, conversions, r.incidents(), r.duringIncidents());
  }

  static Results withTimetable(
      Results r, List<Results.Incident> incidents, List<Results.TimedRead> reads) {
    return copy(r, r.conversions(), incidents, reads);
  }

  private static Results copy(
      Results r,
      List<Conversion> conversions,
      List<Results.Incident> incidents,
      List<Results.TimedRead> duringIncidents) {
    return new Results(
        r.format(),
        r.experiment(),
        r.system(),
        r.environment(),
        r.workloads(),
        r.reads(),
        r.repairs(),
        conversions,
        r.storage(),
        r.jobs(),
        incidents,
        duringIncidents,
        r.seconds(),
        r.notes(),
        r.recording());
  }
}
