package io.ebbfs.testbed.client;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;

/**
 * A process with a stock HDFS client that stores and reads files on request. It runs {@code
 * StockTool}. Thread-safe.
 */
public final class StockProcess implements AutoCloseable {
  /** The result of a request. A failure completes the future exceptionally. */
  public record Answer(String sha256, long bytes, long micros) {}

  private final ToolProcess tool;

  /**
   * @param home the root of the project, built
   * @param threads requests that run at once
   * @param settings Hadoop settings, with fs.defaultFS
   * @param log file of the client's standard error
   */
  public StockProcess(Path home, int threads, Map<String, String> settings, Path log)
      throws IOException {
    this(home, threads, settings, log, UnaryOperator.identity());
  }

  /**
   * The same in another network namespace.
   *
   * @param place turns the command into one that runs it in the namespace
   */
  public StockProcess(
      Path home,
      int threads,
      Map<String, String> settings,
      Path log,
      UnaryOperator<List<String>> place)
      throws IOException {
    tool =
        new ToolProcess(
            home, "StockTool", List.of(Integer.toString(threads)), settings, log, place);
  }

  /** Stores a local file. The digest of the answer is that of the local bytes. */
  public CompletableFuture<Answer> put(Path local, String remote) {
    return request("put", local.toString(), remote);
  }

  /** Reads a whole file. */
  public CompletableFuture<Answer> read(String remote) {
    return request("read", remote);
  }

  /** Reads a part of a file, from an offset on. */
  public CompletableFuture<Answer> readAt(String remote, long offset, int length) {
    return request("readAt", remote, Long.toString(offset), Integer.toString(length));
  }

  /** Opens a file and reads nothing of it. */
  public CompletableFuture<Answer> touch(String remote) {
    return request("touch", remote);
  }

  public long pid() {
    return tool.pid();
  }

  private CompletableFuture<Answer> request(String verb, String... fields) {
    return tool.request(verb, fields).thenApply(StockProcess::answer);
  }

  private static Answer answer(List<String> fields) {
    return new Answer(fields.get(0), Long.parseLong(fields.get(1)), Long.parseLong(fields.get(2)));
  }

  @Override
  public void close() {
    tool.close();
  }
}
