package io.ebbfs.workloads.experiment;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.workloads.experiment.Experiment.Variant;
import io.ebbfs.workloads.report.Report;
import io.ebbfs.workloads.results.Results;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Runs all systems of an experiment, one after the other, each on a cluster of its own. A system
 * whose results are there is left out, so that an interrupted run can go on.
 */
public final class Runner {
  private static final ObjectMapper JSON =
      new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

  private final Experiment experiment;
  private final boolean loopback;
  private final Path out;
  private final List<Variant> systems;

  /**
   * A runner.
   *
   * @param loopback without links of a rate
   * @param out where {@code runs/SYSTEM.json} and the report go
   * @param only names of systems; empty for all
   * @throws ClusterException if there is none of a name
   */
  public Runner(Experiment experiment, boolean loopback, Path out, List<String> only)
      throws ClusterException {
    this.experiment = experiment;
    this.loopback = loopback;
    this.out = out;
    List<String> names = experiment.systems().stream().map(Variant::name).toList();
    for (String name : only) {
      if (!names.contains(name)) {
        throw new ClusterException("no system '%s': choose of %s".formatted(name, names));
      }
    }
    this.systems =
        experiment.systems().stream()
            .filter(system -> only.isEmpty() || only.contains(system.name()))
            .toList();
  }

  /** Runs what has no results yet, and makes the report; 1 if a system failed, 0 else. */
  public int run() throws IOException, InterruptedException {
    Path runs = Files.createDirectories(out.resolve("runs"));
    System.out.printf(
        "%s: %d systems on %s; results in %s%n",
        experiment.title(),
        systems.size(),
        loopback ? "loopback" : "links of " + experiment.cluster().rate(),
        out);
    int failed = 0;
    List<Double> took = new ArrayList<>();
    for (int i = 0; i < systems.size(); i++) {
      Variant system = systems.get(i);
      Path file = runs.resolve(system.name() + ".json");
      String label = "[%d of %d] %-14s".formatted(i + 1, systems.size(), system.name());
      if (Files.exists(file)) {
        System.out.println(label + " is there already");
        continue;
      }
      long start = System.nanoTime();
      Progress progress = new Progress(label, took, systems.size() - i);
      SystemRun run =
          new SystemRun(experiment, system, loopback, out.resolve("cluster"), progress::phase);
      try {
        Results results = run.run();
        write(file, results);
        took.add((System.nanoTime() - start) / 1e9);
        progress.end("%.0f s: %s".formatted(took.get(took.size() - 1), summary(results)));
      } catch (ClusterException | IOException e) {
        failed++;
        // A failure on a server brings its stack along.
        String what = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
        progress.end("FAILED: %s; its logs: %s".formatted(what, run.logs()));
      }
    }
    new Report(out, false).write(System.out, System.err);
    return failed == 0 ? 0 : 1;
  }

  private static void write(Path file, Results results) throws IOException {
    Path draft = file.resolveSibling("." + file.getFileName());
    JSON.writeValue(draft.toFile(), results);
    Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  private static String summary(Results results) {
    StringBuilder text = new StringBuilder();
    results
        .workloads()
        .forEach(
            w ->
                text.append(
                    String.format(Locale.ROOT, "%s %.3fx  ", w.name(), w.encodedOverhead())));
    return text.toString().strip();
  }
}
