package io.ebbfs.workloads.experiment;

import io.ebbfs.cluster.ClusterException;
import io.ebbfs.cluster.Laboratory;
import io.ebbfs.settings.ConfigException;
import io.ebbfs.workloads.experiment.report.ReportMain;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** {@code ebb experiment}: runs what an experiment's file describes, and makes its report. */
public final class ExperimentMain {
  private static final String USAGE =
      """
      usage: ebb experiment run FILE [--quick] [--loopback] [--only NAME,NAME] [--out DIR]
                              [--trace FILE]
                                        every system of the file, each on a cluster of its own;
                                        one that has its results in DIR already is left out, so
                                        that an interrupted run goes on where it was
             ebb experiment report DIR  DIR/report.html and DIR/report.json from DIR/runs
        --quick      with the values below the file's key 'quick': about 15 minutes
        --loopback   without links of a rate (what there is for users other than root): times
                     and bytes of links are then not comparable
        --trace FILE jobs in the format of SWIM, for an experiment whose workload is a trace
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
      Path file, boolean quick, boolean loopback, List<String> only, Path out, Path trace) {
    static Options parse(List<String> words) throws ClusterException {
      Path file = null;
      Path out = null;
      Path trace = null;
      boolean quick = false;
      boolean loopback = false;
      List<String> only = List.of();
      for (int i = 0; i < words.size(); i++) {
        String word = words.get(i);
        switch (word) {
          case "--quick" -> quick = true;
          case "--loopback" -> loopback = true;
          case "--only" -> only = List.of(value(words, ++i, word).split(","));
          case "--trace" -> trace = Path.of(value(words, ++i, word)).toAbsolutePath();
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
      return new Options(file, quick, loopback, only, out, trace);
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
    Experiment experiment = ExperimentFile.read(options.file(), options.quick(), options.trace());
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
}
