package io.ebbfs.workloads.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ebbfs.workloads.results.Results;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;

/**
 * The raw results of an experiment: {@code DIR/runs/SYSTEM.json}, one file for each system. A file
 * may be compressed ({@code SYSTEM.json.gz}), as published results are.
 */
final class Runs {
  private static final String COMPRESSED = ".gz";

  // A later writer of the same format may add fields that this reader does not know.
  private static final ObjectMapper MAPPER =
      new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

  private Runs() {}

  /**
   * All results below a directory, by file name.
   *
   * @throws ReportException if there are none, or one cannot be understood
   */
  static List<Results> read(Path directory) throws ReportException, IOException {
    Path runs = directory.resolve("runs");
    List<Path> files = Files.isDirectory(runs) ? files(runs) : List.of();
    if (files.isEmpty()) {
      throw new ReportException(
          "'%s' holds no runs/*.json: name the output directory of './ebb experiment run'"
              .formatted(directory));
    }
    List<Results> all = new ArrayList<>();
    for (Path file : files) {
      all.add(readOne(file));
    }
    return all;
  }

  private static List<Path> files(Path runs) throws IOException {
    try (Stream<Path> listed = Files.list(runs)) {
      return listed.filter(f -> isResult(f.getFileName().toString())).sorted().toList();
    }
  }

  /** The name of a draft, which is still being written, begins with a dot. */
  private static boolean isResult(String name) {
    return name.matches("[^.].*\\.json(\\.gz)?");
  }

  private static Results readOne(Path file) throws ReportException, IOException {
    try (InputStream bytes = Files.newInputStream(file);
        InputStream json =
            file.toString().endsWith(COMPRESSED) ? new GZIPInputStream(bytes) : bytes) {
      JsonNode tree = MAPPER.readTree(json);
      int format = tree.path("format").asInt(0);
      if (format != Results.FORMAT) {
        throw new ReportException(
            "'%s' is of format %d, and this report reads format %d: run the experiment again, or report with the build that wrote it"
                .formatted(file, format, Results.FORMAT));
      }
      Results results = MAPPER.treeToValue(tree, Results.class);
      if (results.system() == null || results.environment() == null) {
        throw new ReportException(
            "'%s' names no system or no environment: run that system again".formatted(file));
      }
      return results;
    } catch (JsonProcessingException e) {
      throw new ReportException(
          "'%s' is not the JSON of results (%s): delete it and run that system again"
              .formatted(file, e.getOriginalMessage()));
    }
  }
}
