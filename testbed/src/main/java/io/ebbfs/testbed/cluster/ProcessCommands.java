package io.ebbfs.testbed.cluster;

import io.ebbfs.common.config.ConfigException;
import io.ebbfs.common.jvm.JavaOptions;
import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.process.Launcher;
import io.ebbfs.testbed.process.ProcessNames;
import io.ebbfs.testbed.process.ServerLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The command lines of the processes of one cluster. */
record ProcessCommands(Build build, Path directory, ClusterLayout layout) {
  /** Starts every server process of Java by its name. */
  private static final String EBB = "io.ebbfs.cli.Ebb";

  /** The size of the namenode's heap, as {@code -Xmx} takes it. */
  private static final String NAMENODE_HEAP = "EBB_NAMENODE_HEAP";

  /**
   * Without the optimising compiler. Most local clusters live for minutes, and their control plane
   * and broker have little to do. The namenode has the compiler: it answers every call.
   */
  private static final String QUICK_START = "-XX:TieredStopAtLevel=1";

  /**
   * Set in tests: the namenode has no optimising compiler either. The compiler takes half of the
   * processor time of a start, and a test ends before that pays.
   */
  private static final String QUICK_NAMENODE = "EBB_QUICK_START";

  List<String> namenode(int index) throws ClusterException {
    String name = ProcessNames.namenode(index);
    List<String> command = jvm(System.getenv().getOrDefault(NAMENODE_HEAP, "512m"), "cli");
    if (System.getenv(QUICK_NAMENODE) != null) {
      command.add(1, QUICK_START);
    }
    if (layout.namenodes() > 1) {
      command.addAll(1, JavaOptions.OPENS);
    }
    command.addAll(List.of(EBB, "namenode"));
    command.addAll(List.of("--conf", conf().toString()));
    command.addAll(
        List.of(
            "--set",
            "blockSize=" + layout.blockSizeBytes() + "B",
            "--data",
            directory.resolve(name).toString(),
            "--host",
            layout.host(name),
            "--port",
            String.valueOf(
                index == 0 ? layout.ports().namenode() : layout.ports().more().get(index - 1)),
            "--kafka",
            layout.address(ProcessNames.KAFKA, layout.ports().kafka()),
            "--ready-file",
            readyFile(name).toString()));
    if (!layout.ports().web().isEmpty()) {
      command.addAll(List.of("--set", "httpPort=" + layout.ports().web().get(index)));
    }
    if (layout.hasWebHdfs()) {
      command.addAll(List.of("--set", "proxyUsers=" + System.getProperty("user.name")));
    }
    if (layout.namenodes() > 1) {
      command.addAll(List.of("--set", "storeNodes=" + layout.storeList()));
    }
    if (layout.racks() > 1) {
      command.addAll(List.of("--set", "topology=" + topology()));
    }
    command.addAll(List.of("--set", "serviceKey=" + ClusterFiles.serviceKey(directory)));
    return command;
  }

  /** Writes the configuration of HttpFS, at every start: ports may have changed. */
  List<String> httpFs() throws ClusterException, IOException {
    HttpFsFiles files = new HttpFsFiles(directory.resolve(ProcessNames.HTTPFS));
    files.write(
        new StockClient(
            build,
            files.conf(),
            List.of(layout.namenodeList().split(",")),
            layout.webs(),
            layout.blockSizeBytes()),
        layout.host(ProcessNames.HTTPFS),
        layout.ports().webHdfs());
    return files.command(build.classPath(HttpFsFiles.MODULE), HttpFsFiles.HEAP);
  }

  List<String> store(int index) throws ClusterException {
    String name = ProcessNames.store(index);
    List<String> command = jvm("256m", "cli");
    command.add(1, QUICK_START);
    command.addAll(1, JavaOptions.OPENS);
    command.addAll(
        List.of(
            EBB,
            "store",
            "--conf",
            storeConf(index).toString(),
            "--node",
            layout.address(name, layout.ports().store().get(index)),
            "--data",
            directory.resolve(name).toString()));
    return command;
  }

  /** Writes where the nodes of the store are, at every start: ports may have changed. */
  private Path storeConf(int index) throws ClusterException {
    Path conf = conf().resolve(ProcessNames.store(index));
    try {
      Files.createDirectories(conf);
      Files.writeString(conf.resolve("cluster.yaml"), "store: %s%n".formatted(layout.storeList()));
      Files.writeString(
          conf.resolve("store.yaml"),
          "memory: 256MiB%nlog: 256MiB%nhttpPort: %d%n".formatted(layout.ports().storeHttp(index)));
    } catch (IOException e) {
      throw new ClusterException("%s cannot be written: %s".formatted(conf, e), e);
    }
    return conf;
  }

