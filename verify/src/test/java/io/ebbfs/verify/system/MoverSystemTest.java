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
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.DFSConfigKeys;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** HDFS's own mover, out of its jar, and our satisfier, on typed disks of chunk servers. */
@Tag("process")
class MoverSystemTest {
  private static final int BLOCK = 1 << 20;
  private static final int FILES = 4;
  private static final short REPLICATION = 2;
  private static final int MOST_RUNS = 5;
  private static final org.apache.hadoop.fs.Path DATA = new org.apache.hadoop.fs.Path("/data");

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
    Configuration conf = new Configuration();
    conf.set("fs.defaultFS", uri().toString());
    fs = (DistributedFileSystem) DistributedFileSystem.newInstance(uri(), conf);
    startChunkServer("DISK", "ARCHIVE");
    startChunkServer("DISK");
    startChunkServer("ARCHIVE");
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

  private static void startChunkServer(String... types) throws Exception {
    int number = chunkServers.size();
    List<String> disks = new ArrayList<>();
    for (String type : types) {
      disks.add("[%s]%s".formatted(type, directory.resolve("chunks" + number + type)));
    }
    chunkServers.add(
        new ProcessBuilder(
                Build.find().chunkServer().toString(),
                "--namenode=127.0.0.1:" + namenode.address().getPort(),
                "--data=" + String.join(",", disks),
                "--heartbeat-millis=200",
                "--reserved-bytes=0",
                "--disks-per-file-system=4",
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
    return new org.apache.hadoop.fs.Path(DATA, String.valueOf(number));
  }

  private static byte[] content(int number) {
    byte[] bytes = new byte[BLOCK];
    new Random(number).nextBytes(bytes);
    return bytes;
  }

  @Test
  void replicasMoveBetweenTypesAndBack() throws Exception {
    for (int i = 0; i < FILES; i++) {
      try (FSDataOutputStream out = fs.create(file(i), true, 64 << 10, REPLICATION, BLOCK)) {
        out.write(content(i));
      }
    }
    await("all replicas", () -> areOn(StorageType.DISK));

    fs.setStoragePolicy(DATA, "COLD");
    // The mover of HDFS 3.5 fails in its second round, because it registers its metrics again; a
    // run
    // that finds nothing to move ends well.
    int exit = move();
    for (int run = 1; exit != 0 && run < MOST_RUNS; run++) {
      exit = move();
    }
    assertThat(exit)
        .as("exit code; the mover said %s", Files.readString(directory.resolve("mover.log")))
        .isZero();
    await("HDFS's mover has moved all", () -> areOn(StorageType.ARCHIVE));

    fs.setStoragePolicy(DATA, "HOT");
    fs.satisfyStoragePolicy(DATA);
    await("the namenode has moved all", () -> areOn(StorageType.DISK));
    for (int i = 0; i < FILES; i++) {
      try (InputStream in = fs.open(file(i))) {
        assertThat(Arrays.equals(in.readAllBytes(), content(i))).as("file " + i).isTrue();
      }
    }
  }

  /** Whether each block has its replicas on disks of a type, and no others. */
  private static boolean areOn(StorageType type) {
    try {
      for (int i = 0; i < FILES; i++) {
        for (LocatedBlock block :
            fs.getClient().getLocatedBlocks(file(i).toString(), 0).getLocatedBlocks()) {
          StorageType[] types = block.getStorageTypes();
          if (types.length != REPLICATION || !Stream.of(types).allMatch(type::equals)) {
            return false;
          }
        }
      }
      return true;
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Runs the stock mover as a process of its own, and returns its exit code. */
  private static int move() throws Exception {
    Path logging = directory.resolve("log4j.properties");
    Files.writeString(
        logging,
        """
        log4j.rootLogger=INFO, out
        log4j.appender.out=org.apache.log4j.ConsoleAppender
        log4j.appender.out.layout=org.apache.log4j.PatternLayout
        log4j.appender.out.layout.ConversionPattern=%d %p %c: %m%n
        """);
    Process mover =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Dlog4j.configuration=" + logging.toUri(),
                "-cp",
                Build.find().classPath("testbed/hdfs"),
                "org.apache.hadoop.hdfs.server.mover.Mover",
                "-D",
                "fs.defaultFS=" + uri(),
                "-D",
                DFSConfigKeys.DFS_HEARTBEAT_INTERVAL_KEY + "=1",
                "-D",
                DFSConfigKeys.DFS_NAMENODE_REDUNDANCY_INTERVAL_SECONDS_KEY + "=1",
                "-p",
                DATA.toString())
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("mover.log").toFile())
            .start();
    try {
      assertThat(mover.waitFor(2, TimeUnit.MINUTES)).as("the mover ends").isTrue();
      return mover.exitValue();
    } finally {
      mover.destroyForcibly();
    }
  }
}
