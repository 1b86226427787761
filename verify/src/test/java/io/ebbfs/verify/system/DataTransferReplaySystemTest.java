package io.ebbfs.verify.system;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.DFSConfigKeys;
import org.apache.hadoop.hdfs.protocol.BlockChecksumOptions;
import org.apache.hadoop.hdfs.protocol.BlockChecksumType;
import org.apache.hadoop.hdfs.protocol.DatanodeID;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo.DatanodeInfoBuilder;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.apache.hadoop.hdfs.protocol.datatransfer.BlockConstructionStage;
import org.apache.hadoop.hdfs.security.token.block.BlockTokenSecretManager;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The same conversations of data transfer with a stock DataNode and with a chunk server: every
 * operation and stage, on replicas in every state, with older, equal and newer generation stamps.
 * Both answer the same, but for the differences that are listed here with their reasons.
 */
@Tag("process")
class DataTransferReplaySystemTest {
  private static final int LENGTH = 1300;
  private static final int MORE = 100;
  private static final long STAMP = 1002;

  /** Names of conversations with differences that are meant, and the reasons. */
  private static final Map<String, String> MEANT =
      Map.of(
          "(WRITTEN|ABANDONED) COPY_BLOCK stamp (older|same)",
          "the copy of a replica that a client may continue would be finalized too short",
          ".* TRANSFER_BLOCK to a dead server, stamp (older|same)",
          "a DataNode says SUCCESS although nothing was copied; the client learns it here",
          ".* PIPELINE_SETUP_CREATE stamp .* in the name of a new stamp",
          "a DataNode deletes whatever replica it has, also a finalized one; only an older replica "
              + "that has a writer gives way here. (A client names a new stamp for HDFS's striped "
              + "files only.)",
          "(WRITTEN|ABANDONED) PIPELINE_SETUP_CREATE stamp newer to none",
          "an older replica that no client has finished gives way to the newer block",
          ".* READ_BLOCK all that there is after an offset",
          "a DataNode takes a read without a length for one of the whole length, and refuses it",
          ".* READ_BLOCK of a huge length",
          "the sum of offset and length overflows in a DataNode, which then sends no bytes",
          ".* REQUEST_SHORT_CIRCUIT_FDS",
          "ERROR_UNSUPPORTED tells the client not to ask again; ERROR would not",
          ".* an operation of the future",
          "the client is told before the connection is closed");

  private enum State {
    MISSING,
    FINALIZED,
    /** A client writes, and its connection is open. */
    WRITTEN,
    /** The connection of the client has ended. */
    ABANDONED
  }

  private interface Talk {
    String run(DataTransferTalk talk, ExtendedBlock block) throws IOException;
  }

  private record Conversation(String name, State state, Talk talk) {}

  @TempDir static Path directory;
  private static NamenodeAndChunkServer servers;
  private static DataNode dataNode;
  private static int chunkServerPort;
  private static String pool;

  @BeforeAll
  static void start() throws Exception {
    DefaultMetricsSystem.setMiniClusterMode(true); // several daemons in one process
    servers = NamenodeAndChunkServer.start(directory);
    dataNode = startDataNode(servers.port());
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(3);
    while (!Files.exists(servers.ready()) || !dataNode.isDatanodeFullyStarted()) {
      assertThat(servers.chunkServer().isAlive()).as("the chunk server runs").isTrue();
      assertThat(System.nanoTime())
          .as("both servers are ready after three minutes")
          .isLessThan(end);
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
    }
    chunkServerPort = Integer.parseInt(property(servers.ready(), "transferPort"));
    pool = property(servers.chunks().resolve("VERSION"), "blockPoolId");
  }

  private static String property(Path file, String name) throws IOException {
    Properties properties = new Properties();
    try (InputStream in = Files.newInputStream(file)) {
      properties.load(in);
    }
    return properties.getProperty(name);
  }

