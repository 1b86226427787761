package io.ebbfs.namenode;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.crypto.CryptoProtocolVersion;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.Options.HandleOpt;
import org.apache.hadoop.fs.PathHandle;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.AddBlockFlag;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.ClientProtocol;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.io.EnumSetWritable;
import org.apache.hadoop.ipc.RemoteException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What clients ask for when they create files, add blocks and open files by handles, at HDFS's
 * NameNode and at ours.
 */
class CreatesAsHdfsTest {
  private static final String CLIENT = "the client";
  private static final int SERVERS = 3;
  private static final short TWO = 2;
  private static final long MIB = 1 << 20;

  /** A namenode, a client, and the chunk servers without bytes. */
  private record Side(DistributedFileSystem fs, ReportingServers servers) {
    static Side of(InetSocketAddress address, ReportingServers servers) throws Exception {
      return new Side(NamenodePair.client(address, Optional.empty()), servers);
    }

    ClientProtocol calls() {
      return fs.getClient().getNamenode();
    }

    void close() throws IOException {
      fs.close();
      servers.close();
    }
  }

  @TempDir static Path directory;
  private static NamenodePair pair;
  private static Side theirs;
  private static Side ours;

  @BeforeAll
  static void start() throws Exception {
    pair =
        new NamenodePair(
            directory, Map.of("dfs.namenode.redundancy.considerLoad", "false"), Map.of());
    theirs = Side.of(pair.hdfsAddress(), pair.hdfsServers(SERVERS));
    ours = Side.of(pair.ourAddress(), pair.ourServers(SERVERS));
  }

  @AfterAll
  static void stop() throws IOException {
    theirs.close();
    ours.close();
    pair.close();
  }

  // ---- what is compared
  // ---------------------------------------------------------------------------

  private interface Call {
    Object run(Side side) throws IOException;
  }

  /** Its result, or the class and the first sentence of its failure. */
  private static String outcome(Side side, Call call) {
    try {
      return String.valueOf(call.run(side));
    } catch (IOException | RuntimeException e) {
      Exception cause = e instanceof RemoteException remote ? remote.unwrapRemoteException() : e;
      return cause.getClass().getName()
          + ": "
          + String.valueOf(cause.getMessage())
              .lines()
              .findFirst()
              .orElse("")
              .replaceAll("policies: \\[.*", "policies") // those of RS are on at first
              .replaceAll("\\..*", "");
    }
  }

  private static String same(String what, Call call) {
    String wanted = outcome(theirs, call);
    assertThat(outcome(ours, call)).as(what).isEqualTo(wanted);
    return wanted;
  }

  private static org.apache.hadoop.fs.Path path(String name) {
    return new org.apache.hadoop.fs.Path(name);
  }

  // ---- flags
  // --------------------------------------------------------------------------------------

  private static long create(Side side, String path, Set<CreateFlag> flags, String policy)
      throws IOException {
    return side.calls()
        .create(
            path,
            FsPermission.getFileDefault(),
            CLIENT,
            new EnumSetWritable<>(EnumSet.copyOf(flags)),
            true,
            TWO,
            MIB,
            CryptoProtocolVersion.supported(),
            policy,
            null)
        .getFileId();
  }

  @Test
  void everyFlagIsTakenAsAtHdfs() {
    int number = 0;
    for (CreateFlag flag : CreateFlag.values()) {
      for (Set<CreateFlag> flags :
          List.of(
              EnumSet.of(flag),
              EnumSet.of(flag, CreateFlag.CREATE),
              EnumSet.of(flag, CreateFlag.OVERWRITE))) {
        for (String file : List.of("new", "old")) {
          String path = "/flags/" + number++;
          if (file.equals("old")) {
            same("make " + path, side -> side.fs().createNewFile(path(path)));
          }
          same(
              flags + " of the " + file,
              side -> create(side, path, flags, null) > 0 ? "created" : "no id");
        }
      }
    }
  }