  /** Writes the rack of each server, at every start: ports may have changed since the last one. */
  private Path topology() throws ClusterException {
    StringBuilder lines = new StringBuilder("# Written at each start: HOST:PORT /rack\n");
    for (int server = 0; server < layout.servers(); server++) {
      lines.append(
          "%s %s%n"
              .formatted(
                  layout.address(
                      ProcessNames.server(server), layout.ports().transfer().get(server)),
                  layout.rack(server)));
    }
    Path file = directory.resolve("topology");
    try {
      Files.writeString(file, lines);
    } catch (IOException e) {
      throw new ClusterException("%s cannot be written: %s".formatted(file, e), e);
    }
    return file;
  }

  List<String> kafka(Path properties) throws ClusterException {
    List<String> command = jvm("256m", "testbed/broker");
    command.add(1, QUICK_START);
    command.addAll(List.of("kafka.Kafka", properties.toString()));
    return command;
  }

  List<String> control() throws ClusterException {
    List<String> command = jvm("384m", "cli");
    command.add(1, QUICK_START);
    command.addAll(
        List.of(
            EBB,
            "control",
            "--conf",
            conf().toString(),
            "--namenode",
            layout.namenodeList(),
            "--kafka",
            layout.address(ProcessNames.KAFKA, layout.ports().kafka()),
            "--http-host",
            layout.host(ProcessNames.CONTROL),
            "--http-port",
            String.valueOf(layout.ports().http()),
            "--data",
            directory.resolve(ProcessNames.CONTROL).toString(),
            "--service-key",
            ClusterFiles.serviceKey(directory).toString(),
            "--api-token",
            ClusterFiles.apiToken(directory).toString(),
            "--ready-file",
            readyFile(ProcessNames.CONTROL).toString()));
    return command;
  }

  List<String> chunkServer(int index) throws ClusterException {
    String disks = disks(index).stream().map(Path::toString).collect(Collectors.joining(","));
    List<String> command = new ArrayList<>();
    command.addAll(
        List.of(
            build.chunkServer().toString(),
            "--namenode",
            layout.namenodeList(),
            "--data",
            disks,
            "--disks-per-file-system",
            String.valueOf(disksPerFileSystem(index)),
            "--host",
            layout.host(ProcessNames.server(index)),
            "--transfer-port",
            String.valueOf(layout.ports().transfer().get(index)),
            "--ipc-port",
            String.valueOf(layout.ports().ipc().get(index)),
            "--service-key",
            ClusterFiles.serviceKey(directory).toString(),
            "--heartbeat-millis",
            String.valueOf(layout.heartbeatMillis()),
            "--ready-file",
            readyFile(ProcessNames.server(index)).toString()));
    try {
      command.addAll(ChunkServerConfig.read(conf()).options());
    } catch (ConfigException e) {
      throw new ClusterException(e.getMessage(), e);
    }
    return command;
  }

  private int disksPerFileSystem(int server) throws ClusterException {
    List<Path> all =
        IntStream.range(0, layout.servers()).boxed().flatMap(i -> disks(i).stream()).toList();
    try {
      return SharedFileSystems.disksPerFileSystem(all, disks(server));
    } catch (IOException e) {
      throw new ClusterException(
          "the file systems of the disks of server %d cannot be told: %s".formatted(server, e), e);
    }
  }

  List<Path> disks(int server) {
    return IntStream.range(0, layout.disks()).mapToObj(disk -> disk(server, disk)).toList();
  }

  Path disk(int server, int disk) {
    return directory.resolve(ProcessNames.server(server)).resolve("disk-" + disk);
  }

  Path readyFile(String process) {
    return directory.resolve("run").resolve(process + ".ready");
  }

  ServerLog log(String process) {
    return new ServerLog(directory.resolve("logs").resolve(process + ".log"));
  }

  Path conf() {
    return directory.resolve("conf");
  }

  private List<String> jvm(String heap, String module) throws ClusterException {
    return new ArrayList<>(
        List.of(
            Launcher.java(),
            "-Xmx" + heap,
            "-Xss512k",
            "-XX:+UseSerialGC",
            "-XX:+ExitOnOutOfMemoryError",
            "-XX:-UsePerfData",
            "-Djava.net.preferIPv4Stack=true",
            "-Dlog4j.configuration=" + conf().resolve("log4j.properties").toUri(),
            // The broker's logger, SimpleLogger, reads no file; its level is a property.
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
            "-cp",
            build.classPath(module)));
  }
}
