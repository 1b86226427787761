package io.ebbfs.workloads.report;

import io.ebbfs.workloads.codes.CodeFigures;
import io.ebbfs.workloads.results.Results;
import io.ebbfs.workloads.results.Results.Environment;
import io.ebbfs.workloads.results.Results.SystemInfo;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;

/**
 * All figures of the report, which are the content of {@code report.json}. {@code
 * docs/experiments.md} explains its fields.
 */
record Figures(
    int format,
    String experiment,
    Environment environment,
    boolean sameEnvironment,
    boolean shapedLinks,
    List<Run> runs,
    List<Claim> claims,
    List<CodeFigures> codes,
    List<WorkloadTable.Row> workloads,
    List<Improvements.Pair> improvements,
    List<DegradedReads.Point> degradedReads,
    List<DegradedReads.Traffic> degradedReadTraffic,
    List<Reconstruction.Loss> losses,
    List<Encoding.Cost> encoding,
    List<Storage.Course> storage,
    List<Effects.Safety> safety,
    List<Effects.Foreground> foreground,
    List<Effects.Jobs> jobs,
    List<TimetableEffects.Faults> timetable,
    List<Trace.PerDay> trace,
    List<Sensitivity.Setting> sensitivity) {
  static final int FORMAT = 1;

  /**
   * The run of one system.
   *
   * @param variant whether it differs from another system in one setting only
   * @param repetitions of reads or of losses, whichever are fewer
   * @param commit of the source tree that ran
   */
  record Run(
      SystemInfo system,
      boolean variant,
      int repetitions,
      String commit,
      String startedAt,
      Map<String, Double> seconds,
      List<String> notes) {}

  static Figures of(List<Results> results) {
    Systems systems = new Systems(results);
    Environment environment = systems.all().get(0).environment();
    Figures measured =
        new Figures(
            FORMAT,
            systems.all().get(0).experiment(),
            environment,
            systems.all().stream().allMatch(r -> alike(r.environment(), environment)),
            systems.all().stream().allMatch(r -> r.environment().rate() != null),
            systems.all().stream().map(Figures::run).toList(),
            List.of(),
            CodeTable.SHOWN.stream().map(CodeTable::figures).flatMap(Optional::stream).toList(),
            WorkloadTable.rows(systems),
            Improvements.of(systems),
            each(systems, DegradedReads::points),
            each(systems, DegradedReads::traffic),
            each(systems, Reconstruction::losses),
            Encoding.costs(systems),
            // The bound is checked for variants too.
            systems.all().stream().flatMap(r -> Storage.courses(r).stream()).toList(),
            each(systems, Effects::safety),
            each(systems, Effects::foreground),
            each(systems, Effects::jobs),
            systems.all().stream().map(TimetableEffects::of).filter(Objects::nonNull).toList(),
            systems.all().stream().map(Trace::perDay).filter(Objects::nonNull).toList(),
            Sensitivity.of(systems));
    return measured.with(new GoalClaims(systems, measured).all());
  }

  private static <T> List<T> each(Systems systems, Function<Results, List<T>> of) {
    return systems.compared().stream().flatMap(r -> of.apply(r).stream()).toList();
  }

  private static boolean alike(Environment a, Environment b) {
    return a.servers() == b.servers()
        && a.disks() == b.disks()
        && Objects.equals(a.rate(), b.rate())
        && a.blockBytes() == b.blockBytes();
  }

  private static Run run(Results r) {
    long reads = r.reads().stream().map(Results.Reads::repetition).distinct().count();
    Map<String, Integer> losses = new LinkedHashMap<>();
    r.repairs().stream()
        .filter(repair -> List.of("disk", "server").contains(repair.what()))
        .forEach(repair -> losses.merge(repair.what(), 1, Integer::sum));
    int fewest = losses.values().stream().mapToInt(Integer::intValue).min().orElse((int) reads);
    int repetitions = reads == 0 ? fewest : (int) Math.min(reads, fewest);
    return new Run(
        r.system(),
        Systems.isVariant(r.system()),
        repetitions,
        r.environment().commit(),
        r.environment().startedAt(),
        r.seconds(),
        r.notes());
  }

  private Figures with(List<Claim> judged) {
    return new Figures(
        format,
        experiment,
        environment,
        sameEnvironment,
        shapedLinks,
        runs,
        judged,
        codes,
        workloads,
        improvements,
        degradedReads,
        degradedReadTraffic,
        losses,
        encoding,
        storage,
        safety,
        foreground,
        jobs,
        timetable,
        trace,
        sensitivity);
  }

  /** The fewest repetitions of any system that repeats something; 0 if none does. */
  int repetitions() {
    return runs.stream().mapToInt(Run::repetitions).filter(r -> r > 0).min().orElse(0);
  }

  /** Whether not all systems come from one commit. */
  boolean mixedCommits() {
    return runs.stream().map(Run::commit).distinct().count() > 1;
  }

  /** How many systems are no variants of others. */
  long compared() {
    return runs.stream().filter(r -> !r.variant()).count();
  }
}