  private static DataNode startDataNode(int port) throws IOException {
    Configuration conf = new Configuration();
    conf.set("fs.defaultFS", "hdfs://127.0.0.1:" + port);
    conf.set(
        DFSConfigKeys.DFS_DATANODE_DATA_DIR_KEY,
        "file:" + Files.createDirectories(directory.resolve("datanode")));
    conf.set(DFSConfigKeys.DFS_DATANODE_ADDRESS_KEY, "127.0.0.1:0");
    conf.set(DFSConfigKeys.DFS_DATANODE_HTTP_ADDRESS_KEY, "127.0.0.1:0");
    conf.set(DFSConfigKeys.DFS_DATANODE_IPC_ADDRESS_KEY, "127.0.0.1:0");
    conf.set(DFSConfigKeys.DFS_DATANODE_HOST_NAME_KEY, "127.0.0.1");
    conf.setInt(DFSConfigKeys.DFS_HEARTBEAT_INTERVAL_KEY, 1);
    DataNode started = DataNode.instantiateDataNode(new String[0], conf);
    started.runDatanodeDaemon();
    return started;
  }

  @AfterAll
  static void stop() throws Exception {
    if (dataNode != null) {
      dataNode.shutdown();
    }
    if (servers != null) {
      servers.close();
    }
  }

  @Test
  void aChunkServerAnswersAsADataNodeDoes() throws Exception {
    Map<String, Future<String>> running = new LinkedHashMap<>();
    ExecutorService threads = Executors.newFixedThreadPool(16);
    long id = 1L << 40;
    for (Conversation conversation : conversations()) {
      long block = ++id;
      running.put(conversation.name(), threads.submit(() -> difference(conversation, block)));
    }
    threads.shutdown();
    Map<String, String> different = new TreeMap<>();
    Set<String> unused = new HashSet<>(MEANT.keySet());
    for (Map.Entry<String, Future<String>> conversation : running.entrySet()) {
      String difference = conversation.getValue().get(2, TimeUnit.MINUTES);
      if (difference == null) {
        continue;
      }
      Optional<String> meant =
          MEANT.keySet().stream().filter(conversation.getKey()::matches).findFirst();
      if (meant.isPresent()) {
        unused.remove(meant.get());
      } else {
        different.put(conversation.getKey(), difference);
      }
    }
    assertThat(running).hasSizeGreaterThan(200);
    assertThat(different).as("conversations with other answers").isEmpty();
    assertThat(unused).as("differences that are listed, but no longer there").isEmpty();
  }

  @Test
  void aChunkServerAndADataNodeMoveReplicasToEachOther() throws Exception {
    String uuid = property(servers.chunks().resolve("VERSION"), "serverUuid");
    DatanodeID chunkServer =
        new DatanodeID("127.0.0.1", "127.0.0.1", uuid, chunkServerPort, 0, 0, 0);
    move(dataNode.getDatanodeId(), chunkServerPort, (1L << 41) + 1);
    move(chunkServer, dataNode.getXferPort(), (1L << 41) + 2);
  }

  private static void move(DatanodeID from, int to, long id) throws IOException {
    ExtendedBlock block = new ExtendedBlock(pool, id, LENGTH, STAMP);
    try (DataTransferTalk writer = new DataTransferTalk(from.getXferPort());
        DataTransferTalk talk = new DataTransferTalk(to)) {
      prepare(State.FINALIZED, writer, id);
      assertThat(replica(to, id)).isEqualTo("no replica");
      talk.sender.replaceBlock(
          block,
          StorageType.DISK,
          BlockTokenSecretManager.DUMMY_TOKEN,
          from.getDatanodeUuid(),
          new DatanodeInfoBuilder().setNodeID(from).build(),
          "");
      String answer = talk.answer();
      while (answer.equals("IN_PROGRESS")) {
        answer = talk.answer();
      }
      assertThat(answer).isEqualTo("SUCCESS");
      assertThat(replica(to, id)).isEqualTo(replica(from.getXferPort(), id)).contains("1300 bytes");
    }
  }

