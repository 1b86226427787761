package io.ebbfs.verify.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.NamenodeConfig;
import io.ebbfs.namenode.NamenodeServer;
import io.ebbfs.testbed.Build;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.hdfs.DFSConfigKeys;
import org.apache.hadoop.hdfs.DFSUtilClient;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.ClientDatanodeProtocol;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.apache.hadoop.ipc.RPC;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** HDFS's own balancer, out of its jar, on a namenode and chunk servers of EbbFS. */
@Tag("process")
class BalancerSystemTest {
  private static final int BLOCK = 1 << 20;
  private static final int FILES = 24;
  private static final short REPLICATION = 2;

  /** What a server says that it can hold: small, so that few blocks fill it. */
  private static final long CAPACITY = 64L << 20;

  @TempDir static Path directory;
  private static final List<Process> chunkServers = new ArrayList<>();
  private static NamenodeServer namenode;
  private static DistributedFileSystem fs;

  @BeforeAll
  static void start() throws Exception {
    List<NamenodeConfig.Override> overrides =
        List.of(
            new NamenodeConfig.Override("data", "data", directory.resolve("namenode").toString()),
            new NamenodeConfig.Override("port", "port", "0"));
    namenode =
        NamenodeServer.start(
            NamenodeConfig.of(Optional.empty(), overrides, Optional.empty()),
            Clock.systemUTC(),
            new Random(1));
    fs = (DistributedFileSystem) DistributedFileSystem.newInstance(uri(), configuration());
  }

  @AfterAll
  static void stop() throws Exception {
    if (fs != null) {
      fs.close();
    }
    for (Process process : chunkServers) {
      process.destroyForcibly().waitFor();
    }
    if (namenode != null) {
      namenode.close();
    }
  }

  private static URI uri() {
    return URI.create("hdfs://127.0.0.1:" + namenode.address().getPort());
  }

  private static Configuration configuration() {
    Configuration conf = new Configuration();
    conf.set("fs.defaultFS", uri().toString());
    return conf;
  }

