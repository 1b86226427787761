package io.ebbfs.testbed.cluster;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.HadoopSite;
import io.ebbfs.testbed.process.Launcher;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Command lines that run Hadoop's own classes, with Hadoop's own jars and no other, against a
 * cluster. The class path begins with a directory of configuration, as an installed Hadoop's does.
 *
 * @param build the built tree
 * @param conf the directory with {@code core-site.xml}, made by {@link #writeConf}
 * @param namenodes their addresses: {@code host:port}
 * @param webs where the namenodes answer over HTTP, in the same order; empty if they do not
 * @param blockSizeBytes of the files that clients write
 */
public record StockClient(
    Build build, Path conf, List<String> namenodes, List<String> webs, long blockSizeBytes) {
  private static final String NAME_SERVICE = "ebbfs";
  private static final String PROXY_PROVIDER =
      "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider";
  private static final String HTTP_ADDRESS = "dfs.namenode.http-address";
  private static final String SHELL = "org.apache.hadoop.fs.FsShell";

  /** The cluster's default file system, as Hadoop's {@code fs.defaultFS}. */
  public String uri() {
    return "hdfs://" + (namenodes.size() == 1 ? namenodes.get(0) : NAME_SERVICE);
  }

  /** The first namenode: {@code host:port}. */
  public String namenode() {
    return namenodes.get(0);
  }

  /** What a client needs besides {@code fs.defaultFS} to find the one of several that serves. */
  public Map<String, String> settings() {
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("dfs.blocksize", String.valueOf(blockSizeBytes));
    settings.put("dfs.client.use.datanode.hostname", "false");
    if (namenodes.size() == 1 && !webs.isEmpty()) {
      settings.put(HTTP_ADDRESS, webs.get(0));
    }
    if (namenodes.size() > 1) {
      List<String> names = new ArrayList<>();
      for (int i = 0; i < namenodes.size(); i++) {
        names.add("nn" + i);
        settings.put(
            "dfs.namenode.rpc-address.%s.nn%d".formatted(NAME_SERVICE, i), namenodes.get(i));
        if (!webs.isEmpty()) {
          settings.put("%s.%s.nn%d".formatted(HTTP_ADDRESS, NAME_SERVICE, i), webs.get(i));
        }
      }
      settings.put("dfs.nameservices", NAME_SERVICE);
      settings.put("dfs.ha.namenodes." + NAME_SERVICE, String.join(",", names));
      settings.put("dfs.client.failover.proxy.provider." + NAME_SERVICE, PROXY_PROVIDER);
      settings.put("dfs.client.failover.random.order", "true");
      settings.put("dfs.client.failover.sleep.base.millis", "100");
      settings.put("dfs.client.failover.sleep.max.millis", "1000");
      settings.put("dfs.client.failover.max.attempts", "60");
    }
    return settings;
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
    HadoopSite.write(conf, "core-site.xml", Map.of("fs.defaultFS", uri()));
    HadoopSite.write(conf, "hdfs-site.xml", settings());
    Files.writeString(conf.resolve("log4j.properties"), ClusterFiles.logging());
  }
}