  /** Null if both servers answer the same. */
  private static String difference(Conversation conversation, long id) throws IOException {
    String stock = answers(conversation, dataNode.getXferPort(), id);
    String ours = answers(conversation, chunkServerPort, id);
    return stock.equals(ours)
        ? null
        : "%n  DataNode:     %s%n  chunk server: %s%n".formatted(stock, ours);
  }

  // ---- one conversation

  private static String answers(Conversation conversation, int port, long id) throws IOException {
    try (DataTransferTalk writer = new DataTransferTalk(port);
        DataTransferTalk talk = new DataTransferTalk(port)) {
      prepare(conversation.state(), writer, id);
      String answer;
      try {
        answer = conversation.talk().run(talk, new ExtendedBlock(pool, id, LENGTH, STAMP));
      } catch (SocketTimeoutException e) {
        answer = "no answer";
      }
      return answer + "; then " + replica(port, id);
    }
  }

  private static void prepare(State state, DataTransferTalk writer, long id) throws IOException {
    if (state == State.MISSING) {
      return;
    }
    ExtendedBlock block = new ExtendedBlock(pool, id, 0, STAMP);
    writer.write(block, "writer", BlockConstructionStage.PIPELINE_SETUP_CREATE, 0, 0, 0);
    assertThat(writer.answer()).isEqualTo("SUCCESS");
    writer.packet(0, 0, DataTransferTalk.bytes(LENGTH, 1), false);
    assertThat(writer.ack()).isEqualTo("SUCCESS");
    if (state == State.FINALIZED) {
      writer.packet(1, LENGTH, new byte[0], true);
      assertThat(writer.ack()).isEqualTo("SUCCESS");
    }
    if (state == State.ABANDONED) {
      writer.close();
    }
  }

  /** What is there at the end: length and bytes, and the newest stamp by which it can be read. */
  private static String replica(int port, long id) throws IOException {
    for (long stamp = STAMP + 2; stamp >= STAMP - 1; stamp--) {
      try (DataTransferTalk reader = new DataTransferTalk(port)) {
        String read = reader.read(new ExtendedBlock(pool, id, 0, stamp), 0, -1, true);
        if (read.startsWith("SUCCESS")) {
          return "stamp %d: %s".formatted(stamp, read);
        }
      }
    }
    return "no replica";
  }

  // ---- the conversations

  private static List<Conversation> conversations() {
    List<Conversation> all = new ArrayList<>();
    for (State state : State.values()) {
      writes(state, all);
      reads(state, all);
      others(state, all);
    }
    return all;
  }

  private static final long[] STAMPS = {STAMP - 1, STAMP, STAMP + 1};
  private static final Map<Long, String> AGE =
      Map.of(
          0L, "none", STAMP - 1, "older", STAMP, "same", STAMP + 1, "newer", STAMP + 2, "newest");

  private static void writes(State state, List<Conversation> all) {
    for (BlockConstructionStage stage :
        List.of(
            BlockConstructionStage.PIPELINE_SETUP_APPEND,
            BlockConstructionStage.PIPELINE_SETUP_APPEND_RECOVERY,
            BlockConstructionStage.PIPELINE_SETUP_STREAMING_RECOVERY,
            BlockConstructionStage.PIPELINE_CLOSE_RECOVERY,
            BlockConstructionStage.TRANSFER_RBW,
            BlockConstructionStage.TRANSFER_FINALIZED)) {
      for (long stamp : STAMPS) {
        for (long newStamp : new long[] {stamp, STAMP + 2}) {
          all.add(write(state, stage, stamp, newStamp, LENGTH, LENGTH, ""));
        }
      }
      if (isRecovery(stage)) {
        all.add(
            write(state, stage, STAMP, STAMP + 1, LENGTH + 1, LENGTH + 9, " with too few bytes"));
        all.add(write(state, stage, STAMP, STAMP + 1, 1, LENGTH - 1, " with too many bytes"));
        all.add(write(state, stage, STAMP, STAMP + 1, 1, LENGTH + 9, " with a range of bytes"));
      }
    }
    for (long stamp : STAMPS) {
      BlockConstructionStage create = BlockConstructionStage.PIPELINE_SETUP_CREATE;
      all.add(write(state, create, stamp, 0, 0, 0, ""));
      all.add(write(state, create, stamp, stamp, 0, 0, " in the name of a new stamp"));
      all.add(
          new Conversation(
              state + " PIPELINE_SETUP_CREATE by a server, stamp " + AGE.get(stamp),
              state,
              (talk, block) -> {
                block.setGenerationStamp(stamp);
                return writeTo(talk, block, "", create, 0, 0, 0);
              }));
    }
  }

