package io.ebbfs.verify.contract;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.ClusterSpec;
import io.ebbfs.testbed.cluster.LocalCluster;
import io.ebbfs.testbed.process.Launcher;
import io.ebbfs.verify.cluster.RunFiles;
import io.ebbfs.verify.cluster.VerifyCluster;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Runs Hadoop's own contract tests of file systems on a cluster. A test that fails is run on Apache
 * HDFS, too: if it fails there, it tells nothing about EbbFS, and is left out. Not thread-safe.
 */
public final class ContractRun {
  private static final int SERVERS = 4;
  private static final int DISKS = 2;
  private static final int BLOCK_BYTES = 64 << 10;
  private static final int HEARTBEAT_MILLIS = 300;
  private static final Map<String, String> CONFIGURATION =
      Map.of(
          "namenode.yaml",
          "minBlockSize: 1KiB\n", // the tests make files with such blocks
          "policies.yaml",
          "policies: [{name: none, paths: [/nothing], code: 'XOR(2,1)'}]\n");

  private final ContractOptions options;
  private final PrintStream out;
  private final Build build;
  private final Path directory;

  private ContractRun(ContractOptions options, PrintStream out, Build build, Path directory) {
    this.options = options;
    this.out = out;
    this.build = build;
    this.directory = directory;
  }

  /**
   * Runs the tests and prints how they end.
   *
   * @return whether no test has failed that Apache HDFS passes
   */
  public static boolean run(ContractOptions options, PrintStream out) throws Exception {
    Path directory = Files.createDirectories(RunFiles.place(options.directory(), "ebbfs-contract"));
    ContractRun run = new ContractRun(options, out, Build.find(), directory);
    ContractResult result = options.onHdfs() ? run.onHdfs(options.subjects()) : run.onEbbFs();
    if (options.directory().isEmpty()) {
      VerifyCluster.deleteTree(directory);
    }
    RunFiles.write(options.json(), result.figures());
    run.print(result);
    return result.failed().isEmpty();
  }

  private ContractResult onEbbFs() throws Exception {
    ContractResult result;
    LocalCluster cluster =
        LocalCluster.create(
            build,
            ClusterSpec.of(directory.resolve("cluster"))
                .withServers(SERVERS, DISKS)
                .withBlockSize(BLOCK_BYTES)
                .withHeartbeat(HEARTBEAT_MILLIS)
                .withPorts(0, 0)
                .withConfFiles(CONFIGURATION));
    try {
      cluster.start();
      result =
          tests(options.subjects(), Optional.of("fs.defaultFS=" + cluster.stockClient().uri()));
    } finally {
      cluster.killAll();
    }
    return result.failed().isEmpty()
        ? result
        : result.comparedWith(onHdfs(result.failedSubjects()));
  }

  private ContractResult onHdfs(List<String> subjects) throws Exception {
    return tests(subjects, Optional.empty());
  }

  private ContractResult tests(List<String> subjects, Optional<String> fileSystem)
      throws ClusterException, IOException, InterruptedException {
    String where = fileSystem.isPresent() ? "ebbfs" : "hdfs";
    Path conf = Files.createDirectories(directory.resolve("conf"));
    Files.writeString(conf.resolve("log4j.properties"), "log4j.rootLogger=OFF\n");
    List<String> command = new ArrayList<>(List.of(Launcher.java(), "-Xmx700m", "-cp"));
    command.add(conf + File.pathSeparator + build.classPath("testbed/hadoop-tests"));
    command.add("ContractTool");
    command.add(directory.resolve("hdfs").toString());
    command.add(subjects.isEmpty() ? "all" : String.join(",", subjects));
    fileSystem.ifPresent(command::add);
    Path log = directory.resolve("contract-" + where + ".log");
    out.println(
        "runs Hadoop's contract tests on " + where + ": " + command.get(command.size() - 1));
    Process process =
        new ProcessBuilder(command)
            .directory(directory.toFile()) // some tests leave files in the working directory
            .redirectError(log.toFile())
            .start();
    process.getOutputStream().close();
    List<String> lines =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
            .lines()
            .toList();
    if (process.waitFor() != 0 || lines.isEmpty()) {
      throw new IOException(
          "the contract tests ended before their time on %s: %s"
              .formatted(where, Files.readString(log)));
    }
    return ContractResult.parse(lines);
  }

  private void print(ContractResult result) {
    result.leftOut().forEach((name, reason) -> print("left out", name, reason));
    result.failed().forEach((name, reason) -> print("FAILED  ", name, reason));
    out.printf(
        "%d passed, %d failed, %d left out%n",
        result.passed().size(), result.failed().size(), result.leftOut().size());
  }

  /** The file of the result has the other lines of a reason. */
  private void print(String end, String name, String reason) {
    out.println(end + "  " + name + ": " + reason.lines().findFirst().orElse(""));
  }
}
