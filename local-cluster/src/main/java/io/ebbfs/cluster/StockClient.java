package io.ebbfs.cluster;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Command lines that run Hadoop's own classes, with Hadoop's own jars and no other, against a
 * cluster.
 *
 * @param build the built tree
 * @param namenodePort where the cluster is
 * @param blockSizeBytes what to write with
 */
public record StockClient(Build build, int namenodePort, long blockSizeBytes) {
  /** The cluster's default file system, as Hadoop's {@code fs.defaultFS}. */
  public String uri() {
    return "hdfs://127.0.0.1:" + namenodePort;
  }

  /** {@code hdfs dfs ARGUMENTS}: {@code shell("-put", "file", "/")}. */
  public List<String> shell(String... arguments) throws ClusterException {
    List<String> command = java("org.apache.hadoop.fs.FsShell", List.of());
    for (String option : options()) {
      command.add("-D");
      command.add(option);
    }
    command.addAll(List.of(arguments));
    return command;
  }

  /**
   * A class run with Hadoop's jars and the directories given, which must hold no class of EbbFS
   * that Hadoop would load; the options of {@link #options} come as system properties.
   */
  public List<String> java(String mainClass, List<Path> classDirectories) throws ClusterException {
    StringBuilder classPath = new StringBuilder();
    classDirectories.forEach(d -> classPath.append(d).append(java.io.File.pathSeparator));
    return new ArrayList<>(
        List.of(
            Commands.java(),
            "-Xmx256m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Xshare:auto",
            "-Djava.net.preferIPv4Stack=true",
            "-Dlog4j.configuration=" + build.logging(),
            "-cp",
            classPath.append(build.classPath("stock-client")).toString(),
            mainClass));
  }

  /** What a client needs to be told, as {@code name=value}. */
  public List<String> options() {
    return List.of(
        "fs.defaultFS=" + uri(),
        "dfs.blocksize=" + blockSizeBytes,
        "dfs.client.use.datanode.hostname=false");
  }
}
