package io.ebbfs.verify.policy;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.manager.config.PolicySet;
import io.ebbfs.manager.economics.Experience;
import io.ebbfs.workloads.results.Recording;
import io.ebbfs.workloads.results.Results;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Simulates what an experiment has recorded on a cluster, and puts the moves of the cluster beside
 * those of the simulation. The policies, the opens, the losses and the outages are those of the
 * recording; when data is encoded and converted, the simulation decides itself. Immutable.
 *
 * @param opens of all files
 * @param lost blocks of stripes that were lost, as a share of all blocks of stripes
 * @param absent share of the data blocks in stripes that could not be read, on average
 */
public record RecordedComparison(
    String experiment,
    String system,
    int files,
    long blocks,
    int steps,
    double stepSeconds,
    long opens,
    double lost,
    double absent,
    List<Row> rows) {
  /** As the manager weighs the failures of a small cluster. */
  private static final double WHOLE_BLOCKS = 10_000;

  private static final double HOUR_MILLIS = 3_600_000;

  /**
   * A figure of both: blocks that were read and written, or stored bytes per logical byte.
   *
   * @param ratio simulated / measured; null if nothing was measured
   */
  record Row(String name, double measured, double simulated, Double ratio) {
    static Row of(String name, double measured, double simulated) {
      return new Row(name, measured, simulated, measured == 0 ? null : simulated / measured);
    }
  }

  /**
   * Simulates the recording in the results of an experiment.
   *
   * @param file runs/SYSTEM.json of the experiment
   * @throws IOException if the file cannot be read, or holds no recording
   */
  public static RecordedComparison of(Path file) throws IOException {
    Results results =
        new ObjectMapper()
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .readValue(file.toFile(), Results.class);
    if (results.recording() == null || results.system() == null) {
      throw new IOException(
          "%s holds no recording: run ./ebb experiment run conf/experiments/recorded.yaml, and name its runs/SYSTEM.json"
              .formatted(file));
    }
    try {
      return of(results.experiment(), results.system().name(), results.recording());
    } catch (ConfigException | IllegalArgumentException e) {
      throw new IOException(
          "the recording in %s cannot be simulated: %s".formatted(file, e.getMessage()), e);
    }
  }

  /**
   * Simulates a recording.
   *
   * @throws ConfigException if this version does not know its policies
   * @throws IllegalArgumentException if it opens a file that it does not have
   */
  static RecordedComparison of(String experiment, String system, Recording recording)
      throws ConfigException {
    int steps = recording.steps().size();
    FailureDraws failures = new FailureDraws(new double[steps], new double[steps]);
    PolicySystemRun run = run(recording, failures);
    long opens = 0;
    double stored = 0;
    for (int step = 0; step < steps; step++) {
      Recording.Step recorded = recording.steps().get(step);
      failures.lost()[step] = recorded.lost();
      failures.absent()[step] = recorded.absent();
      run.step(step, opens(recorded, step, recording.files().size()));
      opens += recorded.opens().values().stream().mapToLong(Integer::longValue).sum();
      stored += recorded.stored();
    }
    return new RecordedComparison(
        experiment,
        system,
        recording.files().size(),
        run.stored().totalBlocks(),
        steps,
        recording.stepMillis() / 1000.0,
        opens,
        sum(failures.lost()),
        sum(failures.absent()) / Math.max(1, steps),
        rows(recording.moves(), stored / Math.max(1, steps), run));
  }

  private static PolicySystemRun run(Recording recording, FailureDraws failures)
      throws ConfigException {
    List<StoredFiles.File> files =
        recording.files().stream()
            .map(f -> new StoredFiles.File(f.path(), f.blocks(), f.writtenMillis()))
            .toList();
    return new PolicySystemRun(
        PolicySet.parse(Path.of(PolicySet.FILE), recording.policies(), PolicySystem.CODES),
        new PolicySystem.Memory(
            recording.heatMillis() / HOUR_MILLIS, recording.memoryMillis() / Experience.DAY),
        new StoredFiles(PolicySystem.CODES, files, recording.blockBytes()),
        failures,
        new Steps(
            recording.stepMillis(), recording.countedMillis() / Experience.DAY, WHOLE_BLOCKS));
  }

  private static int[] opens(Recording.Step step, int number, int files) {
    int[] opens = new int[files];
    step.opens()
        .forEach(
            (file, count) -> {
              if (file < 0 || file >= files) {
                throw new IllegalArgumentException(
                    "step %d opens file %d, and there are %d files: record it again"
                        .formatted(number, file, files));
              }
              opens[file] = count;
            });
    return opens;
  }

  /** Copies of replicas are left out, since the cluster does not count them. */
  private static List<Row> rows(Recording.Moves moves, double stored, PolicySystemRun run) {
    Ledger ledger = run.ledger();
    double repair = ledger.repair - ledger.repairOfReplicas;
    double degraded = ledger.degraded - ledger.degradedOfReplicas;
    return List.of(
        Row.of("encode", moves.encode(), ledger.encode),
        Row.of("convert", moves.convert(), ledger.convert),
        Row.of("repair", moves.repair(), repair),
        Row.of("degraded reads", moves.degraded(), degraded),
        Row.of(
            "all moves",
            moves.encode() + moves.convert() + moves.repair() + moves.degraded(),
            ledger.encode + ledger.convert + repair + degraded),
        Row.of("stored per byte", stored, ledger.storedPerBlock()));
  }

  private static double sum(double[] values) {
    double sum = 0;
    for (double value : values) {
      sum += value;
    }
    return sum;
  }

  /** Prints measured and simulated figures. */
  public void print(PrintStream out) {
    out.printf(
        Locale.ROOT,
        "%s, %s: %d files of %d blocks, %d opens in %d steps of %.0f s; %.2f%% of the blocks were lost,"
            + " %.2f%% away on average.%n%n",
        experiment,
        system,
        files,
        blocks,
        opens,
        steps,
        stepSeconds,
        lost * 100,
        absent * 100);
    out.printf("%-18s %12s %12s %10s%n", "blocks moved", "measured", "simulated", "ratio");
    for (Row row : rows) {
      out.printf(
          Locale.ROOT,
          "%-18s %12.2f %12.2f %10s%n",
          row.name,
          row.measured,
          row.simulated,
          row.ratio == null ? "-" : String.format(Locale.ROOT, "%.3f", row.ratio));
    }
  }

  /** The figures for JSON. */
  public Map<String, Object> figures() {
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("experiment", experiment);
    figures.put("system", system);
    figures.put("files", files);
    figures.put("blocks", blocks);
    figures.put("steps", steps);
    figures.put("stepSeconds", stepSeconds);
    figures.put("opens", opens);
    figures.put("lost", lost);
    figures.put("absent", absent);
    figures.put("rows", rows);
    return figures;
  }
}
