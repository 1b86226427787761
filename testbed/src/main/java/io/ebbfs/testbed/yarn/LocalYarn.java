package io.ebbfs.testbed.yarn;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.ConditionWaiter;
import io.ebbfs.testbed.HadoopSite;
import io.ebbfs.testbed.process.FreePorts;
import io.ebbfs.testbed.process.Launcher;
import io.ebbfs.testbed.process.ProcessId;
import io.ebbfs.testbed.process.ServerLog;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Hadoop's own ResourceManager and one NodeManager as processes on this machine, with Hadoop's jars
 * and no other. Containers are child processes of the NodeManager. Not thread-safe.
 */
public final class LocalYarn implements AutoCloseable {
  private static final long START_MILLIS = 60_000;
  private static final long END_MILLIS = 60_000;
  private static final int LOG_LINES = 15;
  private static final String PACKAGE = "org.apache.hadoop.yarn.server.";

  private final Path directory;
  private final String jars;
  private final Launcher launcher;
  private final Iterator<Integer> ports;
  private final String web;
  private final List<ProcessId> daemons = new ArrayList<>();

  private LocalYarn(Path directory, String jars) throws ClusterException {
    this.directory = directory;
    this.jars = jars;
    this.launcher = new Launcher(directory);
    this.ports = FreePorts.find(5).iterator();
    this.web = "127.0.0.1:" + ports.next();
  }

  /**
   * Launches both processes and does not wait for them.
   *
   * @param directory of their configuration, logs and files, and those of containers
   * @param environment of containers, besides that of this process
   */
  public static LocalYarn launch(Build build, Path directory, Map<String, String> environment)
      throws ClusterException, IOException {
    LocalYarn yarn = new LocalYarn(directory, jars(build));
    List<String> inherited = new ArrayList<>(environment.keySet());
    inherited.addAll(List.of("JAVA_HOME", Launcher.MARK, Launcher.TEST_RUN));
    yarn.configure(inherited);
    yarn.launch("resourcemanager.ResourceManager", environment);
    yarn.launch("nodemanager.NodeManager", environment);
    return yarn;
  }

  private static String jars(Build build) throws ClusterException {
    try {
      return build.classPath("testbed/yarn");
    } catch (ClusterException e) {
      throw new ClusterException(
          "YARN's jars are not there: 'mvn -pl testbed/yarn process-test-classes' fetches them", e);
    }
  }

  /** The directory with {@code yarn-site.xml} and {@code mapred-site.xml}. */
  public Path conf() {
    return directory.resolve("conf");
  }

  private void configure(List<String> inherited) throws IOException {
    Map<String, String> site = new LinkedHashMap<>();
    site.put("yarn.resourcemanager.webapp.address", web);
    for (String service : List.of("", "scheduler.", "resource-tracker.", "admin.")) {
      site.put("yarn.resourcemanager." + service + "address", "127.0.0.1:" + ports.next());
    }
    for (String service : List.of("", "localizer.", "webapp.", "collector-service.")) {
      site.put("yarn.nodemanager." + service + "address", "127.0.0.1:0");
    }
    site.put(
        "yarn.resourcemanager.scheduler.class",
        PACKAGE + "resourcemanager.scheduler.fifo.FifoScheduler");
    site.put("yarn.resourcemanager.nodemanagers.heartbeat-interval-ms", "100");
    site.put("yarn.resourcemanager.connect.retry-interval.ms", "500");
    site.put("yarn.scheduler.minimum-allocation-mb", "64");
    site.put("yarn.nodemanager.resource.memory-mb", "4096");
    site.put("yarn.nodemanager.vmem-check-enabled", "false");
    site.put("yarn.nodemanager.pmem-check-enabled", "false");
    site.put("yarn.nodemanager.disk-health-checker.enable", "false");
    site.put("yarn.nodemanager.local-dirs", directory.resolve("local").toString());
    site.put("yarn.nodemanager.log-dirs", containerLogs().toString());
    // Containers are found by these variables, as all processes of a test are.
    site.put("yarn.nodemanager.env-whitelist", String.join(",", inherited));
    site.put("yarn.nodemanager.aux-services", "mapreduce_shuffle");
    site.put("mapreduce.shuffle.port", "0");
    site.put("yarn.application.classpath", jars.replace(File.pathSeparatorChar, ','));
    HadoopSite.write(conf(), "yarn-site.xml", site);
    Map<String, String> mapred = new LinkedHashMap<>();
    String jvm =
        "-Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Djava.net.preferIPv4Stack=true";
    mapred.put("mapreduce.application.classpath", jars.replace(File.pathSeparatorChar, ','));
    mapred.put("yarn.app.mapreduce.am.resource.mb", "256");
    mapred.put("yarn.app.mapreduce.am.command-opts", jvm);
    mapred.put("yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms", "200");
    mapred.put("mapreduce.map.memory.mb", "256");
    mapred.put("mapreduce.map.java.opts", jvm);
    HadoopSite.write(conf(), "mapred-site.xml", mapred);
    Files.writeString(
        conf().resolve("log4j.properties"),
        """
        log4j.rootLogger=INFO, out
        log4j.appender.out=org.apache.log4j.ConsoleAppender
        log4j.appender.out.layout=org.apache.log4j.EnhancedPatternLayout
        log4j.appender.out.layout.ConversionPattern=%d{ISO8601} %-5p %c{1}: %m%n
        """);
  }

