package io.ebbfs.verify.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ConditionWaiter;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileChecksum;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.apache.hadoop.util.StringUtils;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The native client and a stock client read the block groups that the other one has encoded, also
 * while as many servers are down as a group has parities.
 */
@Tag("process")
class NativeStripedSystemTest {
  private static final String POLICY = "RS-3-2-1024k";
  private static final int CELL = 1 << 20;
  private static final int BLOCK = 2 * CELL;
  private static final int GROUP = 3 * BLOCK;
  private static final String BLOCK_SIZE = "dfs.blocksize=" + BLOCK;
  private static final int[] SIZES = {
    0, 1, CELL - 1, CELL, CELL + 1, 2 * CELL + 5, 3 * CELL, 4 * CELL + 511, GROUP, GROUP + CELL + 77
  };

  private static TestCluster test;
  private static NativeShell shell;
  private static DistributedFileSystem stock;

  @BeforeAll
  static void start() throws Exception {
    test = TestCluster.start(5, 2);
    shell = new NativeShell(Build.find(), test.cluster().stockClient().conf());
    Configuration conf = new Configuration();
    conf.set("fs.defaultFS", test.cluster().stockClient().uri());
    stock = new DistributedFileSystem();
    stock.initialize(URI.create(conf.get("fs.defaultFS")), conf);
    stock.enableErasureCodingPolicy(POLICY);
    stock.mkdirs(path("/coded"));
    stock.setErasureCodingPolicy(path("/coded"), POLICY);
  }

  @AfterAll
  static void stop() throws Exception {
    if (stock != null) {
      stock.close();
    }
    if (test != null) {
      test.close();
    }
  }

  @Test
  void eachClientReadsWhatTheOtherOneEncodes() throws Exception {
    for (int size : SIZES) {
      Path file = randomFile(size);
      put(file, "/coded/ours" + size);
      putByStock(file, "/coded/theirs" + size);
    }
    assertAllReadable("all servers");
    // A writer on a busy machine may go on without a server. What it leaves out is rebuilt.
    awaitBlocksOnServersOfTheirOwn();
    for (List<Integer> down : List.of(List.of(0), List.of(1), List.of(2, 3), List.of(0, 4))) {
      test.cluster().killServers(down);
      assertAllReadable("without the servers " + down);
      test.cluster().startServers(down);
    }
  }

  @Test
  void writersGoOnWithoutServers() throws Exception {
    Path file = randomFile(4 * GROUP + 3 * CELL + 7);
    for (List<Integer> down : List.of(List.of(1), List.of(0, 2))) {
      String name = "/coded/survives" + down.size();
      Process writer = shell.startWithInput("-D", BLOCK_SIZE, "-put", "-d", "-", name);
      byte[] bytes = Files.readAllBytes(file);
      int half = 2 * GROUP + CELL + 5;
      try (OutputStream in = writer.getOutputStream()) {
        in.write(bytes, 0, half);
        in.flush();
        awaitLength(name, GROUP);
        test.cluster().killServers(down);
        in.write(bytes, half, bytes.length - half);
      }
      String printed = new String(writer.getInputStream().readAllBytes());
      assertThat(writer.waitFor()).as(printed).isZero();
      assertReadable(file, name, "while the servers are down");
      test.cluster().startServers(down);
      assertReadable(file, name, "with all servers");
    }
  }

  @Test
  void anAppendIsRefusedAsByHdfs() throws Exception {
    Path file = randomFile(100);
    put(file, "/coded/appended");
    List<String> answer = shell.run("-appendToFile", file.toString(), "/coded/appended");
    assertThat(answer.get(0)).isEqualTo("1");
    assertThat(answer.get(1)).contains("Append on EC file without new block is not supported");
    assertReadable(file, "/coded/appended", "after the refusal");
  }

  private static void assertAllReadable(String when) throws Exception {
    for (int size : SIZES) {
      Path file = randomFile(size);
      assertReadable(file, "/coded/ours" + size, when);
      assertReadable(file, "/coded/theirs" + size, when);
    }
  }

  /** Both clients read the bytes, and tell the same checksum. */
  private static void assertReadable(Path file, String name, String when) throws Exception {
    Path back = test.directory().resolve("back");
    Files.deleteIfExists(back);
    shell.ok("-get", name, back.toString());
    assertThat(back).as("%s, %s", name, when).hasSameBinaryContentAs(file);
    byte[] read = new byte[(int) Files.size(file)];
    try (FSDataInputStream in = stock.open(path(name))) {
      in.readFully(read);
      assertThat(in.read()).isEqualTo(-1);
    }
    assertThat(read).as("%s, %s", name, when).isEqualTo(Files.readAllBytes(file));
    FileChecksum sum = stock.getFileChecksum(path(name));
    assertThat(shell.ok("-checksum", name))
        .as("%s, %s", name, when)
        .contains(
            sum.getAlgorithmName(),
            StringUtils.byteToHexString(sum.getBytes(), 0, sum.getLength()));
  }

  private static void put(Path file, String name) throws Exception {
    shell.ok("-D", BLOCK_SIZE, "-put", file.toString(), name);
  }

  private static void putByStock(Path file, String name) throws Exception {
    try (FSDataOutputStream out = stock.createFile(path(name)).blockSize(BLOCK).build()) {
      Files.copy(file, out);
    }
  }

  private static void awaitLength(String name, long least) throws Exception {
    ConditionWaiter.within(60_000)
        .until(
            "a group has ended",
            () ->
                stock.exists(path(name)) && stock.getFileStatus(path(name)).getLen() >= least
                    ? null
                    : "too little is written");
  }

  private static void awaitBlocksOnServersOfTheirOwn() throws Exception {
    ConditionWaiter.within(60_000)
        .until(
            "each block of a group is on a server of its own",
            () -> {
              for (int size : SIZES) {
                for (String name : List.of("/coded/ours" + size, "/coded/theirs" + size)) {
                  for (LocatedBlock group :
                      stock.getClient().getLocatedBlocks(name, 0).getLocatedBlocks()) {
                    long cells = (group.getBlockSize() + CELL - 1) / CELL;
                    long servers = Arrays.stream(group.getLocations()).distinct().count();
                    if (servers != Math.min(3, cells) + 2) {
                      return name + ": " + group;
                    }
                  }
                }
              }
              return null;
            });
  }

  private static org.apache.hadoop.fs.Path path(String name) {
    return new org.apache.hadoop.fs.Path(name);
  }

  private static Path randomFile(int size) throws Exception {
    Path file = test.directory().resolve("data-" + size);
    if (Files.exists(file)) {
      return file;
    }
    byte[] bytes = new byte[size];
    new Random(size).nextBytes(bytes);
    return Files.write(file, bytes);
  }
}
