package io.ebbfs.workloads.metadata;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ebbfs.workloads.results.MetadataResults.Run;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * A process that drives one namenode over a number of connections: it takes a request per line, and
 * answers with a line of JSON. Not thread-safe.
 */
final class LoadGenerator implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final long END_SECONDS = 10;

  private final String name;
  private final Process process;
  private final BufferedWriter requests;
  private final BufferedReader answers;

  /**
   * @param name for messages: {@code native generator of hdfs}
   * @param log of its standard error
   */
  LoadGenerator(String name, List<String> command, Path log) throws IOException {
    this.name = name;
    this.process =
        new ProcessBuilder(command)
            .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()))
            .start();
    this.requests = process.outputWriter(StandardCharsets.UTF_8);
    this.answers = process.inputReader(StandardCharsets.UTF_8);
  }

  /** Measures a row for a while. */
  Run run(String row, double seconds) throws IOException {
    return measure("run %s %.3f", row, seconds);
  }

  /** Sends a request that measures one thing. */
  Run measure(String format, Object... arguments) throws IOException {
    String line = String.format(Locale.ROOT, format, arguments);
    return measured(line, request(line));
  }

  /**
   * The figures in an answer.
   *
   * @throws IOException also if an operation has failed: a figure with failures means nothing
   */
  Run measured(String line, JsonNode answer) throws IOException {
    long operations = answer.get("operations").asLong();
    long failures = answer.get("failures").asLong();
    if (failures > 0 || operations == 0) {
      throw new IOException(
          "%s, '%s': %d operations succeeded and %d failed, the first with: %s"
              .formatted(name, line, operations, failures, answer.get("firstFailure").asText()));
    }
    double took = answer.get("seconds").asDouble();
    return new Run(
        operations,
        took,
        operations / took,
        answer.get("serverCpuMicros").asDouble() / operations,
        answer.get("serverKernelMicros").asDouble() / operations,
        answer.get("clientCpuMicros").asDouble() / operations,
        answer.get("p50Millis").asDouble(),
        answer.get("p99Millis").asDouble(),
        answer.get("p999Millis").asDouble());
  }

  /** Sends a line and waits for its answer. */
  JsonNode request(String line) throws IOException {
    requests.write(line + "\n");
    requests.flush();
    String answer = answers.readLine();
    if (answer == null) {
      throw new IOException("the %s has ended after the request '%s'".formatted(name, line));
    }
    JsonNode json = JSON.readTree(answer);
    if (json.has("error")) {
      throw new IOException("%s, '%s': %s".formatted(name, line, json.get("error").asText()));
    }
    return json;
  }

  /** Ends the process by the end of its input. */
  @Override
  public void close() throws IOException {
    try {
      requests.close();
      if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
