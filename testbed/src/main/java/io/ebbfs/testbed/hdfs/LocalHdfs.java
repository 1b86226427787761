package io.ebbfs.testbed.hdfs;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.ConditionWaiter;
import io.ebbfs.testbed.HadoopSite;
import io.ebbfs.testbed.network.ShapedNetwork;
import io.ebbfs.testbed.process.FreePorts;
import io.ebbfs.testbed.process.Launcher;
import io.ebbfs.testbed.process.ProcessId;
import io.ebbfs.testbed.process.ProcessNames;
import io.ebbfs.testbed.process.ServerLog;
import java.io.File;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Apache HDFS on this machine: a NameNode with a real edit log, and DataNodes, as processes with
 * Hadoop's jars and no other. The safe mode ends with the last report that it waits for; all other
 * settings but addresses and directories are HDFS's defaults. Not thread-safe.
 */
public final class LocalHdfs implements AutoCloseable {
  private static final long START_MILLIS = 300_000;
  private static final long END_MILLIS = 30_000;
  private static final int LOG_LINES = 15;
  private static final String LOOPBACK = "127.0.0.1";
  private static final String SERVER = "org.apache.hadoop.hdfs.server.";

  private static final List<String> JVM_OF_FORMAT = List.of("-Xmx256m", "-XX:+UseSerialGC");

  private final Path directory;
  private final String jars;
  private final List<String> namenodeFlags;
  private final Options options;
  private final Launcher launcher;
  private final int port;
  private final List<DataNode> dataNodes = new ArrayList<>();
  private final List<ProcessId> runningDataNodes = new ArrayList<>();
  private ProcessId namenode;

  private record DataNode(
      String name, String host, List<String> command, int transferPort, int ipcPort) {}

  /**
   * What may differ between installations.
   *
   * @param site settings of {@code hdfs-site.xml} that are added, or replace others
   * @param dataNodeFlags of the JVMs of the DataNodes
   * @param disks of each DataNode
   * @param network in which the processes run, DataNode i in the place of chunk server i; null for
   *     loopback
   */
  public record Options(
      Map<String, String> site, List<String> dataNodeFlags, int disks, ShapedNetwork network) {
    public static final Options DEFAULT =
        new Options(Map.of(), List.of("-Xmx256m", "-XX:+UseSerialGC"), 1, null);

    public Options {
      site = Map.copyOf(site);
      dataNodeFlags = List.copyOf(dataNodeFlags);
    }
  }

  private LocalHdfs(
      Path directory, String jars, List<String> namenodeFlags, Options options, int port) {
    this.directory = directory;
    this.jars = jars;
    this.namenodeFlags = List.copyOf(namenodeFlags);
    this.options = options;
    this.launcher = new Launcher(directory);
    this.port = port;
  }

  /**
   * Formats a NameNode in an empty directory.
   *
   * @param directory of configuration, logs, metadata and blocks
   * @param namenodeFlags of the NameNode's JVM
   */
  public static LocalHdfs format(Build build, Path directory, List<String> namenodeFlags)
      throws ClusterException, IOException, InterruptedException {
    return format(build, directory, namenodeFlags, Options.DEFAULT);
  }

  /** The same with other options. */
  public static LocalHdfs format(
      Build build, Path directory, List<String> namenodeFlags, Options options)
      throws ClusterException, IOException, InterruptedException {
    LocalHdfs hdfs =
        new LocalHdfs(
            directory,
            build.classPath("testbed/hdfs"),
            namenodeFlags,
            options,
            FreePorts.find(1).get(0));
    hdfs.configure();
    hdfs.format();
    return hdfs;
  }

