package io.ebbfs.workloads.experiment;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.ebbfs.cluster.ClusterException;
import io.ebbfs.cluster.Laboratory;
import io.ebbfs.settings.ConfigException;
import io.ebbfs.workloads.experiment.Experiment.Variant;
import io.ebbfs.workloads.experiment.report.ReportMain;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** {@code ebb experiment}: runs what an experiment's file describes, and makes its report. */
public final class ExperimentMain {
  private static final String USAGE =
      """
      usage: ebb experiment run FILE [--quick] [--loopback] [--only NAME,NAME] [--out DIR]
                                        every system of the file, each on a cluster of its own;
                                        one that has its results in DIR already is left out, so
                                        that an interrupted run goes on where it was
             ebb experiment report DIR  DIR/report.html and DIR/report.json from DIR/runs
        --quick      with the values below the file's key 'quick': about 15 minutes
        --loopback   without links of a rate (what there is for users other than root): times
                     and bytes of links are then not comparable
        --out DIR    where results go (results/NAME; results/NAME-quick)""";

  private ExperimentMain() {}

  /** Exit code 0: done; 1: a system failed; 2: refused. */
  public static void main(String[] arguments) {
    // Before Hadoop's classes look for it.
    if (System.getProperty("log4j.configuration") == null) {
      System.setProperty("log4j.configuration", "io/ebbfs/cluster/log4j.properties");
    }
    try {
      List<String> words = new ArrayList<>(Arrays.asList(arguments));
      if (words.contains("--help") || words.isEmpty()) {
        System.out.println(USAGE);
        System.exit(words.isEmpty() ? 2 : 0);
      }
      String command = words.remove(0);
      System.exit(
          switch (command) {
            case "run" -> run(Options.parse(words));
            case "report" -> report(words);
            default ->
                throw new ClusterException("no command 'experiment " + command + "'\n" + USAGE);
          });
    } catch (ClusterException | ConfigException | IOException e) {
      System.err.println("ebb experiment: " + e.getMessage());
      System.exit(2);
    } catch (InterruptedException e) {
      System.err.println("ebb experiment: interrupted; run it again to go on");
      System.exit(2);
    }
  }

  private record Options(
      Path file, boolean quick, boolean loopback, List<String> only, Path out) {
    static Options parse(List<String> words) throws ClusterException {
      Path file = null;
      Path out = null;
      boolean quick = false;
      boolean loopback = false;
      List<String> only = List.of();
      for (int i = 0; i < words.size(); i++) {
        String word = words.get(i);
        switch (word) {
          case "--quick" -> quick = true;
          case "--loopback" -> loopback = true;
          case "--only" -> only = List.of(value(words, ++i, word).split(","));
          case "--out" -> out = Path.of(value(words, ++i, word));
          default -> {
            if (word.startsWith("-") || file != null) {
              throw new ClusterException("'" + word + "' is not understood\n" + USAGE);
            }
            file = Path.of(word);
          }
        }
      }
      if (file == null) {
        throw new ClusterException("no experiment's file: see conf/experiments\n" + USAGE);
      }
      return new Options(file, quick, loopback, only, out);
    }

    private static String value(List<String> words, int i, String option) throws ClusterException {
      if (i >= words.size()) {
        throw new ClusterException(option + " needs a value\n" + USAGE);
      }
      return words.get(i);
    }
  }

  private static int report(List<String> words) throws ClusterException {
    if (words.size() != 1) {
      throw new ClusterException("'report' takes the directory of the results\n" + USAGE);
    }
    return ReportMain.run(Path.of(words.get(0)));
  }

  private static int run(Options options)
      throws ClusterException, ConfigException, IOException, InterruptedException {
    Experiment experiment = ExperimentFile.read(options.file(), options.quick());
    boolean loopback = options.loopback();
    if (!loopback && !Laboratory.isPossible()) {
      System.out.println(
          "Not root, so there are no links of a rate: on loopback instead. Blocks and bytes of"
              + " repairs and conversions are the same; times and bytes of links say nothing.");
      loopback = true;
    }
    Path out =
        options.out() != null
            ? options.out()
            : Path.of("results", experiment.name() + (options.quick() ? "-quick" : ""));
    return new Runner(experiment, loopback, out.toAbsolutePath(), options.only()).run();
  }

  /** All systems of an experiment. */
  static final class Runner {
    static final ObjectMapper JSON =
        new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    private final Experiment experiment;
    private final boolean loopback;
    private final Path out;
    private final List<Variant> systems;

    Runner(Experiment experiment, boolean loopback, Path out, List<String> only)
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

    int run() throws IOException, InterruptedException {
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
        try {
          Results results =
              new SystemRun(
                      experiment, system, loopback, out.resolve("cluster"), progress::phase)
                  .run();
          write(file, results);
          took.add((System.nanoTime() - start) / 1e9);
          progress.end("%.0f s: %s".formatted(took.get(took.size() - 1), summary(results)));
        } catch (ClusterException | IOException e) {
          failed++;
          progress.end("FAILED: " + e.getMessage());
        }
      }
      ReportMain.run(out);
      return failed == 0 ? 0 : 1;
    }

    private static void write(Path file, Results results) throws IOException {
      Path draft = file.resolveSibling("." + file.getFileName());
      JSON.writeValue(draft.toFile(), results);
      Files.move(
          draft, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
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
}
