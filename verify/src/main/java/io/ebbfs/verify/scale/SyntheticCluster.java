package io.ebbfs.verify.scale;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.common.config.ConfigException;
import io.ebbfs.manager.Manager;
import io.ebbfs.manager.config.HalfLives;
import io.ebbfs.manager.config.ManagerConfig;
import io.ebbfs.manager.config.ManagerOptions;
import io.ebbfs.manager.heat.ManagerStore;
import io.ebbfs.manager.heat.OpenEvent;
import io.ebbfs.namenode.NamenodeConfig;
import io.ebbfs.namenode.NamenodeConfig.Override;
import io.ebbfs.namenode.NamenodeServer;
import io.ebbfs.namenode.store.FailedSync;
import io.ebbfs.namenode.store.RocksDbStore;
import io.ebbfs.protocol.rpc.NamenodeClient;
import io.ebbfs.protocol.rpc.RpcSettings;
import io.ebbfs.protocol.rpc.SecretFile;
import io.ebbfs.protocol.rpc.ServiceKey;
import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.KafkaFiles;
import io.ebbfs.testbed.process.ServerLog;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocolPB.DatanodeProtocolClientSideTranslatorPB;

/**
 * A namenode over the rows of a {@link SyntheticNamespace}, 500 servers that beat by real calls, a
 * Kafka broker, and the adaptive manager. All but the broker run in this process.
 */
final class SyntheticCluster implements AutoCloseable {
  static final int SERVERS = 500;
  static final int DISKS = 12;

  /** One of so many files was read, most of them seldom. */
  private static final int READ_ONE_OF = 5;

  private static final int EVENTS_PER_COUNT = 5_000;

  /** The manager reads several times as many. */
  private static final long LEAST_FILES_PER_SECOND = 5_000;

  private static final long LEAST_FILL_SECONDS = 3_600;
  private static final double SHOW_EVERY_NANOS = 10e9;

  static final String POLICIES =
      """
      policies:
        - name: %s
          paths: [%s]
          family: product
          storageBound: 1.5
          writeColdAfter: 1h
          readHot: auto
      """
          .formatted(SyntheticNamespace.POLICY, SyntheticNamespace.ROOT);

  /** A part of a run. */
  interface Step {
    void run() throws Exception;
  }

  private final long files;
  private final Path directory;
  private final ManagerConfig.Schedule schedule;
  private final PrintStream out;
  // Held while rows are written, and while the broker's process is made.
  private final Object working = new Object();
  private volatile boolean isClosing;
  private ServerBlocks serverBlocks;
  private int kafkaPort;
  private Process kafka;
  private NamenodeServer namenode;
  private DatanodeProtocolClientSideTranslatorPB datanodes;
  private SyntheticServers servers;
  private NamenodeClient client;
  private Manager manager;

  /**
   * @param directory for all files of the cluster
   * @param schedule when the manager evaluates and looks for changes
   */
  SyntheticCluster(long files, Path directory, ManagerConfig.Schedule schedule, PrintStream out) {
    this.files = files;
    this.directory = directory;
    this.schedule = schedule;
    this.out = out;
  }

  // ---- the namenode and its servers -------------------------------------------------------------

  /**
   * Writes the rows.
   *
   * @param inOneDirectory so many files are in one directory
   */
  void fill(long inOneDirectory) throws Exception {
    synchronized (working) {
      requireOpen();
      write(inOneDirectory);
    }
  }

  private void requireOpen() {
    if (isClosing) {
      throw new IllegalStateException("the cluster is being closed");
    }
  }

  private void write(long inOneDirectory) throws Exception {
    long modified = System.currentTimeMillis() - 30L * 86_400_000;
    serverBlocks = new ServerBlocks(directory.resolve("blocks"), SERVERS, DISKS);
    try (ServerBlocks blocks = serverBlocks;
        RocksDbStore store =
            RocksDbStore.open(
                directory.resolve("namenode/metadata"),
                60_000,
                256L << 20,
                FailedSync::stopProcess)) {
      long[] shown = {System.nanoTime()};
      int threads = Runtime.getRuntime().availableProcessors();
      new SyntheticNamespace(store, blocks, SERVERS, DISKS, threads, modified)
          .fill(
              files,
              inOneDirectory,
              done -> {
                requireOpen();
                synchronized (shown) {
                  shown[0] = show(shown[0], "files are written", done);
                }
              });
    }
  }

