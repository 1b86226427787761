package io.ebbfs.namenode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.ErasureCodingPolicy;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.apache.hadoop.hdfs.protocol.LocatedStripedBlock;
import org.apache.hadoop.hdfs.protocol.SystemErasureCodingPolicies;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.util.StripedBlockUtil;
import org.apache.hadoop.io.erasurecode.CodecUtil;
import org.apache.hadoop.io.erasurecode.ErasureCoderOptions;
import org.apache.hadoop.ipc.RemoteException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A stock client writes and reads block groups on stock DataNodes, over real sockets. */
@Timeout(180)
@Tag("process")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BlockGroupsTest {
  private static final int CELL = 1 << 20;
  private static final int BLOCK = 2 * CELL;
  private static final int SERVERS = 5;
  private static final ErasureCodingPolicy POLICY =
      SystemErasureCodingPolicies.getByID(SystemErasureCodingPolicies.RS_3_2_POLICY_ID);
  private static final int GROUP = 3 * BLOCK;

  private Path dir;
  private final List<DataNode> dataNodes = new ArrayList<>();
  private final long seed = Seeds.next(BlockGroupsTest.class);
  private final Random random = new Random(seed);
  private NamenodeServer namenode;
  private DistributedFileSystem client;

  @BeforeAll
  void start(@TempDir Path directory) throws Exception {
    dir = directory;
    namenode =
        NamenodeServer.start(
            NamenodeConfig.of(
                Optional.empty(),
                List.of(
                    new NamenodeConfig.Override("test", "data", dir.resolve("nn").toString()),
                    new NamenodeConfig.Override("test", "port", "0"),
                    new NamenodeConfig.Override("test", "blockSize", "2MiB")),
                Optional.empty()),
            Clock.systemUTC(),
            new Random(1));
    Configuration conf = new Configuration();
    conf.set("fs.defaultFS", "hdfs://127.0.0.1:" + namenode.address().getPort());
    conf.setInt("dfs.blocksize", BLOCK);
    StockDataNodes machines = new StockDataNodes(dir);
    for (int i = 0; i < SERVERS; i++) {
      dataNodes.add(machines.start(i, conf));
    }
    client = new DistributedFileSystem();
    client.initialize(java.net.URI.create(conf.get("fs.defaultFS")), conf);
    Await.until("all servers have come", () -> client.getDataNodeStats().length == SERVERS);
    client.enableErasureCodingPolicy(POLICY.getName());
    client.mkdirs(path("/ec"));
    client.setErasureCodingPolicy(path("/ec"), POLICY.getName());
  }

  @AfterAll
  void stop() throws IOException {
    client.close();
    dataNodes.forEach(DataNode::shutdown);
    namenode.close();
  }

  private static org.apache.hadoop.fs.Path path(String path) {
    return new org.apache.hadoop.fs.Path(path);
  }

  private byte[] write(String name, int length) throws IOException {
    byte[] data = new byte[length];
    random.nextBytes(data);
    try (FSDataOutputStream out = client.create(path(name), true)) {
      out.write(data);
    }
    return data;
  }

  private byte[] read(String name, int length) throws IOException {
    byte[] read = new byte[length];
    try (FSDataInputStream in = client.open(path(name))) {
      in.readFully(0, read);
      assertThat(in.read(length, new byte[1], 0, 1)).isEqualTo(-1);
    }
    return read;
  }

  @Test
  void filesAroundTheBordersOfCellsAndGroupsHaveTheBlocksOfHdfs() throws Exception {
    int[] lengths = {
      0,
      1,
      CELL,
      CELL + 1,
      3 * CELL - 1,
      3 * CELL,
      GROUP - 1,
      GROUP,
      GROUP + 1,
      random.nextInt(2 * GROUP),
      2 * GROUP + random.nextInt(GROUP)
    };
    for (int length : lengths) {
      String name = "/ec/f" + length;
      byte[] data = write(name, length);
      assertThat(Arrays.equals(read(name, length), data)).as("%s, seed %d", name, seed).isTrue();
      assertThat(client.getFileStatus(path(name)).getLen()).isEqualTo(length);
      assertThat(client.getFileStatus(path(name)).isErasureCoded()).isTrue();
      assertThat(client.getErasureCodingPolicy(path(name))).isEqualTo(POLICY);
      assertThat(client.getContentSummary(path(name)).getSpaceConsumed())
          .isEqualTo(consumed(length));
      checkBlocks(name, data);
    }
  }

  private static long consumed(int length) {
    long bytes = 0;
    for (int from = 0; from < length; from += GROUP) {
      int group = Math.min(GROUP, length - from);
      bytes += StripedBlockUtil.spaceConsumedByStripedBlock(group, 3, 2, CELL);
    }
    return bytes;
  }

  /** Compares the files of all blocks with what Hadoop's encoder makes of the data. */
  private void checkBlocks(String name, byte[] data) throws Exception {
    for (LocatedBlock block :
        client.getClient().getLocatedBlocks(name, 0, Long.MAX_VALUE).getLocatedBlocks()) {
      LocatedStripedBlock group = (LocatedStripedBlock) block;
      byte[][] expected =
          blocks(
              Arrays.copyOfRange(
                  data,
                  (int) group.getStartOffset(),
                  (int) (group.getStartOffset() + group.getBlockSize())));
      long id = group.getBlock().getBlockId();
      Await.until(
          "all blocks are there",
          () -> filesOf(id).size() == Stream.of(expected).filter(b -> b.length > 0).count());
      Map<Integer, byte[]> found = filesOf(id);
      for (int i = 0; i < expected.length; i++) {
        if (expected[i].length > 0) {
          assertThat(Arrays.equals(found.get(i), expected[i]))
              .as("block %d of %s, seed %d", i, name, seed)
              .isTrue();
        }
      }
    }
  }

  /** The finalized blocks of a group by their indices. */
  private Map<Integer, byte[]> filesOf(long groupId) throws IOException {
    Map<Integer, byte[]> files = new HashMap<>();
    try (Stream<Path> all = Files.walk(dir)) {
      for (Path file : all.filter(p -> p.toString().contains("finalized")).toList()) {
        String fileName = file.getFileName().toString();
        if (fileName.matches("blk_\\d+")) {
          long index = Long.parseLong(fileName.substring(4)) - groupId;
          if (index >= 0 && index < 16) {
            files.put((int) index, Files.readAllBytes(file));
          }
        }
      }
    } catch (UncheckedIOException | NoSuchFileException e) {
      return Map.of(-1, new byte[0]); // a file came or went during the walk
    }
    return files;
  }

  private static byte[][] blocks(byte[] data) throws IOException {
    int units = POLICY.getNumDataUnits();
    byte[][] blocks = new byte[units + POLICY.getNumParityUnits()][];
    byte[][] padded = new byte[units][];
    int longest = (int) StripedBlockUtil.getInternalBlockLength(data.length, POLICY, units);
    for (int i = 0; i < units; i++) {
      padded[i] = new byte[longest];
      int length = (int) StripedBlockUtil.getInternalBlockLength(data.length, POLICY, i);
      for (int at = 0; at < length; at++) {
        padded[i][at] = data[(at / CELL * units + i) * CELL + at % CELL];
      }
      blocks[i] = Arrays.copyOf(padded[i], length);
    }
    byte[][] parities = new byte[POLICY.getNumParityUnits()][longest];
    CodecUtil.createRawEncoder(
            new Configuration(),
            POLICY.getCodecName(),
            new ErasureCoderOptions(units, POLICY.getNumParityUnits()))
        .encode(padded, parities);
    System.arraycopy(parities, 0, blocks, units, parities.length);
    return blocks;
  }

  @Test
  void aClientReadsWithoutAnyTwoBlocks() throws Exception {
    for (int one = 0; one < SERVERS; one++) {
      for (int other = one + 1; other < SERVERS; other++) {
        String name = "/ec/without" + one + other;
        byte[] data = write(name, 3 * CELL + 5);
        Await.until(
            "all blocks are reported",
            () ->
                client.getClient().getLocatedBlocks(name, 0, 1).get(0).getLocations().length == 5);
        long id = client.getClient().getLocatedBlocks(name, 0, 1).get(0).getBlock().getBlockId();
        deleteFile(id + one);
        deleteFile(id + other);
        assertThat(Arrays.equals(read(name, data.length), data))
            .as("without blocks %d and %d, seed %d", one, other, seed)
            .isTrue();
      }
    }
  }

  private void deleteFile(long blockId) throws IOException {
    try (Stream<Path> all = Files.walk(dir)) {
      for (Path file : all.filter(p -> p.endsWith("blk_" + blockId)).toList()) {
        Files.delete(file);
      }
    }
  }

  @Test
  void aDeletedFileLeavesNoBlock() throws Exception {
    write("/ec/deleted", GROUP + 1);
    long id =
        client.getClient().getLocatedBlocks("/ec/deleted", 0, 1).get(0).getBlock().getBlockId();
    assertThat(filesOf(id)).isNotEmpty();
    client.delete(path("/ec/deleted"), false);
    Await.until("no block is left", () -> filesOf(id).isEmpty());
  }

  @Test
  void aFileWhoseWriterIsGoneClosesWithTheGroupsBeforeTheLast() throws Exception {
    byte[] data = new byte[GROUP + CELL];
    random.nextBytes(data);
    DistributedFileSystem other = new DistributedFileSystem();
    other.initialize(client.getUri(), new Configuration(client.getConf()));
    FSDataOutputStream out = other.create(path("/ec/left"), true);
    out.write(data);
    out.flush();
    Await.until(
        "the second group is there",
        () ->
            client.getClient().getLocatedBlocks("/ec/left", 0, 1).getLastLocatedBlock() != null
                && client
                        .getClient()
                        .getLocatedBlocks("/ec/left", 0, 1)
                        .getLastLocatedBlock()
                        .getStartOffset()
                    == GROUP);
    Await.until("the file is closed", () -> client.recoverLease(path("/ec/left")));
    assertThat(client.getFileStatus(path("/ec/left")).getLen()).isEqualTo(GROUP);
    assertThat(read("/ec/left", GROUP)).isEqualTo(Arrays.copyOf(data, GROUP));
    other.getClient().closeAllFilesBeingWritten(true);
    other.close();
  }

  /** As on HDFS, rows of cells that are not whole go. */
  @Test
  void aFileWhoseWriterIsGoneKeepsTheRowsOfItsLastGroupThatAreWhole() throws Exception {
    // The next row makes the client send the last bytes of the cells of the row before.
    byte[] data = new byte[GROUP + 5 * CELL + CELL / 2];
    random.nextBytes(data);
    DistributedFileSystem other = new DistributedFileSystem();
    other.initialize(client.getUri(), new Configuration(client.getConf()));
    FSDataOutputStream out = other.create(path("/ec/torn"), true);
    out.write(data);
    out.flush();
    Await.until("a row of the second group is written", () -> openBlocks(CELL + 1) >= 3);
    Await.until("the file is closed", () -> client.recoverLease(path("/ec/torn")));
    int length = GROUP + 3 * CELL;
    assertThat(client.getFileStatus(path("/ec/torn")).getLen()).isEqualTo(length);
    assertThat(Arrays.equals(read("/ec/torn", length), Arrays.copyOf(data, length)))
        .as("seed %d", seed)
        .isTrue();
    other.getClient().closeAllFilesBeingWritten(true);
    other.close();
  }

  /** How many blocks that are being written have so many bytes. */
  private int openBlocks(int length) throws IOException {
    int blocks = 0;
    try (Stream<Path> all = Files.walk(dir)) {
      for (Path file : all.filter(p -> p.toString().contains("/rbw/blk_")).toList()) {
        boolean isBlock = file.getFileName().toString().matches("blk_\\d+");
        blocks += isBlock && Files.size(file) >= length ? 1 : 0;
      }
    } catch (UncheckedIOException | NoSuchFileException e) {
      return 0; // a file came or went during the walk
    }
    return blocks;
  }

  @Test
  void filesWithGroupsAreJoinedAndAppendGroups() throws Exception {
    byte[] first = write("/ec/joined", GROUP + 1);
    byte[] second = write("/ec/source", CELL + 7);
    client.concat(path("/ec/joined"), new org.apache.hadoop.fs.Path[] {path("/ec/source")});
    byte[] third = new byte[5];
    try (FSDataOutputStream out =
        client.append(
            path("/ec/joined"), EnumSet.of(CreateFlag.APPEND, CreateFlag.NEW_BLOCK), 4096, null)) {
      out.write(third);
    }
    byte[] all = new byte[first.length + second.length + third.length];
    System.arraycopy(first, 0, all, 0, first.length);
    System.arraycopy(second, 0, all, first.length, second.length);
    assertThat(Arrays.equals(read("/ec/joined", all.length), all)).isTrue();
    assertThat(client.getContentSummary(path("/ec/joined")).getSpaceConsumed())
        .isEqualTo(consumed(GROUP + 1) + consumed(CELL + 7) + consumed(5));
  }

  @Test
  void aFileAsksForItsPolicyOrForReplicas() throws Exception {
    try (FSDataOutputStream out = client.createFile(path("/ec/replicated")).replicate().build()) {
      out.write(1);
    }
    assertThat(client.getErasureCodingPolicy(path("/ec/replicated"))).isNull();
    try (FSDataOutputStream out =
        client.createFile(path("/coded")).ecPolicyName(POLICY.getName()).build()) {
      out.write(1);
    }
    assertThat(client.getErasureCodingPolicy(path("/coded"))).isEqualTo(POLICY);
    assertThat(client.setReplication(path("/coded"), (short) 2)).isFalse();
    assertThatThrownBy(
            () -> client.createFile(path("/no")).ecPolicyName("XOR-2-1-1024k").build().close())
        .isInstanceOf(RemoteException.class)
        .hasMessageContaining("does not match any enabled erasure coding policies");
  }
}