  private void launch(String daemon, Map<String, String> environment)
      throws ClusterException, IOException {
    List<String> command = new ArrayList<>(List.of("env"));
    command.add("JAVA_HOME=" + System.getProperty("java.home"));
    environment.forEach((name, value) -> command.add(name + "=" + value));
    command.addAll(
        List.of(
            Launcher.java(),
            "-Xmx200m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Djava.net.preferIPv4Stack=true",
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
            "-Dhadoop.tmp.dir=" + directory.resolve("tmp"),
            "-cp",
            conf() + File.pathSeparator + jars,
            PACKAGE + daemon));
    daemons.add(launcher.start(daemon, command, directory, log(daemon)));
  }

  private ServerLog log(String daemon) {
    return new ServerLog(directory.resolve("logs").resolve(daemon + ".log"));
  }

  /** The directory below which each container has its logs. */
  public Path containerLogs() {
    return directory.resolve("container-logs");
  }

  /** Waits until the NodeManager offers its memory. */
  public void awaitNode() throws ClusterException, InterruptedException {
    Optional<String> objection =
        ConditionWaiter.within(START_MILLIS)
            .objection(
                () -> {
                  if (!daemons.stream().allMatch(ProcessId::isAlive)) {
                    throw failure("ended before it was ready");
                  }
                  String nodes = rest("/ws/v1/cluster/nodes");
                  return nodes.contains("\"RUNNING\"") ? null : nodes;
                });
    if (objection.isPresent()) {
      throw failure("has no node after %d s: %s".formatted(START_MILLIS / 1000, objection.get()));
    }
  }

  private ClusterException failure(String what) {
    return new ClusterException(
        "YARN %s; its logs end with%s%n%s"
            .formatted(
                what,
                log("resourcemanager.ResourceManager").tail(LOG_LINES),
                log("nodemanager.NodeManager").tail(LOG_LINES)));
  }

  /**
   * The ResourceManager's answer about all applications, in JSON; the error if it does not answer.
   */
  public String applications() throws InterruptedException {
    return rest("/ws/v1/cluster/apps");
  }

  private String rest(String path) throws InterruptedException {
    try {
      return HttpClient.newHttpClient()
          .send(
              HttpRequest.newBuilder(URI.create("http://" + web + path)).build(),
              HttpResponse.BodyHandlers.ofString())
          .body();
    } catch (IOException e) {
      return e.toString();
    }
  }

  /** Kills both processes and all containers. */
  @Override
  public void close() throws IOException, InterruptedException {
    launcher.killAll(END_MILLIS);
  }
}