  @Test
  void anErasureCodingPolicyThatIsNotEnabledIsRefused() {
    Set<CreateFlag> create = Set.of(CreateFlag.CREATE);
    Set<CreateFlag> both = Set.of(CreateFlag.CREATE, CreateFlag.SHOULD_REPLICATE);
    same("a policy", side -> create(side, "/policy", create, "XOR-2-1-1024k"));
    same("a policy that is none", side -> create(side, "/none", create, "nonsense"));
    same("replication", side -> create(side, "/both", both, "RS-6-3-1024k"));
    assertThat(outcome(ours, side -> side.fs().exists(path("/policy")))).isEqualTo("false");
  }

  // ---- favored servers
  // ----------------------------------------------------------------------------

  private static Set<Integer> placed(Side side, String path, String... favored) throws IOException {
    long id = create(side, path, Set.of(CreateFlag.CREATE, CreateFlag.OVERWRITE), null);
    DatanodeInfo[] places =
        side.calls()
            .addBlock(path, CLIENT, null, null, id, favored, EnumSet.noneOf(AddBlockFlag.class))
            .getLocations();
    return Stream.of(places).map(DatanodeInfo::getXferPort).collect(Collectors.toSet());
  }

  @Test
  void favoredServersGetTheBlocks() {
    for (int one = 0; one < SERVERS; one++) {
      for (int other = 0; other < SERVERS; other++) {
        if (one != other) {
          String[] favored = {"127.0.0.1:" + (50_000 + one), "127.0.0.1:" + (50_000 + other)};
          assertThat(same("favored", side -> placed(side, "/favored", favored)))
              .contains(String.valueOf(50_000 + one), String.valueOf(50_000 + other));
        }
      }
    }
    same("unknown ones", side -> placed(side, "/favored", "127.0.0.1:1", "nobody:9866").size());
  }

  @Test
  void aBlockMayAvoidItsWriter() {
    for (AddBlockFlag flag : AddBlockFlag.values()) {
      same(
          flag.toString(),
          side -> {
            String path = "/avoids";
            long id = create(side, path, Set.of(CreateFlag.CREATE, CreateFlag.OVERWRITE), null);
            return side.calls()
                .addBlock(path, CLIENT, null, null, id, null, EnumSet.of(flag))
                .getLocations()
                .length;
          });
    }
  }

  // ---- handles
  // ------------------------------------------------------------------------------------

  /** Opens a file by a handle, after something has happened to the file. */
  private static void open(String what, HandleOpt[] options, Change change) {
    same(
        what + ", " + List.of(options),
        side -> {
          side.fs().delete(path("/handles"), true);
          org.apache.hadoop.fs.Path file = path("/handles/f");
          side.fs().create(file).close();
          side.fs().setTimes(file, 1_000_000, -1);
          PathHandle handle = side.fs().getPathHandle(side.fs().getFileStatus(file), options);
          change.run(side.fs());
          side.fs().open(handle).close();
          return "opened";
        });
  }

  private interface Change {
    void run(DistributedFileSystem fs) throws IOException;
  }

  @Test
  void aHandleOpensTheFileThatItWasMadeOf() {
    Map<String, Change> changes =
        Map.of(
            "nothing",
            fs -> {},
            "a rename",
            fs -> fs.rename(path("/handles/f"), path("/handles/g")),
            "a change",
            fs -> fs.setTimes(path("/handles/f"), 2_000_000, -1),
            "a delete",
            fs -> fs.delete(path("/handles/f"), false),
            "a file in its place",
            fs -> {
              fs.rename(path("/handles/f"), path("/handles/g"));
              fs.create(path("/handles/f")).close();
            });
    HandleOpt[][] handles = {
      HandleOpt.exact(), HandleOpt.content(), HandleOpt.path(), HandleOpt.reference()
    };
    for (HandleOpt[] options : handles) {
      changes.forEach((what, change) -> open(what, options, change));
    }
  }
}
