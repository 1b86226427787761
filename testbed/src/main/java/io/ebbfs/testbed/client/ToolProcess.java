package io.ebbfs.testbed.client;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.process.Launcher;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.File;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;

/**
 * A process with a client that does what lines on its standard input ask for. Unless it is the
 * native client, its class path holds hadoop-client and the programs of {@code
 * testbed/stock-client}, and nothing else of this project. Thread-safe.
 */
public final class ToolProcess implements AutoCloseable {
  private static final String ENDED = "the process of the client has ended";

  private static final List<String> STOCK_JVM =
      List.of("-Xmx320m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

  private final Process process;
  private final BufferedWriter requests;
  private final Map<String, CompletableFuture<List<String>>> pending = new ConcurrentHashMap<>();
  private final AtomicLong nextId = new AtomicLong();
  private final Thread reader;
  private volatile boolean ended;

  /**
   * Starts a program.
   *
   * @param home the root of the project, built
   * @param tool the program: {@code StockTool}
   * @param arguments its first arguments
   * @param settings Hadoop settings, with fs.defaultFS
   * @param log file of the client's standard error
   * @param place turns the command into one that runs elsewhere, for example in a namespace
   */
  public ToolProcess(
      Path home,
      String tool,
      List<String> arguments,
      Map<String, String> settings,
      Path log,
      UnaryOperator<List<String>> place)
      throws IOException {
    this(java(classPath(home), STOCK_JVM, tool, arguments), settings, log, place);
  }

  private ToolProcess(
      List<String> program,
      Map<String, String> settings,
      Path log,
      UnaryOperator<List<String>> place)
      throws IOException {
    List<String> command = new ArrayList<>(program);
    settings.forEach((name, value) -> command.add(name + "=" + value));
    process =
        new ProcessBuilder(place.apply(command))
            .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()))
            .start();
    requests =
        new BufferedWriter(
            new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
    reader = new Thread(this::readAnswers, "client-answers");
    reader.setDaemon(true);
    reader.start();
  }

  /** The file with the standard error of {@code CommandTool}, and with what Hadoop warns of. */
  public static final String COMMANDS_LOG = "commands.log";

  /**
   * Starts {@code CommandTool} of {@code testbed/hadoop-tests}, which runs command lines of Hadoop.
   *
   * @param directory for its files and its standard error
   * @param settings Hadoop settings; without fs.defaultFS, HDFS runs in the process
   */
  public static ToolProcess commands(Build build, Path directory, Map<String, String> settings)
      throws IOException, ClusterException {
    Path conf = Files.createDirectories(directory.resolve("conf"));
    Path log = directory.resolve(COMMANDS_LOG);
    Files.writeString(
        conf.resolve("log4j.properties"),
        """
        log4j.rootLogger=WARN, file
        log4j.appender.file=org.apache.log4j.FileAppender
        log4j.appender.file.File=%s
        log4j.appender.file.layout=org.apache.log4j.PatternLayout
        log4j.appender.file.layout.ConversionPattern=%%d %%p %%c: %%m%%n
        """
            .formatted(log));
    Map<String, String> all = new HashMap<>(settings);
    // Jobs of other processes on this machine have their files elsewhere, and little is sorted.
    all.putIfAbsent("hadoop.tmp.dir", directory.resolve("tmp").toString());
    all.putIfAbsent("mapreduce.task.io.sort.mb", "8");
    return new ToolProcess(
        java(
            conf + File.pathSeparator + build.classPath("testbed/hadoop-tests"),
            List.of("-Xmx700m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
            "CommandTool",
            List.of(directory.toString())),
        all,
        log,
        UnaryOperator.identity());
  }

  /**
   * Starts {@code DataTool}, which writes and reads much data, with the optimising compiler.
   *
   * @param jvm flags of its JVM, its heap among them
   * @param place as that of the constructor
   */
  public static ToolProcess data(
      Path home,
      List<String> jvm,
      Map<String, String> settings,
      Path log,
      UnaryOperator<List<String>> place)
      throws IOException {
    return new ToolProcess(java(classPath(home), jvm, "DataTool", List.of()), settings, log, place);
  }

  /**
   * Starts the native client, which takes the requests of {@code DataTool} but for {@code copy} and
   * {@code native}.
   *
   * @param place as that of the constructor
   */
  public static ToolProcess nativeData(
      Build build, Map<String, String> settings, Path log, UnaryOperator<List<String>> place)
      throws IOException, ClusterException {
    return new ToolProcess(List.of(build.dataTool().toString()), settings, log, place);
  }

  private static List<String> java(
      String classPath, List<String> jvm, String tool, List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(Launcher.java());
    command.addAll(jvm);
    command.addAll(List.of("-cp", classPath, tool));
    command.addAll(arguments);
    return command;
  }

  private static String classPath(Path home) throws IOException {
    try {
      Build build = new Build(home);
      return build.stockTools() + File.pathSeparator + build.stockClientClassPath();
    } catch (ClusterException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  /**
   * Sends a request. The result holds the fields of the answer; a failure completes the future with
   * an IOException that has the tool's message.
   */
  public CompletableFuture<List<String>> request(String verb, String... fields) {
    String id = Long.toString(nextId.incrementAndGet());
    StringBuilder line = new StringBuilder(id).append('\t').append(verb);
    for (String field : fields) {
      line.append('\t').append(URLEncoder.encode(field, StandardCharsets.UTF_8));
    }
    CompletableFuture<List<String>> answer = new CompletableFuture<>();
    pending.put(id, answer);
    try {
      synchronized (requests) {
        requests.write(line.append('\n').toString());
        requests.flush();
      }
    } catch (IOException e) {
      pending.remove(id);
      answer.completeExceptionally(new IOException(ENDED, e));
    }
    if (ended) {
      answer.completeExceptionally(new IOException(ENDED));
    }
    return answer;
  }

  private void readAnswers() {
    try (BufferedReader answers = process.inputReader(StandardCharsets.UTF_8)) {
      for (String line = answers.readLine(); line != null; line = answers.readLine()) {
        complete(line.split("\t", -1));
      }
    } catch (IOException e) {
      // The process has ended: the pending requests fail below.
    }
    ended = true;
    pending.forEach((id, answer) -> answer.completeExceptionally(new IOException(ENDED)));
  }

  private void complete(String[] line) {
    CompletableFuture<List<String>> answer = pending.remove(line[0]);
    if (answer == null) {
      return;
    }
    List<String> fields =
        Arrays.stream(line)
            .skip(2)
            .map(field -> URLDecoder.decode(field, StandardCharsets.UTF_8))
            .toList();
    if (line[1].equals("ok")) {
      answer.complete(fields);
    } else {
      answer.completeExceptionally(new IOException(String.join(": ", fields)));
    }
  }

  public long pid() {
    return process.pid();
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** Kills the process with SIGKILL and waits for its end. Its requests fail. */
  public void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  /** Ends the process by the end of its input; kills it if it does not end in 10 s. */
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