  private static void startChunkServer() throws Exception {
    int number = chunkServers.size();
    long space = Files.getFileStore(directory).getTotalSpace();
    chunkServers.add(
        new ProcessBuilder(
                Build.find().chunkServer().toString(),
                "--namenode=127.0.0.1:" + namenode.address().getPort(),
                "--data=" + directory.resolve("chunks" + number),
                "--heartbeat-millis=200",
                "--reserved-bytes=0",
                "--disks-per-file-system=" + Math.max(1, space / CAPACITY),
                "--ready-file=" + directory.resolve("ready" + number))
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("chunkserver" + number + ".log").toFile())
            .start());
    await("a chunk server", () -> Files.exists(directory.resolve("ready" + number)));
  }

  private static void await(String what, BooleanSupplier condition) {
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(3);
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as(what).isLessThan(end);
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
    }
  }

  private static org.apache.hadoop.fs.Path file(int number) {
    return new org.apache.hadoop.fs.Path("/data/" + number);
  }

  private static byte[] content(int number) {
    byte[] bytes = new byte[BLOCK];
    new Random(number).nextBytes(bytes);
    return bytes;
  }

  @Test
  void itFillsAnEmptyServerAndEndsByItself() throws Exception {
    startChunkServer();
    startChunkServer();
    await("both servers", () -> reports().length == 2);
    for (int i = 0; i < FILES; i++) {
      try (FSDataOutputStream out = fs.create(file(i), true, 64 << 10, REPLICATION, BLOCK)) {
        out.write(content(i));
      }
    }
    startChunkServer();
    await("all servers", () -> reports().length == 3);
    await("heartbeats that tell of the blocks", () -> used() >= (long) FILES * REPLICATION * BLOCK);
    fs.setBalancerBandwidth(77L << 20);
    for (DatanodeInfo server : reports()) {
      await("the bandwidth at " + server, () -> bandwidth(server) == 77L << 20);
    }

    int exit = balance();

    String said = Files.readString(directory.resolve("balancer.log"));
    assertThat(exit).as("exit code; the balancer said %s", said).isZero();
    await("the old replicas go", () -> replicas().stream().allMatch(n -> n == REPLICATION));
    Map<String, Integer> held = held();
    assertThat(held).as("blocks of each server; the balancer said %s", said).hasSize(3);
    // A third of the replicas each would be 16; 5 % of the capacity are 3 blocks.
    assertThat(held.values()).allMatch(blocks -> blocks >= 12 && blocks <= 20);
    assertThat(fs.exists(new org.apache.hadoop.fs.Path("/system/balancer.id"))).isFalse();
    for (int i = 0; i < FILES; i++) {
      try (InputStream in = fs.open(file(i))) {
        assertThat(Arrays.equals(in.readAllBytes(), content(i))).as("file " + i).isTrue();
      }
    }
    assertThat(logs()).noneMatch(log -> log.contains("[error]"));
  }

  /** Runs the stock balancer as a process of its own, and returns its exit code. */
  private static int balance() throws Exception {
    Path logging = directory.resolve("log4j.properties");
    Files.writeString(
        logging,
        """
        log4j.rootLogger=INFO, out
        log4j.appender.out=org.apache.log4j.ConsoleAppender
        log4j.appender.out.layout=org.apache.log4j.PatternLayout
        log4j.appender.out.layout.ConversionPattern=%d %p %c: %m%n
        """);
    Process balancer =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Dlog4j.configuration=" + logging.toUri(),
                "-cp",
                Build.find().classPath("testbed/hdfs"),
                "org.apache.hadoop.hdfs.server.balancer.Balancer",
                "-D",
                "fs.defaultFS=" + uri(),
                "-D",
                // The balancer pauses for two heartbeats and one check of the redundancy between
                // its rounds.
                DFSConfigKeys.DFS_HEARTBEAT_INTERVAL_KEY + "=1",
                "-D",
                DFSConfigKeys.DFS_NAMENODE_REDUNDANCY_INTERVAL_SECONDS_KEY + "=1",
                "-D",
                DFSConfigKeys.DFS_BALANCER_GETBLOCKS_MIN_BLOCK_SIZE_KEY + "=1",
                "-D",
                "dfs.blocksize=" + BLOCK,
                // The servers of this test share a file system, so all have the same space left.
                // The other policy of the balancer looks at that, and would find them alike.
                "-policy",
                "blockpool",
                "-threshold",
                "5")
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("balancer.log").toFile())
            .start();
    try {
      assertThat(balancer.waitFor(2, TimeUnit.MINUTES)).as("the balancer ends").isTrue();
      return balancer.exitValue();
    } finally {
      balancer.destroyForcibly();
    }
  }

  private static DatanodeInfo[] reports() {
    try {
      return fs.getDataNodeStats();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static long used() {
    return Stream.of(reports()).mapToLong(DatanodeInfo::getDfsUsed).sum();
  }

  private static long bandwidth(DatanodeInfo server) {
    try {
      ClientDatanodeProtocol client =
          DFSUtilClient.createClientDatanodeProtocolProxy(server, configuration(), 10_000, false);
      try {
        return client.getBalancerBandwidth();
      } finally {
        RPC.stopProxy(client);
      }
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static List<LocatedBlock> blocks() {
    List<LocatedBlock> all = new ArrayList<>();
    try {
      for (int i = 0; i < FILES; i++) {
        all.addAll(
            fs.getClient()
                .getLocatedBlocks(file(i).toString(), 0, Long.MAX_VALUE)
                .getLocatedBlocks());
      }
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return all;
  }

  private static List<Integer> replicas() {
    return blocks().stream().map(block -> block.getLocations().length).toList();
  }

  private static Map<String, Integer> held() {
    Map<String, Integer> held = new HashMap<>();
    for (LocatedBlock block : blocks()) {
      Set<String> servers =
          Stream.of(block.getLocations())
              .map(DatanodeInfo::getDatanodeUuid)
              .collect(Collectors.toSet());
      assertThat(servers).as("servers of " + block).hasSize(REPLICATION);
      servers.forEach(uuid -> held.merge(uuid, 1, Integer::sum));
    }
    return held;
  }

  private static List<String> logs() throws IOException {
    List<String> logs = new ArrayList<>();
    for (int i = 0; i < chunkServers.size(); i++) {
      logs.add(Files.readString(directory.resolve("chunkserver" + i + ".log")));
    }
    return logs;
  }
}
