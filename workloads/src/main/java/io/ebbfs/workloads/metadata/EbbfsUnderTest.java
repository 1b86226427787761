package io.ebbfs.workloads.metadata;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.ConditionWaiter;
import io.ebbfs.testbed.cluster.KafkaFiles;
import io.ebbfs.testbed.process.FreePorts;
import io.ebbfs.testbed.process.Launcher;
import io.ebbfs.testbed.process.Ports;
import io.ebbfs.testbed.process.ProcessId;
import io.ebbfs.testbed.process.ServerLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A namenode of EbbFS with the settings of {@code conf/namenode.yaml}, which suit production, a
 * Kafka broker that gets its events, and chunk servers. Not thread-safe.
 */
final class EbbfsUnderTest implements NamenodeUnderTest {
  private static final String HOST = "127.0.0.1";
  private static final String NAMENODE = "namenode";
  private static final String KAFKA = "kafka";
  private static final long START_MILLIS = 300_000;
  private static final long END_MILLIS = 30_000;
  private static final int LOG_LINES = 15;

  private final Build build;
  private final Path directory;
  private final int heapMebibytes;
  private final Launcher launcher;
  private final int port;
  private final Ports kafkaPorts;
  private final StoreCopies copies;
  private final List<ChunkServer> chunkServers = new ArrayList<>();
  private final List<ProcessId> runningChunkServers = new ArrayList<>();
  private List<String> settings = List.of();
  private long copiedBytes;
  private ProcessId namenode;

  private record ChunkServer(String name, List<String> command, int ipcPort) {}

  EbbfsUnderTest(Build build, Path directory, int heapMebibytes, StoreCopies copies)
      throws ClusterException, IOException {
    this.build = build;
    this.directory = Files.createDirectories(directory);
    this.heapMebibytes = heapMebibytes;
    this.copies = copies;
    this.launcher = new Launcher(directory);
    this.port = FreePorts.find(1).get(0);
    this.kafkaPorts = Ports.free(null, 0);
  }

  /** Launches the broker and does not wait for it: the namenode works without it. */
  void launchKafka() throws ClusterException, IOException, InterruptedException {
    Path files = directory.resolve(KAFKA);
    String jars = build.classPath("testbed/broker");
    Path properties = KafkaFiles.writeProperties(files, HOST, kafkaPorts);
    KafkaFiles.format(files, properties, jars, log(KAFKA));
    List<String> command = new ArrayList<>(List.of(Launcher.java()));
    command.addAll(List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.add("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn");
    command.addAll(List.of("-cp", jars, "kafka.Kafka", properties.toString()));
    launcher.start(KAFKA, command, directory, log(KAFKA));
  }

  /** Settings of the next launch: {@code storeCache=4MiB}. */
  void configure(List<String> keysAndValues) {
    settings = List.copyOf(keysAndValues);
  }

  private Path readyFile() {
    return directory.resolve("ready");
  }

  private ServerLog log(String process) {
    return new ServerLog(directory.resolve("logs").resolve(process + ".log"));
  }

  /** Where the namenode keeps its rows. */
  private Path data() {
    return directory.resolve("data");
  }

  @Override
  public void launchNamenode() throws ClusterException, IOException {
    Files.deleteIfExists(readyFile());
    List<String> command = new ArrayList<>(List.of(Launcher.java()));
    command.addAll(NamenodeJvm.flags(heapMebibytes));
    command.add("-Djava.net.preferIPv4Stack=true");
    command.addAll(List.of("-cp", build.classPath("cli"), "io.ebbfs.cli.Ebb", NAMENODE));
    command.addAll(List.of("--data", data().toString(), "--host", HOST));
    command.addAll(List.of("--port", Integer.toString(port)));
    command.addAll(List.of("--kafka", HOST + ":" + kafkaPorts.kafka()));
    command.addAll(List.of("--ready-file", readyFile().toString()));
    settings.forEach(setting -> command.addAll(List.of("--set", setting)));
    namenode = launcher.start(NAMENODE, command, directory, log(NAMENODE));
  }

  @Override
  public void awaitNamenode() throws ClusterException, IOException, InterruptedException {
    ConditionWaiter.within(START_MILLIS)
        .until(
            "the start of EbbFS's namenode",
            () -> {
              if (!namenode.isAlive()) {
                throw new ClusterException(
                    "EbbFS's namenode has ended; its log ends with"
                        + log(NAMENODE).tail(LOG_LINES));
              }
              return Files.exists(readyFile()) ? null : readyFile() + " is not there yet";
            });
  }

  @Override
  public void stopNamenode() throws ClusterException, InterruptedException {
    namenode.signal(false);
    if (!namenode.awaitEnd(START_MILLIS)) {
      throw new ClusterException("EbbFS's namenode (pid %d) does not end".formatted(pid()));
    }
  }

  @Override
  public void launchDataServer() throws ClusterException, IOException {
    int index = chunkServers.size();
    List<Integer> ports = FreePorts.find(2);
    Files.createDirectories(disk(index));
    List<String> command =
        List.of(
            build.chunkServer().toString(),
            "--namenode",
            HOST + ":" + port,
            "--data",
            disk(index).toString(),
            "--host",
            HOST,
            "--transfer-port",
            Integer.toString(ports.get(0)),
            "--ipc-port",
            Integer.toString(ports.get(1)));
    ChunkServer server = new ChunkServer("chunk-server-" + index, command, ports.get(1));
    chunkServers.add(server);
    launch(server);
  }

  private void launch(ChunkServer server) throws ClusterException {
    runningChunkServers.add(
        launcher.start(server.name(), server.command(), directory, log(server.name())));
  }

  @Override
  public void killDataServers() throws ClusterException, InterruptedException {
    for (ProcessId server : runningChunkServers) {
      server.signal(true);
      if (!server.awaitEnd(END_MILLIS)) {
        throw new ClusterException("a chunk server (pid %d) does not end".formatted(server.pid()));
      }
    }
    runningChunkServers.clear();
  }

  @Override
  public void relaunchDataServers() throws ClusterException {
    for (ChunkServer server : chunkServers) {
      launch(server);
    }
  }

  @Override
  public void copyFiles(CopiedTree tree) throws IOException {
    NewBlocks blocks =
        chunkServers.isEmpty()
            ? NewBlocks.NONE
            : new BlockFileCopies(
                disk(0).resolve("finalized"), blockId -> "%02x".formatted(blockId & 0xFF));
    copiedBytes = copies.copy(data(), tree, blocks);
  }

  /** Bytes of the rows of the copied files, keys and values, before any compression. */
  long copiedBytes() {
    return copiedBytes;
  }

  private Path disk(int server) {
    return directory.resolve("disk-" + server);
  }

  @Override
  public List<Path> disks() {
    return IntStream.range(0, chunkServers.size()).mapToObj(this::disk).toList();
  }

  @Override
  public int dataServerIpcPort(int server) {
    return chunkServers.get(server).ipcPort();
  }

  @Override
  public String name() {
    return ComparedNamenodes.EBBFS;
  }

  @Override
  public String host() {
    return HOST;
  }

  @Override
  public int port() {
    return port;
  }

  @Override
  public long pid() {
    return namenode.pid();
  }

  @Override
  public void close() throws IOException, InterruptedException {
    launcher.killAll(END_MILLIS);
  }
}