  private void configure() throws IOException {
    HadoopSite.write(
        conf(), "core-site.xml", Map.of("fs.defaultFS", "hdfs://" + host() + ":" + port));
    Map<String, String> site = new LinkedHashMap<>();
    site.put("dfs.namenode.name.dir", nameDirectory().toUri().toString());
    site.put("dfs.namenode.http-address", host() + ":0");
    // By default it lasts 30 s longer than needed.
    site.put("dfs.namenode.safemode.extension", "0");
    // A DataNode reserves so many bytes for each block that is being written, whatever the size of
    // the file's blocks: with 128 MiB, a thousand writers need 128 GB of free space.
    site.put("dfs.blocksize", "1m");
    // The addresses of a network of namespaces have no names.
    site.put(
        "dfs.namenode.datanode.registration.ip-hostname-check",
        String.valueOf(options.network() == null));
    site.putAll(options.site());
    HadoopSite.write(conf(), "hdfs-site.xml", site);
    // The jars lack the pages, and the servers do not start without their directories.
    for (String pages : List.of("hdfs", "datanode", "static")) {
      Files.createDirectories(conf().resolve("webapps").resolve(pages));
    }
    Files.writeString(
        conf().resolve("log4j.properties"),
        """
        log4j.rootLogger=INFO, out
        log4j.logger.org.apache.hadoop.hdfs.server.namenode.FSNamesystem.audit=OFF
        log4j.appender.out=org.apache.log4j.ConsoleAppender
        log4j.appender.out.layout=org.apache.log4j.PatternLayout
        log4j.appender.out.layout.ConversionPattern=%d{ISO8601} %p %c{1}: %m%n
        """);
  }

  /** The directory of the NameNode's images and logs. */
  public Path nameDirectory() {
    return directory.resolve("name");
  }

  private Path conf() {
    return directory.resolve("conf");
  }

  private void format() throws ClusterException, IOException, InterruptedException {
    List<String> command = java(JVM_OF_FORMAT, "namenode.NameNode");
    command.addAll(List.of("-format", "-force", "-nonInteractive"));
    ServerLog log = log("format");
    log.rotate();
    int code =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(log.file().toFile())
            .start()
            .waitFor();
    if (code != 0) {
      throw new ClusterException("HDFS's NameNode cannot be formatted:" + log.tail(LOG_LINES));
    }
  }

  private List<String> java(List<String> flags, String daemon) {
    List<String> command = new ArrayList<>(List.of(Launcher.java()));
    command.addAll(flags);
    command.add("-Djava.net.preferIPv4Stack=true");
    command.addAll(List.of("-cp", conf() + File.pathSeparator + jars, SERVER + daemon));
    return command;
  }

  /** Launches the NameNode and does not wait for it. */
  public void launchNamenode() throws ClusterException {
    namenode =
        start(
            ProcessNames.NAMENODE, ProcessNames.NAMENODE, java(namenodeFlags, "namenode.NameNode"));
  }

  /** Ends the NameNode by SIGTERM and waits for its end. */
  public void stopNamenode() throws ClusterException, InterruptedException {
    namenode.signal(false);
    if (!namenode.awaitEnd(START_MILLIS)) {
      throw new ClusterException("HDFS's NameNode (pid %d) does not end".formatted(namenode.pid()));
    }
  }

  /** Launches one more DataNode and does not wait for it. */
  public void launchDataNode() throws ClusterException {
    List<Integer> ports = FreePorts.find(2);
    int index = dataNodes.size();
    String host = hostOf(ProcessNames.server(index));
    List<String> command = java(options.dataNodeFlags(), "datanode.DataNode");
    command.addAll(
        List.of(
            "-Ddfs.datanode.data.dir=" + disksOf(index),
            "-Ddfs.datanode.address=" + host + ":" + ports.get(0),
            "-Ddfs.datanode.ipc.address=" + host + ":" + ports.get(1),
            "-Ddfs.datanode.http.address=" + host + ":0",
            "-Ddfs.datanode.hostname=" + host));
    dataNodes.add(new DataNode("datanode-" + index, host, command, ports.get(0), ports.get(1)));
    runningDataNodes.add(start(index));
  }

  private ProcessId start(int dataNode) throws ClusterException {
    DataNode started = dataNodes.get(dataNode);
    return start(started.name(), ProcessNames.server(dataNode), started.command());
  }

  /**
   * @param place the process of a cluster of EbbFS in whose namespace the daemon runs
   */
  private ProcessId start(String daemon, String place, List<String> command)
      throws ClusterException {
    ShapedNetwork network = options.network();
    List<String> placed = network == null ? command : network.command(place, command);
    return launcher.start(daemon, placed, directory, log(daemon));
  }

