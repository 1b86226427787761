package io.ebbfs.workloads.report;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes {@code report.html} and {@code report.json} from the results in {@code DIR/runs}. */
public final class Report {
  private final Path directory;
  private final boolean mixedCommits;

  /**
   * A report.
   *
   * @param directory the output directory of an experiment
   * @param mixedCommits whether systems of different commits may be on one page
   */
  public Report(Path directory, boolean mixedCommits) {
    this.directory = directory;
    this.mixedCommits = mixedCommits;
  }

  /**
   * Writes both files and prints a summary. Returns the exit code: 0 after success, 1 if the files
   * cannot be written, 2 if the results cannot be reported on.
   */
  public int write(PrintStream out, PrintStream err) {
    try {
      Figures figures = Figures.of(Runs.read(directory));
      if (!mixedCommits) {
        Commits.requireOne(figures);
      }
      Path json = directory.resolve("report.json");
      Path html = directory.resolve("report.html");
      ObjectMapper mapper = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);
      Files.writeString(json, mapper.writeValueAsString(figures) + "\n");
      Files.writeString(html, Page.of(figures));
      ConsoleSummary.lines(figures).forEach(out::println);
      out.println();
      out.println("Written: %s and %s".formatted(html, json));
      return 0;
    } catch (ReportException e) {
      err.println("error: " + e.getMessage());
      return 2;
    } catch (IOException e) {
      err.println("error: stopped by " + e);
      return 1;
    }
  }
}
