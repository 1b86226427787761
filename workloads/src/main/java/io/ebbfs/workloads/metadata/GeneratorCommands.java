package io.ebbfs.workloads.metadata;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.process.Launcher;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The command lines of the load generators. */
record GeneratorCommands(Build build) {
  /** The generator in C++. */
  List<String> nativeClient(ServerUnderLoad namenode, int connections) throws ClusterException {
    return nativeClient(namenode, connections, "/native-" + connections);
  }

  /**
   * The generator in C++.
   *
   * @param root a directory that no other generator uses
   */
  List<String> nativeClient(ServerUnderLoad namenode, int connections, String root)
      throws ClusterException {
    List<String> command = namenodeOptions(namenode);
    command.addAll(List.of("--connections", Integer.toString(connections)));
    command.addAll(List.of("--server-pid", Long.toString(namenode.pid())));
    command.addAll(List.of("--root", root));
    return command;
  }

  /** The generator in C++, with a server of its own that answers each call with the same bytes. */
  List<String> constantServer(int connections) throws ClusterException {
    return List.of(
        binary(),
        "--host",
        "127.0.0.1",
        "--user",
        System.getProperty("user.name"),
        "--connections",
        Integer.toString(connections),
        "--constant-server");
  }

  /**
   * A command that ends with 0 once the namenode serves calls.
   *
   * @param path of a file, or with {@code write} of a directory to be made
   */
  List<String> await(ServerUnderLoad namenode, boolean write, String path) throws ClusterException {
    List<String> command = namenodeOptions(namenode);
    command.addAll(List.of("--await", write ? "write" : "read", "--path", path));
    return command;
  }

  private List<String> namenodeOptions(ServerUnderLoad namenode) throws ClusterException {
    return new ArrayList<>(
        List.of(
            binary(),
            "--host",
            namenode.host(),
            "--port",
            Integer.toString(namenode.port()),
            "--user",
            System.getProperty("user.name")));
  }

  private String binary() throws ClusterException {
    Path binary = build.home().resolve("chunk-cluster/target/cmake/metadata_load");
    if (!Files.isExecutable(binary)) {
      throw new ClusterException(
          "the load generator is not built (%s is missing): build it with './ebb build'"
              .formatted(binary));
    }
    return binary.toString();
  }

  /** Hadoop's own client in a JVM. */
  List<String> stockClient(NamenodeUnderTest namenode, int connections) throws ClusterException {
    return List.of(
        Launcher.java(),
        "-Xmx1g",
        "-XX:+UseSerialGC",
        "-Djava.net.preferIPv4Stack=true",
        "-cp",
        build.stockTools() + File.pathSeparator + build.stockClientClassPath(),
        "LoadTool",
        Integer.toString(connections),
        Long.toString(namenode.pid()),
        "/stock-" + connections,
        "fs.defaultFS=hdfs://%s:%d".formatted(namenode.host(), namenode.port()));
  }
}