  private String hostOf(String place) {
    return options.network() == null ? LOOPBACK : options.network().host(place);
  }

  /** Kills the DataNodes, so that their disks can be changed. */
  public void killDataNodes() throws ClusterException, InterruptedException {
    for (ProcessId dataNode : runningDataNodes) {
      dataNode.signal(true);
      if (!dataNode.awaitEnd(END_MILLIS)) {
        throw new ClusterException("a DataNode (pid %d) does not end".formatted(dataNode.pid()));
      }
    }
    runningDataNodes.clear();
  }

  /** Kills one DataNode. */
  public void killDataNode(int index) throws ClusterException, InterruptedException {
    ProcessId dataNode = runningDataNodes.get(index);
    dataNode.signal(true);
    if (!dataNode.awaitEnd(END_MILLIS)) {
      throw new ClusterException("a DataNode (pid %d) does not end".formatted(dataNode.pid()));
    }
  }

  /** Launches a killed DataNode again and waits until it accepts connections. */
  public void restartDataNode(int index)
      throws ClusterException, IOException, InterruptedException {
    DataNode dataNode = dataNodes.get(index);
    runningDataNodes.set(index, start(index));
    ConditionWaiter.within(START_MILLIS)
        .until(
            "the start of a DataNode",
            () ->
                accepts(dataNode.host(), dataNode.transferPort())
                    ? null
                    : "nothing listens at " + dataNode.host() + ":" + dataNode.transferPort());
  }

  /** The ports of data transfer, in the order of {@link #dataNodes}. */
  public List<Integer> dataNodeTransferPorts() {
    return dataNodes.stream().map(DataNode::transferPort).toList();
  }

  /** Launches the killed DataNodes again and does not wait for them. */
  public void relaunchDataNodes() throws ClusterException {
    for (int i = 0; i < dataNodes.size(); i++) {
      runningDataNodes.add(start(i));
    }
  }

  private String disksOf(int dataNode) {
    return IntStream.range(0, options.disks())
        .mapToObj(disk -> disk(dataNode, disk).toUri().toString())
        .collect(Collectors.joining(","));
  }

  private Path disk(int dataNode, int disk) {
    return directory.resolve("disk-" + dataNode + (disk == 0 ? "" : "-" + disk));
  }

  /** The directories with the blocks of the DataNodes. */
  public List<Path> disks() {
    return IntStream.range(0, dataNodes.size())
        .boxed()
        .flatMap(node -> IntStream.range(0, options.disks()).mapToObj(disk -> disk(node, disk)))
        .toList();
  }

  /** The processes of the DataNodes, in the order of their launch. */
  public List<ProcessId> dataNodes() {
    return List.copyOf(runningDataNodes);
  }

  /** The ports at which the DataNodes take orders of an administrator. */
  public List<Integer> dataNodeIpcPorts() {
    return dataNodes.stream().map(DataNode::ipcPort).toList();
  }

  /** Waits until the NameNode accepts connections. */
  public void awaitNamenode() throws ClusterException, IOException, InterruptedException {
    ConditionWaiter.within(START_MILLIS)
        .until(
            "the start of HDFS's NameNode",
            () -> {
              if (!namenode.isAlive()) {
                throw new ClusterException(
                    "HDFS's NameNode has ended; its log ends with"
                        + log(ProcessNames.NAMENODE).tail(LOG_LINES));
              }
              return accepts(host(), port) ? null : "nothing listens at " + host() + ":" + port;
            });
  }

  private static boolean accepts(String host, int listening) {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(host, listening), 1000);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** The process of the NameNode. */
  public ProcessId namenode() {
    return namenode;
  }

  /** The address of the NameNode. */
  public String host() {
    return hostOf(ProcessNames.NAMENODE);
  }

  public int port() {
    return port;
  }

  private ServerLog log(String daemon) {
    return new ServerLog(directory.resolve("logs").resolve(daemon + ".log"));
  }

  /** Kills all processes. The files stay. */
  @Override
  public void close() throws IOException, InterruptedException {
    launcher.killAll(END_MILLIS);
  }
}
