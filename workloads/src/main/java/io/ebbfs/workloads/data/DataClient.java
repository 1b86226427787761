package io.ebbfs.workloads.data;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.client.ToolProcess;
import io.ebbfs.testbed.cluster.StockClient;
import io.ebbfs.testbed.process.ProcessId;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.function.UnaryOperator;

/** A client of one system: a process of its own, which compares all bytes that it reads. */
final class DataClient implements AutoCloseable {
  private static final List<String> JVM =
      List.of("-Xmx1g", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Djava.net.preferIPv4Stack=true");

  private final ToolProcess tool;

  /**
   * Files with the same beginning of their paths.
   *
   * @param prefix before the number of a file
   * @param bytes of each
   */
  record FileSet(String prefix, int count, long bytes) {
    long allBytes() {
      return count * bytes;
    }
  }

  /**
   * How long a request took.
   *
   * @param medianMicros of its parts: files or reads
   */
  record Timing(long micros, long medianMicros) {}

  DataClient(ToolProcess tool) {
    this.tool = tool;
  }

  /**
   * The stock client, in a JVM.
   *
   * @param place turns the command into one that runs behind a link, or is the identity
   */
  static DataClient stock(
      Build build, StockClient client, Path log, UnaryOperator<List<String>> place)
      throws IOException {
    List<String> jvm = new ArrayList<>(JVM);
    jvm.addAll(NativeLibrary.flags(build));
    return new DataClient(ToolProcess.data(build.home(), jvm, settings(client), log, place));
  }

  /**
   * EbbFS's native client, which has the same settings as the stock client. It cannot {@link
   * #copy}, and knows of no library of Hadoop.
   *
   * @param place as that of {@link #stock}
   */
  static DataClient ofEbbfs(
      Build build, StockClient client, Path log, UnaryOperator<List<String>> place)
      throws IOException, ClusterException {
    return new DataClient(ToolProcess.nativeData(build, settings(client), log, place));
  }

  private static Map<String, String> settings(StockClient client) {
    Map<String, String> settings = new LinkedHashMap<>(client.settings());
    settings.put("fs.defaultFS", client.uri());
    return settings;
  }

  Timing write(FileSet files, int replication, int clients)
      throws IOException, InterruptedException {
    return timed(
        "write",
        files.prefix,
        text(files.count),
        text(files.bytes),
        text(replication),
        text(clients));
  }

  Timing read(FileSet files, int clients) throws IOException, InterruptedException {
    return timed("read", files.prefix, text(files.count), text(files.bytes), text(clients));
  }

  /** Reads so many bytes at the beginning of each file. */
  Timing readBeginning(FileSet files, long bytes) throws IOException, InterruptedException {
    return timed("begin", files.prefix, text(files.count), text(bytes));
  }

  /** Reads parts of the files at random offsets. */
  Timing readParts(FileSet files, int clients, int length, int count, long seed)
      throws IOException, InterruptedException {
    return timed(
        "pread",
        files.prefix,
        text(files.count),
        text(files.bytes),
        text(clients),
        text(length),
        text(count),
        text(seed));
  }

  /** Opens each file and reads its first byte. */
  Timing firstByte(FileSet files) throws IOException, InterruptedException {
    return timed("first", files.prefix, text(files.count), text(files.bytes));
  }

  /** Copies each file to the same name in another directory. */
  Timing copy(FileSet files, String toPrefix) throws IOException, InterruptedException {
    return timed("copy", files.prefix, toPrefix, text(files.count), text(files.bytes));
  }

  /**
   * Makes a directory.
   *
   * @param policy the erasure coding policy of its files, which is enabled; empty for none
   */
  void makeDirectory(String path, String policy) throws IOException, InterruptedException {
    request("mkdirs", path, policy);
  }

  void delete(String path) throws IOException, InterruptedException {
    request("delete", path);
  }

  /** Whether it has Hadoop's native library. */
  boolean hasNativeLibrary() throws IOException, InterruptedException {
    return Boolean.parseBoolean(request("native").get(0));
  }

  /** Whether that library has ISA-L. */
  boolean hasNativeErasureCoding() throws IOException, InterruptedException {
    return Boolean.parseBoolean(request("native").get(1));
  }

  List<ProcessId> process() {
    return ProcessId.of(tool.pid()).stream().toList();
  }

  private static String text(long number) {
    return Long.toString(number);
  }

  private Timing timed(String verb, String... fields) throws IOException, InterruptedException {
    List<String> answer = request(verb, fields);
    return new Timing(Long.parseLong(answer.get(0)), Long.parseLong(answer.get(1)));
  }

  private List<String> request(String verb, String... fields)
      throws IOException, InterruptedException {
    try {
      return tool.request(verb, fields).get();
    } catch (ExecutionException e) {
      throw new IOException(verb + ": " + e.getCause().getMessage(), e.getCause());
    }
  }

  @Override
  public void close() {
    tool.close();
  }
}
