package io.ebbfs.workloads.traffic;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.LocalCluster;
import io.ebbfs.testbed.network.ShapedNetwork;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Runs the grep of Hadoop's examples over files of a cluster, by Hadoop's local job runner. The
 * process has Hadoop's jars only, as a stock client.
 *
 * @param maps files or blocks that are read at once
 * @param oneLink whether, in a lab, all maps share the link of a client; otherwise they read as
 *     fast as the servers' links let them, as tasks on many machines would
 */
public record GrepJob(LocalCluster cluster, int maps, boolean oneLink) {
  private static final int LOG_LINES = 20;

  /**
   * The result.
   *
   * @param seconds from the submission of the first of its two jobs to the end of the second
   * @param bytes of the files that were read
   * @param matches of the pattern, in all files
   */
  public record Result(double seconds, long bytes, long matches) {
    /** Parses the line that the process prints. */
    static Result parse(String line) {
      String[] fields = line.split("\t");
      if (fields.length != 4 || !fields[0].equals("grep")) {
        throw new IllegalArgumentException("'" + line + "' is no result of a grep");
      }
      return new Result(
          Double.parseDouble(fields[1]), Long.parseLong(fields[2]), Long.parseLong(fields[3]));
    }
  }

  public GrepJob {
    if (maps < 1 || maps > 256) {
      throw new IllegalArgumentException(
          "%d maps at once: give a number from 1 to 256".formatted(maps));
    }
  }

  /**
   * Reads all files below a path.
   *
   * @param pattern as java.util.regex has it
   * @param timeoutMillis the time after which the job is killed
   * @throws ClusterException if it fails; the message ends with what the job said last
   */
  public Result run(String path, String pattern, long timeoutMillis)
      throws ClusterException, IOException, InterruptedException {
    Path temporary = Files.createTempDirectory("ebb-grep");
    try {
      Path out = temporary.resolve("out");
      Path log = temporary.resolve("log");
      Process process =
          new ProcessBuilder(command(path, pattern, temporary))
              .redirectOutput(out.toFile())
              .redirectError(log.toFile())
              .start();
      try {
        process.getOutputStream().close();
        if (!process.waitFor(timeoutMillis, TimeUnit.MILLISECONDS)) {
          throw new ClusterException(
              "the grep over %s did not end within %d s; its log ends with%n%s"
                  .formatted(path, timeoutMillis / 1_000, tail(log)));
        }
      } finally {
        process.destroyForcibly();
      }
      if (process.exitValue() == 3) {
        throw new ClusterException("there is no %s: store files first".formatted(path));
      }
      if (process.exitValue() != 0) {
        throw new ClusterException(
            "the grep over %s failed with exit code %d; its log ends with%n%s"
                .formatted(path, process.exitValue(), tail(log)));
      }
      return Files.readAllLines(out).stream()
          .filter(line -> line.startsWith("grep\t"))
          .findFirst()
          .map(Result::parse)
          .orElseThrow(
              () -> new ClusterException("the grep over %s printed no result".formatted(path)));
    } finally {
      delete(temporary);
    }
  }

  private List<String> command(String path, String pattern, Path temporary)
      throws ClusterException {
    List<Path> tools = List.of(Build.find().stockTools());
    List<String> command = cluster.stockClient().java("GrepTool", tools);
    command.add(1, "-Djava.io.tmpdir=" + temporary);
    command.addAll(
        List.of(path, "/tmp/grep-" + UUID.randomUUID(), pattern, Integer.toString(maps)));
    ShapedNetwork lab = cluster.layout().lab();
    if (lab == null) {
      return command;
    }
    return oneLink ? lab.clientCommand(command) : lab.unshapedCommand(command);
  }

  private static String tail(Path log) throws IOException {
    // Stack frames are left out, because the causes say more.
    List<String> lines =
        Files.readAllLines(log).stream().filter(line -> !line.startsWith("\tat ")).toList();
    return String.join("\n", lines.subList(Math.max(0, lines.size() - LOG_LINES), lines.size()));
  }

  private static void delete(Path directory) throws IOException {
    try (Stream<Path> all = Files.walk(directory)) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    }
  }
}