  /** Starts a broker and waits until it listens. */
  void startKafka() throws ClusterException, IOException, InterruptedException {
    kafkaPort = freePort();
    Path home = Files.createDirectories(directory.resolve("kafka"));
    String classPath = Build.find().classPath("testbed/broker");
    Path properties = KafkaFiles.writeProperties(home, "127.0.0.1", kafkaPort, freePort());
    KafkaFiles.format(home, properties, classPath, new ServerLog(home.resolve("format.log")));
    synchronized (working) {
      requireOpen();
      kafka =
          new ProcessBuilder(KafkaFiles.command(classPath, properties))
              .redirectErrorStream(true)
              .redirectOutput(home.resolve("kafka.log").toFile())
              .start();
    }
    long deadline = System.nanoTime() + 60_000_000_000L;
    while (System.nanoTime() < deadline) {
      try (Socket socket = new Socket()) {
        socket.connect(new InetSocketAddress("127.0.0.1", kafkaPort), 500);
        return;
      } catch (IOException e) {
        Thread.sleep(200);
      }
    }
    throw new IOException("Kafka does not listen after a minute; see " + home.resolve("kafka.log"));
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  void startNamenode() throws Exception {
    requireOpen();
    namenode = NamenodeServer.start(config(), Clock.systemUTC(), new Random(1));
  }

  private NamenodeConfig config() throws ConfigException {
    return NamenodeConfig.of(
        Optional.empty(),
        List.of(
            new Override("scale", "data", directory.resolve("namenode").toString()),
            new Override("scale", "port", "0"),
            new Override("scale", "backupEvery", "0"),
            new Override("scale", "safeModeThreshold", "0"),
            new Override("scale", "safeModeGrace", "1s"),
            new Override("scale", "kafka", "127.0.0.1:" + kafkaPort)),
        Optional.empty());
  }

  NamenodeServer namenode() {
    return namenode;
  }

  /** Registers the servers; they beat from then on. */
  void registerServers() throws IOException {
    datanodes =
        new DatanodeProtocolClientSideTranslatorPB(namenode.address(), new Configuration(false));
    servers = new SyntheticServers(datanodes, SERVERS, DISKS);
    servers.register();
    servers.beatOn();
  }

  /** A client of the file system. The caller closes it. */
  DistributedFileSystem client() throws IOException {
    Configuration conf = new Configuration();
    conf.setInt("dfs.replication", 3);
    DistributedFileSystem hdfs = new DistributedFileSystem();
    hdfs.initialize(URI.create("hdfs://127.0.0.1:" + namenode.address().getPort()), conf);
    return hdfs;
  }

  /** A full report of one server. Returns the number of its blocks. */
  long report(int server) throws IOException {
    return servers.report(server, serverBlocks);
  }

  /** Heartbeats that failed. */
  long failedBeats() {
    return servers.failures();
  }

  // ---- the manager ------------------------------------------------------------------------------

  /** A manager that is not started yet, in the place of the one before, which is closed. */
  Manager openManager() throws ConfigException, IOException {
    requireOpen();
    if (manager != null) {
      manager.close();
    }
    if (client == null) {
      client = new NamenodeClient(namenode.address(), RpcSettings.tryOnce(60_000), ServiceKey.NONE);
    }
    Path conf = Files.createDirectories(directory.resolve("conf"));
    Files.writeString(conf.resolve("policies.yaml"), POLICIES);
    if (!Files.exists(tokenFile())) {
      SecretFile.create(tokenFile());
    }
    ManagerConfig defaults = ManagerConfig.defaults();
    manager =
        new Manager(
            new ManagerOptions(
                conf,
                directory.resolve("manager"),
                "127.0.0.1:" + namenode.address().getPort(),
                "127.0.0.1:" + kafkaPort,
                "127.0.0.1",
                0,
                Optional.of(tokenFile())),
            new ManagerConfig(defaults.heat(), schedule, defaults.limits(), defaults.startup()),
            CodeRegistry.builtIn(),
            client::coding,
            Clock.systemUTC());
    return manager;
  }

  /** The policies in force, which may be edited. */
  Path policiesFile() {
    return directory.resolve("conf/policies.yaml");
  }

  Path tokenFile() {
    return directory.resolve("conf/api.token");
  }

  /** Starts the manager and waits until its view is complete. */
  void startManager() throws Exception {
    manager.start();
    long seconds = Math.max(LEAST_FILL_SECONDS, files / LEAST_FILES_PER_SECOND);
    long deadline = System.nanoTime() + seconds * 1_000_000_000L;
    long shown = System.nanoTime();
    while (!manager.follower().status().complete() || !manager.follower().status().following()) {
      if (System.nanoTime() > deadline) {
        throw new IOException("the view is not complete: " + manager.follower().status());
      }
      shown = show(shown, "files are in the view", manager.view().files());
      Thread.sleep(100);
    }
  }

  /** Few files are read often: the reads of the n-th file are about as 1 to n. */
  void countReads() throws Exception {
    Random random = new Random(3);
    HalfLives halfLives = ManagerConfig.defaults().heat().halfLives();
    List<OpenEvent> events = new ArrayList<>();
    long counted = 0;
    long shown = System.nanoTime();
    long after = -1;
    do {
      after =
          manager.view().eachFile(after, EVENTS_PER_COUNT, file -> read(file.id(), random, events));
      counted += events.size();
      manager.store().count(events, new ManagerStore.Position("synthetic", 0, counted), halfLives);
      events.clear();
      shown = show(shown, "files: reads are counted", counted * READ_ONE_OF);
    } while (after >= 0);
  }

  private static void read(long fileId, Random random, List<OpenEvent> events) {
    if (random.nextInt(READ_ONE_OF) == 0) {
      long reads = Math.round(Math.min(1e4, 1 / random.nextDouble()));
      events.add(new OpenEvent(fileId, System.currentTimeMillis(), reads));
    }
  }

  /** Prints how far something has come, now and then. Returns when that was done last. */
  long show(long shownNanos, String what, long done) {
    if (System.nanoTime() - shownNanos < SHOW_EVERY_NANOS) {
      return shownNanos;
    }
    out.printf("  %,d of %,d %s%n", done, files, what);
    return System.nanoTime();
  }

  /**
   * Closes all of it, whatever fails on the way. The writing of rows, if it goes on, ends first.
   */
  @java.lang.Override
  public void close() throws Exception {
    isClosing = true;
    synchronized (working) {
      try {
        closeAll(servers, manager, client, datanodes, namenode);
      } finally {
        if (kafka != null) {
          kafka.destroyForcibly().waitFor();
        }
      }
    }
  }

  private static void closeAll(AutoCloseable... parts) throws Exception {
    Exception failure = null;
    for (AutoCloseable part : parts) {
      try {
        if (part != null) {
          part.close();
        }
      } catch (Exception e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