  private static boolean isRecovery(BlockConstructionStage stage) {
    return stage.name().contains("RECOVERY");
  }

  private static Conversation write(
      State state,
      BlockConstructionStage stage,
      long stamp,
      long newStamp,
      long min,
      long max,
      String more) {
    return new Conversation(
        "%s %s stamp %s to %s%s".formatted(state, stage, AGE.get(stamp), AGE.get(newStamp), more),
        state,
        (talk, block) -> {
          block.setGenerationStamp(stamp);
          return writeTo(talk, block, "client", stage, min, max, newStamp);
        });
  }

  private static String writeTo(
      DataTransferTalk talk,
      ExtendedBlock block,
      String client,
      BlockConstructionStage stage,
      long min,
      long max,
      long newStamp)
      throws IOException {
    talk.write(block, client, stage, min, max, newStamp);
    boolean transfer = stage.name().startsWith("TRANSFER");
    boolean answered = !client.isEmpty() && !transfer;
    if (answered) {
      String answer = talk.answer();
      if (!answer.equals("SUCCESS")) {
        return answer;
      }
      if (stage == BlockConstructionStage.PIPELINE_CLOSE_RECOVERY) {
        return "closed";
      }
    }
    boolean fromTheStart = transfer || stage == BlockConstructionStage.PIPELINE_SETUP_CREATE;
    int begin = fromTheStart ? 0 : LENGTH;
    byte[] data = DataTransferTalk.bytes(MORE, 2);
    try {
      talk.packet(0, begin, data, false);
      talk.packet(1, begin + MORE, new byte[0], true);
    } catch (SocketException e) {
      return DataTransferTalk.REFUSED;
    }
    if (!answered) {
      return talk.answer();
    }
    return "acknowledged " + talk.ack() + " " + talk.ack();
  }

  private static void reads(State state, List<Conversation> all) {
    for (long stamp : STAMPS) {
      read(state, "all, stamp " + AGE.get(stamp), stamp, 0, LENGTH, true, all);
    }
    read(state, "without checksums", STAMP, 0, LENGTH, false, all);
    read(state, "a part", STAMP, 600, 100, true, all);
    read(state, "a part without checksums", STAMP, 600, 100, false, all);
    read(state, "all that there is after an offset", STAMP, 700, -1, true, all);
    read(state, "all that there is", STAMP, 0, -1, true, all);
    read(state, "nothing", STAMP, 10, 0, true, all);
    read(state, "nothing at the end", STAMP, LENGTH, 0, true, all);
    read(state, "over the end", STAMP, 0, LENGTH + 1, true, all);
    read(state, "at the end", STAMP, LENGTH, 1, true, all);
    read(state, "beyond the end", STAMP, LENGTH + 1, 1, true, all);
    read(state, "at a negative offset", STAMP, -1, 1, true, all);
    read(state, "at a huge offset", STAMP, Long.MAX_VALUE, 1, true, all);
    read(state, "of a huge length", STAMP, 1, Long.MAX_VALUE, true, all);
    read(state, "of a length below -1", STAMP, 0, -2, true, all);
    read(state, "one whole chunk", STAMP, 512, 512, true, all);
    read(state, "two bytes of two chunks", STAMP, 511, 2, true, all);
    read(state, "two bytes of two chunks without checksums", STAMP, 511, 2, false, all);
    read(state, "the last byte", STAMP, LENGTH - 1, 1, true, all);
    read(state, "the last chunk", STAMP, 1024, LENGTH - 1024, true, all);
    read(state, "nothing at the start", STAMP, 0, 0, true, all);
  }

