package io.ebbfs.testbed.client;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.process.Launcher;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;

/**
 * A process with a stock HDFS client that stores and reads files on request. Its class path holds
 * hadoop-client and nothing of this project; it runs {@code StockTool.java} from source.
 * Thread-safe.
 */
public final class StockProcess implements AutoCloseable {
  /** The result of a request. A failure completes the future exceptionally. */
  public record Answer(String sha256, long bytes, long micros) {}

  private final Process process;
  private final BufferedWriter requests;
  private final Map<String, CompletableFuture<Answer>> pending = new ConcurrentHashMap<>();
  private final AtomicLong nextId = new AtomicLong();
  private final Thread reader;

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
    List<String> command = new ArrayList<>();
    command.addAll(
        List.of(Launcher.java(), "-Xmx320m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-cp", classPath(home)));
    command.add(home.resolve("testbed/stock-client/src/main/stock/StockTool.java").toString());
    command.add(Integer.toString(threads));
    settings.forEach((name, value) -> command.add(name + "=" + value));
    process =
        new ProcessBuilder(place.apply(command))
            .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()))
            .start();
    requests =
        new BufferedWriter(
            new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
    reader = new Thread(this::readAnswers, "stock-client-answers");
    reader.setDaemon(true);
    reader.start();
  }

  private static String classPath(Path home) throws IOException {
    try {
      return new Build(home).stockClientClassPath();
    } catch (ClusterException e) {
      throw new IOException(e.getMessage(), e);
    }
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
    return process.pid();
  }

  private CompletableFuture<Answer> request(String verb, String... fields) {
    String id = Long.toString(nextId.incrementAndGet());
    StringBuilder line = new StringBuilder(id).append('\t').append(verb);
    for (String field : fields) {
      line.append('\t').append(URLEncoder.encode(field, StandardCharsets.UTF_8));
    }
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    pending.put(id, answer);
    try {
      synchronized (requests) {
        requests.write(line.append('\n').toString());
        requests.flush();
      }
    } catch (IOException e) {
      pending.remove(id);
      answer.completeExceptionally(new IOException("the stock client process has ended", e));
    }
    return answer;
  }

  private void readAnswers() {
    try (BufferedReader answers = process.inputReader(StandardCharsets.UTF_8)) {
      for (String line = answers.readLine(); line != null; line = answers.readLine()) {
        complete(line.split("\t"));
      }
    } catch (IOException e) {
      // The process has ended: the pending requests fail below.
    }
    pending.forEach(
        (id, answer) ->
            answer.completeExceptionally(new IOException("the stock client process has ended")));
  }

  private void complete(String[] fields) {
    CompletableFuture<Answer> answer = pending.remove(fields[0]);
    if (answer == null) {
      return;
    }
    if (fields[1].equals("ok")) {
      answer.complete(new Answer(fields[2], Long.parseLong(fields[3]), Long.parseLong(fields[4])));
    } else {
      answer.completeExceptionally(
          new IOException(URLDecoder.decode(fields[2], StandardCharsets.UTF_8)));
    }
  }

  @Override
  public void close() {
    try {
      requests.close();
      if (!process.waitFor(10, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
      reader.join(1000);
    } catch (IOException e) {
      process.destroyForcibly();
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
      throw new UncheckedIOException(new IOException("interrupted while the client ended", e));
    }
  }
}
