package io.ebbfs.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The command lines of the processes of one cluster. */
record Commands(Build build, Path directory, Layout layout) {
  static final String NAMENODE = "namenode";
  static final String KAFKA = "kafka";
  static final String CONTROL = "control";

  /**
   * For processes of a cluster that mostly lives for minutes: there the optimising compiler takes
   * more time than it saves, a third of a namenode's in its first two minutes.
   */
  private static final String QUICK_START = "-XX:TieredStopAtLevel=1";

  static String server(int index) {
    return "server-%02d".formatted(index);
  }

  static String java() {
    return Path.of(System.getProperty("java.home"), "bin", "java").toString();
  }

  List<String> namenode() throws ClusterException {
    List<String> command = jvm(512, "namespace");
    command.add(1, QUICK_START);
    command.add("io.ebbfs.namespace.NamenodeMain");
    Path settings = conf().resolve("namenode.yaml");
    if (Files.exists(settings)) {
      command.addAll(List.of("--conf", settings.toString()));
    }
    Path codes = conf().resolve("codes.yaml");
    if (Files.exists(codes)) {
      command.addAll(List.of("--codes", codes.toString()));
    }
    command.addAll(
        List.of(
            "--set",
            "blockSize=" + layout.blockSizeBytes() + "B",
            "--data",
            directory.resolve(NAMENODE).toString(),
            "--host",
            layout.host(NAMENODE),
            "--port",
            String.valueOf(layout.ports().namenode()),
            "--kafka",
            layout.address(KAFKA, layout.ports().kafka()),
            "--ready-file",
            readyFile(NAMENODE).toString()));
    if (layout.racks() > 1) {
      command.addAll(List.of("--set", "topology=" + topology()));
    }
    return command;
  }

  /** Writes which rack each server is in; ports may have changed since the last start. */
  private Path topology() throws ClusterException {
    StringBuilder lines = new StringBuilder("# Written at each start: HOST:PORT /rack\n");
    for (int server = 0; server < layout.servers(); server++) {
      lines.append(
          "%s %s%n"
              .formatted(
                  layout.address(server(server), layout.ports().transfer().get(server)),
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
    List<String> command = jvm(256, "broker");
    command.add(1, QUICK_START);
    command.addAll(List.of("kafka.Kafka", properties.toString()));
    return command;
  }

  List<String> control() throws ClusterException {
    List<String> command = jvm(384, "control-plane");
    command.add(1, QUICK_START);
    command.addAll(
        List.of(
            "io.ebbfs.controlplane.ControlPlane",
            "--conf",
            conf().toString(),
            "--namenode",
            layout.address(NAMENODE, layout.ports().namenode()),
            "--kafka",
            layout.address(KAFKA, layout.ports().kafka()),
            "--http-host",
            layout.host(CONTROL),
            "--http-port",
            String.valueOf(layout.ports().http()),
            "--data",
            directory.resolve(CONTROL).toString(),
            "--ready-file",
            readyFile(CONTROL).toString()));
    return command;
  }

  List<String> chunkServer(int index) throws ClusterException {
    String disks =
        IntStream.range(0, layout.disks())
            .mapToObj(disk -> disk(index, disk).toString())
            .collect(Collectors.joining(","));
    List<String> command = new ArrayList<>();
    command.addAll(
        List.of(
            build.chunkServer().toString(),
            "--namenode",
            layout.address(NAMENODE, layout.ports().namenode()),
            "--data",
            disks,
            "--host",
            layout.host(server(index)),
            "--transfer-port",
            String.valueOf(layout.ports().transfer().get(index)),
            "--ipc-port",
            String.valueOf(layout.ports().ipc().get(index)),
            "--heartbeat-millis",
            String.valueOf(layout.heartbeatMillis()),
            "--ready-file",
            readyFile(server(index)).toString()));
    command.addAll(ChunkServerConfig.read(conf()).options());
    return command;
  }

  Path disk(int server, int disk) {
    return directory.resolve(server(server)).resolve("disk-" + disk);
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

  private List<String> jvm(int heapMebibytes, String module) throws ClusterException {
    return new ArrayList<>(
        List.of(
            java(),
            "-Xmx" + heapMebibytes + "m",
            "-Xss512k",
            "-XX:+UseSerialGC",
            "-XX:+ExitOnOutOfMemoryError",
            "-XX:-UsePerfData",
            "-Djava.net.preferIPv4Stack=true",
            "-Dlog4j.configuration=" + conf().resolve("log4j.properties").toUri(),
            // The broker's logger is another one; it takes a level and nothing else.
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
            "-cp",
            build.classPath(module)));
  }
}
