package io.ebbfs.workloads.experiment.report;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * {@code ebb experiment report DIR}: makes a page and a JSON file of the results in {@code
 * DIR/runs}. Exit code 0: written; 1: it could not be written; 2: there is nothing to report on.
 */
public final class ReportMain {
  private static final String USAGE =
      """
      usage: ./ebb experiment report DIR
        DIR  the output directory of './ebb experiment run'; report.html and report.json go there
      """;

  private ReportMain() {}

  /** Exits with the code of {@link #run}. */
  public static void main(String[] arguments) {
    if (arguments.length == 1 && arguments[0].equals("--help")) {
      System.out.print(USAGE);
      return;
    }
    if (arguments.length != 1 || arguments[0].startsWith("-")) {
      System.err.print(USAGE);
      System.exit(2);
    }
    System.exit(run(Path.of(arguments[0])));
  }

  /** Writes the report of this directory and says where it is; the exit code. */
  public static int run(Path directory) {
    return run(directory, System.out, System.err);
  }

  static int run(Path directory, PrintStream out, PrintStream err) {
    try {
      Figures figures = Figures.of(Runs.read(directory));
      Path json = directory.resolve("report.json");
      Path html = directory.resolve("report.html");
      ObjectMapper mapper = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);
      Files.writeString(json, mapper.writeValueAsString(figures) + "\n");
      Files.writeString(html, Page.of(figures));
      Console.lines(figures).forEach(out::println);
      out.println();
      out.println("Written: %s and %s".formatted(html, json));
      return 0;
    } catch (ReportException e) {
      err.println("ebb experiment report: " + e.getMessage());
      return 2;
    } catch (IOException e) {
      err.println("ebb experiment report: stopped by " + e);
      return 1;
    }
  }
}