  private static void read(
      State state,
      String what,
      long stamp,
      long offset,
      long length,
      boolean checksums,
      List<Conversation> all) {
    all.add(
        new Conversation(
            state + " READ_BLOCK " + what,
            state,
            (talk, block) -> {
              block.setGenerationStamp(stamp);
              return talk.read(block, offset, length, checksums);
            }));
  }

  private static void others(State state, List<Conversation> all) {
    for (long stamp : STAMPS) {
      for (BlockChecksumType type : BlockChecksumType.values()) {
        all.add(
            new Conversation(
                "%s BLOCK_CHECKSUM %s stamp %s".formatted(state, type, AGE.get(stamp)),
                state,
                (talk, block) -> {
                  block.setGenerationStamp(stamp);
                  return talk.checksum(block, new BlockChecksumOptions(type));
                }));
      }
      for (BlockChecksumType type : BlockChecksumType.values()) {
        if (state != State.FINALIZED && state != State.MISSING) {
          continue; // nobody asks before the group is complete
        }
        for (int bytes : new int[] {LENGTH, 700}) {
          if (bytes < LENGTH && AGE.get(stamp).equals("older")) {
            continue; // a DataNode takes an old stamp for whole replicas alone, we for any part
          }
          all.add(
              new Conversation(
                  "%s BLOCK_GROUP_CHECKSUM %s of %d bytes, stamp %s"
                      .formatted(state, type, bytes, AGE.get(stamp)),
                  state,
                  (talk, block) -> {
                    block.setGenerationStamp(stamp);
                    return talk.groupChecksum(block, bytes, new BlockChecksumOptions(type));
                  }));
        }
      }
      all.add(
          new Conversation(
              state + " TRANSFER_BLOCK to a dead server, stamp " + AGE.get(stamp),
              state,
              (talk, block) -> {
                block.setGenerationStamp(stamp);
                DatanodeInfo[] dead = {
                  new DatanodeInfoBuilder()
                      .setNodeID(new DatanodeID("127.0.0.1", "127.0.0.1", "dead", 1, 2, 3, 4))
                      .build()
                };
                talk.sender.transferBlock(
                    block,
                    BlockTokenSecretManager.DUMMY_TOKEN,
                    "client",
                    dead,
                    new StorageType[] {StorageType.DISK},
                    new String[] {"DS-dead"});
                return talk.answer();
              }));
    }
    for (long stamp : STAMPS) {
      all.add(
          new Conversation(
              state + " COPY_BLOCK stamp " + AGE.get(stamp),
              state,
              (talk, block) -> {
                block.setGenerationStamp(stamp);
                return talk.copy(block);
              }));
    }
    all.add(
        new Conversation(
            state + " REPLACE_BLOCK from a dead server",
            state,
            (talk, block) -> {
              DatanodeInfo nobody =
                  new DatanodeInfoBuilder()
                      .setNodeID(new DatanodeID("127.0.0.1", "127.0.0.1", "dead", 1, 2, 3, 4))
                      .build();
              talk.sender.replaceBlock(
                  block,
                  StorageType.DISK,
                  BlockTokenSecretManager.DUMMY_TOKEN,
                  "x",
                  nobody,
                  "DS-x");
              return talk.answer();
            }));
    all.add(
        new Conversation(
            state + " REQUEST_SHORT_CIRCUIT_FDS",
            state,
            (talk, block) -> {
              talk.sender.requestShortCircuitFds(
                  block, BlockTokenSecretManager.DUMMY_TOKEN, null, 1, true);
              return talk.answer();
            }));
    all.add(
        new Conversation(
            state + " an operation of the future",
            state,
            (talk, block) -> {
              DataOutputStream out = talk.out;
              out.writeShort(28);
              out.writeByte(123);
              out.flush();
              return talk.answer();
            }));
    all.add(
        new Conversation(
            state + " another version",
            state,
            (talk, block) -> {
              DataOutputStream out = talk.out;
              out.writeShort(27);
              out.writeByte(81);
              out.flush();
              return talk.answer();
            }));
  }
}
