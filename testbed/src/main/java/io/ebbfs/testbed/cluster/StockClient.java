package io.ebbfs.testbed.cluster;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.process.Launcher;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Command lines that run Hadoop's own classes, with Hadoop's own jars and no other, against a
 * cluster. The class path begins with a directory of configuration, as an installed Hadoop's does.
 *
 * @param build the built tree
 * @param conf the directory with {@code core-site.xml}, made by {@link #writeConf}
 * @param namenode its address: {@code host:port}
 * @param blockSizeBytes of the files that clients write
 */
public record StockClient(Build build, Path conf, String namenode, long blockSizeBytes) {
  private static final String SHELL = "org.apache.hadoop.fs.FsShell";

  /** The cluster's default file system, as Hadoop's {@code fs.defaultFS}. */
  public String uri() {
    return "hdfs://" + namenode;
  }

  /** {@code hdfs dfs ARGUMENTS}: {@code shell("-put", "file", "/")}. */
  public List<String> shell(String... arguments) throws ClusterException {
    return with(java(SHELL, List.of()), arguments);
  }

  /** The same with an older version of Hadoop: {@code shellOf("2.10", "-ls", "/")}. */
  public List<String> shellOf(String version, String... arguments) throws ClusterException {
    String classPath = conf + File.pathSeparator + build.stockClientClassPath(version);
    List<String> command = java();
    // Hadoop 2 looks up its realm by reflection.
    command.add("--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED");
    command.addAll(List.of("-cp", classPath, SHELL));
    return with(command, arguments);
  }

  private static List<String> with(List<String> command, String... arguments) {
    command.addAll(List.of(arguments));
    return command;
  }

  /** Another class with Hadoop's jars. The class may be in one of the directories. */
  public List<String> java(String mainClass, List<Path> classDirectories) throws ClusterException {
    StringBuilder classPath = new StringBuilder().append(conf).append(File.pathSeparator);
    classDirectories.forEach(d -> classPath.append(d).append(File.pathSeparator));
    List<String> command = java();
    command.addAll(
        List.of("-cp", classPath.append(build.stockClientClassPath()).toString(), mainClass));
    return command;
  }

  private static List<String> java() {
    return new ArrayList<>(
        List.of(
            Launcher.java(),
            "-Xmx256m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Djava.net.preferIPv4Stack=true"));
  }

  /** Writes the configuration of a client. */
  public void writeConf() throws IOException {
    Files.createDirectories(conf);
    Files.writeString(
        conf.resolve("core-site.xml"),
        """
        <configuration>
          <property><name>fs.defaultFS</name><value>%s</value></property>
        </configuration>
        """
            .formatted(uri()));
    Files.writeString(
        conf.resolve("hdfs-site.xml"),
        """
        <configuration>
          <property><name>dfs.blocksize</name><value>%d</value></property>
          <property><name>dfs.client.use.datanode.hostname</name><value>false</value></property>
        </configuration>
        """
            .formatted(blockSizeBytes));
    Files.writeString(conf.resolve("log4j.properties"), ClusterFiles.logging());
  }
}
