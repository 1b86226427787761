package io.ebbfs.namenode;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.crypto.CryptoProtocolVersion;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.PartialListing;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.AddBlockFlag;
import org.apache.hadoop.hdfs.DFSConfigKeys;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.ClientProtocol;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.DatanodeReportType;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.RollingUpgradeAction;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.SafeModeAction;
import org.apache.hadoop.hdfs.protocol.HdfsFileStatus;
import org.apache.hadoop.hdfs.protocol.OpenFileEntry;
import org.apache.hadoop.hdfs.protocol.OpenFilesIterator.OpenFilesType;
import org.apache.hadoop.hdfs.security.token.delegation.DelegationTokenIdentifier;
import org.apache.hadoop.hdfs.server.blockmanagement.CombinedHostFileManager;
import org.apache.hadoop.io.EnumSetWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.security.token.Token;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The same administrative calls at HDFS's NameNode and at ours, by an operator and a user. */
class AdministrationAsHdfsTest {
  private static final List<String> USERS = List.of("operator", "ann");
  private static final long WAIT_MILLIS = 30_000;
  private static final long POLL_MILLIS = 20;

  @TempDir static Path directory;
  private static NamenodePair pair;
  private static Side theirSide;
  private static Side ourSide;

  /** A namenode, its clients in the order of {@link #USERS}, and servers without bytes. */
  private record Side(List<DistributedFileSystem> clients, ReportingServers servers) {
    static Side of(InetSocketAddress address, ReportingServers servers) throws Exception {
      List<DistributedFileSystem> clients = new ArrayList<>();
      clients.add(NamenodePair.client(address, Optional.empty()));
      clients.add(NamenodePair.client(address, Optional.of("ann")));
      return new Side(clients, servers);
    }

    DistributedFileSystem of(String user) {
      return clients.get(USERS.indexOf(user));
    }

    ClientProtocol calls() {
      return clients.get(0).getClient().getNamenode();
    }

    void close() throws IOException {
      servers.close();
      for (DistributedFileSystem client : clients) {
        client.close();
      }
    }
  }

  @BeforeAll
  static void start() throws Exception {
    Path hosts = Files.createFile(hostsFile());
    pair =
        new NamenodePair(
            directory,
            Map.of(
                DFSConfigKeys.DFS_NAMENODE_HOSTS_PROVIDER_CLASSNAME_KEY,
                CombinedHostFileManager.class.getName(),
                DFSConfigKeys.DFS_HOSTS,
                hosts.toString()),
            Map.of("hostsFile", hosts.toString()));
    theirSide = Side.of(pair.hdfsAddress(), pair.hdfsServers(3));
    ourSide = Side.of(pair.ourAddress(), pair.ourServers(3));
  }

  @AfterAll
  static void stop() throws IOException {
    theirSide.close();
    ourSide.close();
    pair.close();
  }

  private static Path hostsFile() {
    return directory.resolve("hosts.json");
  }

  private static Configuration hostSettings() {
    Configuration settings = new Configuration();
    settings.set(
        DFSConfigKeys.DFS_NAMENODE_HOSTS_PROVIDER_CLASSNAME_KEY,
        CombinedHostFileManager.class.getName());
    settings.set(DFSConfigKeys.DFS_HOSTS, hostsFile().toString());
    return settings;
  }

  /** By port: the state of each server, whether it has got there or is on its way. */
  private static Map<Integer, String> states(DistributedFileSystem client) throws IOException {
    Map<Integer, String> states = new TreeMap<>();
    for (DatanodeInfo server : client.getDataNodeStats(DatanodeReportType.ALL)) {
      String state =
          switch (server.getAdminState()) {
            case NORMAL -> "normal";
            case DECOMMISSION_INPROGRESS, DECOMMISSIONED -> "decommissioned";
            case ENTERING_MAINTENANCE, IN_MAINTENANCE -> "maintenance";
          };
      states.put(server.getXferPort(), state);
    }
    return states;
  }

  private static Map<Integer, String> statesBy(Side side, String json) throws Exception {
    Files.writeString(hostsFile(), json);
    if (side == theirSide) {
      // The call of a client reads the settings of the process, not those of this NameNode.
      pair.hdfs()
          .getNamesystem()
          .getBlockManager()
          .getDatanodeManager()
          .refreshNodes(hostSettings());
    } else {
      side.of("operator").refreshNodes();
    }
    return states(side.of("operator"));
  }

  @Test
  void aFileOfHostsGivesServersTheSameStates() throws Exception {
    String host = "{\"hostName\": \"127.0.0.1\", \"port\": %d%s}";
    String normal = host.formatted(50_000, "");
    String leaves = host.formatted(50_001, ", \"adminState\": \"DECOMMISSIONED\"");
    String sleeps =
        host.formatted(
            50_002,
            ", \"adminState\": \"IN_MAINTENANCE\", \"maintenanceExpireTimeInMS\": 4102444800000");
    String late =
        host.formatted(
            50_002, ", \"adminState\": \"IN_MAINTENANCE\", \"maintenanceExpireTimeInMS\": 1000");
    for (String json :
        List.of(
            "[%s, %s, %s]".formatted(normal, leaves, sleeps),
            "[%s, %s, %s]"
                .formatted(normal, host.formatted(50_001, ""), host.formatted(50_002, "")),
            "[%s, %s, %s]".formatted(normal, host.formatted(50_001, ""), late),
            normal + leaves + sleeps,
            "[%s]".formatted(sleeps),
            "[%s]".formatted(leaves),
            "")) {
      assertThat(statesBy(ourSide, json)).as(json).isEqualTo(statesBy(theirSide, json));
    }
    assertThat(statesBy(ourSide, "[%s, %s, %s]".formatted(normal, leaves, sleeps)))
        .containsEntry(50_000, "normal")
        .containsEntry(50_001, "decommissioned")
        .containsEntry(50_002, "maintenance");
    statesBy(ourSide, "");
  }

  private interface Call {
    Object run(Side side, DistributedFileSystem client) throws Exception;
  }

  private static String outcome(Side side, String user, Call call) {
    try {
      return String.valueOf(call.run(side, side.of(user)));
    } catch (Exception e) {
      return e.getClass().getName() + ": " + String.valueOf(e.getMessage()).lines().findFirst();
    }
  }

  private static void same(String user, String what, Call call) {
    assertThat(outcome(ourSide, user, call))
        .as("%s by %s", what, user)
        .isEqualTo(outcome(theirSide, user, call));
  }

  /** The class of a failure is the same; the message may name another reason. */
  private static void sameClass(String user, String what, Call call) {
    assertThat(outcome(ourSide, user, call).replaceFirst(":.*", ""))
        .as("%s by %s", what, user)
        .isEqualTo(outcome(theirSide, user, call).replaceFirst(":.*", ""));
  }

  private static org.apache.hadoop.fs.Path path(String name) {
    return new org.apache.hadoop.fs.Path(name);
  }

  // ---- listings ---------------------------------------------------------------------------------

  @Test
  void severalPathsAreListedByOneCall() {
    long seed = Seeds.next(AdministrationAsHdfsTest.class);
    Random random = new Random(seed);
    same("operator", "make", (side, fs) -> fs.mkdirs(path("/batch/large")));
    for (int i = 0; i < 1_005; i++) {
      String name = "/batch/large/" + i;
      same("operator", "make", (side, fs) -> fs.mkdirs(path(name)));
    }
    for (String name : List.of("/batch/empty", "/batch/few/a", "/batch/few/b", "/batch/shut/x")) {
      same("operator", "make", (side, fs) -> fs.mkdirs(path(name)));
    }
    same("operator", "create", (side, fs) -> create(fs, "/batch/file"));
    same("operator", "close", (side, fs) -> chmod(fs, "/batch/shut", 0700));
    List<String> paths =
        List.of("large", "empty", "few", "file", "missing", "shut", "file/below", "few/a");
    for (int i = 0; i < 12; i++) {
      List<org.apache.hadoop.fs.Path> asked = new ArrayList<>();
      for (int n = random.nextInt(6); n >= 0; n--) {
        asked.add(path("/batch/" + paths.get(random.nextInt(paths.size()))));
      }
      String user = USERS.get(random.nextInt(2));
      same(user, "list " + asked + ", seed " + seed, (side, fs) -> batches(fs, asked));
    }
    List<org.apache.hadoop.fs.Path> many = new ArrayList<>();
    for (int i = 0; i < 101; i++) {
      many.add(path("/batch/" + i));
    }
    same("ann", "list too many", (side, fs) -> batches(fs, many));
  }

  private static List<String> batches(
      DistributedFileSystem fs, List<org.apache.hadoop.fs.Path> paths) throws IOException {
    List<String> shown = new ArrayList<>();
    RemoteIterator<PartialListing<FileStatus>> pages = fs.batchedListStatusIterator(paths);
    while (pages.hasNext()) {
      PartialListing<FileStatus> page = pages.next();
      String listed = page.getListedPath().toUri().getPath();
      try {
        page.get().forEach(entry -> shown.add(listed + ": " + entry.getPath().toUri().getPath()));
      } catch (IOException e) {
        shown.add(listed + ": " + e.getClass().getName() + " " + e.getMessage());
      }
    }
    return shown;
  }

  private static Object create(DistributedFileSystem fs, String path) throws IOException {
    fs.create(path(path), true).close();
    return "created";
  }

  private static Object chmod(DistributedFileSystem fs, String path, int mode) throws IOException {
    fs.setPermission(path(path), new FsPermission((short) mode));
    return "done";
  }

  @Test
  void openFilesAreListed() {
    EnumSet<OpenFilesType> all = EnumSet.of(OpenFilesType.ALL_OPEN_FILES);
    EnumSet<OpenFilesType> blocking = EnumSet.of(OpenFilesType.BLOCKING_DECOMMISSION);
    same("operator", "make", (side, fs) -> fs.mkdirs(path("/open/sub")));
    for (String name : List.of("/open/b", "/open/sub/c", "/open/a", "/open/subway")) {
      same("operator", "open", (side, fs) -> fs.create(path(name)) != null);
    }
    same("operator", "create", (side, fs) -> create(fs, "/open/closed"));
    for (String below : List.of("/open", "/open/sub", "/open/a", "/open/closed", "/none", "/")) {
      same("operator", "open below " + below, (side, fs) -> openFiles(fs, all, below));
    }
    same("operator", "blocking", (side, fs) -> openFiles(fs, blocking, "/"));
    same("operator", "both", (side, fs) -> openFiles(fs, EnumSet.allOf(OpenFilesType.class), "/"));
    same("ann", "open files", (side, fs) -> openFiles(fs, all, "/"));
    same("operator", "rename", (side, fs) -> fs.rename(path("/open/sub"), path("/open/moved")));
    same("operator", "delete", (side, fs) -> fs.delete(path("/open/b"), false));
    same("operator", "after a rename", (side, fs) -> openFiles(fs, all, "/open"));
    same(
        "operator",
        "from the second on",
        (side, fs) -> {
          long first = side.calls().listOpenFiles(0).get(0).getId();
          return side.calls().listOpenFiles(first, all, "/open").get(0).getFilePath();
        });
  }

  private static List<String> openFiles(
      DistributedFileSystem fs, EnumSet<OpenFilesType> types, String below) throws IOException {
    List<String> shown = new ArrayList<>();
    RemoteIterator<OpenFileEntry> files = fs.listOpenFiles(types, below);
    while (files.hasNext()) {
      OpenFileEntry file = files.next();
      boolean client = file.getClientName().startsWith("DFSClient_NONMAPREDUCE_");
      shown.add(file.getFilePath() + " " + file.getClientMachine() + " " + client);
    }
    return shown;
  }

  @Test
  void filesWithoutALiveReplicaAreListed() throws Exception {
    same("operator", "make", (side, fs) -> fs.mkdirs(path("/lost/sub")));
    List<String> files = List.of("/lost/a", "/lost/sub/b", "/lost/whole");
    List<List<ExtendedBlock>> blocks = new ArrayList<>();
    for (Side side : List.of(theirSide, ourSide)) {
      List<ExtendedBlock> made = new ArrayList<>();
      for (String file : files) {
        made.add(writeBlock(side, file));
      }
      for (ExtendedBlock block : made.subList(0, 2)) {
        side.servers().reportLost(block.getLocalBlock());
      }
      blocks.add(made);
    }
    Map<String, String> expected =
        Map.of(
            "/lost", "[/lost/a, /lost/sub/b]",
            "/lost/sub", "[/lost/sub/b]",
            "/lost/whole", "[]",
            "/los", "[]");
    for (String below : expected.keySet()) {
      awaitBoth(expected.get(below), (side, fs) -> corrupt(fs, below));
    }
    same("ann", "corrupt files", (side, fs) -> corrupt(fs, "/lost"));
    for (int i = 0; i < 2; i++) {
      Side side = List.of(theirSide, ourSide).get(i);
      side.servers().report(blocks.get(i).get(0).getLocalBlock());
    }
    awaitBoth("[/lost/sub/b]", (side, fs) -> corrupt(fs, "/lost"));
    sameClass(
        "operator",
        "a cookie of nobody",
        (side, fs) -> side.calls().listCorruptFileBlocks("/lost", "0").getFiles().length > 5);
  }

  /** Both namenodes look at reported blocks a little later. */
  private static void awaitBoth(String expected, Call call) throws InterruptedException {
    for (Side side : List.of(theirSide, ourSide)) {
      long end = System.nanoTime() + WAIT_MILLIS * 1_000_000;
      while (!outcome(side, "operator", call).equals(expected) && System.nanoTime() < end) {
        Thread.sleep(POLL_MILLIS);
      }
      assertThat(outcome(side, "operator", call)).isEqualTo(expected);
    }
  }

  private static List<String> corrupt(DistributedFileSystem fs, String below) throws IOException {
    List<String> shown = new ArrayList<>();
    RemoteIterator<org.apache.hadoop.fs.Path> files = fs.listCorruptFileBlocks(path(below));
    while (files.hasNext()) {
      shown.add(files.next().toUri().getPath());
    }
    shown.sort(null);
    return shown;
  }

  private static ExtendedBlock writeBlock(Side side, String file)
      throws IOException, InterruptedException {
    String client = "writer of " + file;
    HdfsFileStatus made =
        side.calls()
            .create(
                file,
                FsPermission.getFileDefault(),
                client,
                new EnumSetWritable<>(EnumSet.of(CreateFlag.CREATE)),
                false,
                (short) 3,
                1 << 20,
                CryptoProtocolVersion.supported(),
                null,
                null);
    ExtendedBlock block =
        side.calls()
            .addBlock(
                file,
                client,
                null,
                null,
                made.getFileId(),
                null,
                EnumSet.noneOf(AddBlockFlag.class))
            .getBlock();
    block.setNumBytes(1000);
    side.servers().report(block.getLocalBlock());
    long end = System.nanoTime() + WAIT_MILLIS * 1_000_000;
    while (!side.calls().complete(file, client, block, made.getFileId())) {
      assertThat(System.nanoTime()).as("the time to complete %s", file).isLessThan(end);
      Thread.sleep(POLL_MILLIS);
    }
    return block;
  }

  @Test
  void nothingIsBelowAFile() {
    same("operator", "create", (side, fs) -> create(fs, "/plain"));
    for (String user : USERS) {
      same(user, "status", (side, fs) -> fs.exists(path("/plain/below")));
      same(user, "status", (side, fs) -> fs.exists(path("/plain/below/further")));
      same(user, "list", (side, fs) -> fs.listStatus(path("/plain/below")).length);
      same(user, "rename", (side, fs) -> fs.rename(path("/plain"), path("/plain/below")));
    }
  }

  // ---- the namenode itself ----------------------------------------------------------------------

  @Test
  void safeModeIsThatOfHdfs() {
    for (String user : List.of("ann", "operator")) {
      for (SafeModeAction action : SafeModeAction.values()) {
        same(user, "before " + action, (side, fs) -> fs.setSafeMode(action));
        sameClass(user, "make in " + action, (side, fs) -> fs.mkdirs(path("/made/" + action)));
        same(user, "after " + action, (side, fs) -> fs.setSafeMode(SafeModeAction.SAFEMODE_GET));
      }
    }
    same("operator", "out", (side, fs) -> fs.setSafeMode(SafeModeAction.SAFEMODE_LEAVE));
    same("operator", "out again", (side, fs) -> fs.setSafeMode(SafeModeAction.SAFEMODE_LEAVE));
  }

  @Test
  void whatIsSwitchedOffIsAnsweredAsByAnHdfsWithoutIt() {
    for (String user : USERS) {
      same(user, "token", (side, fs) -> fs.getDelegationToken("ann"));
      Token<DelegationTokenIdentifier> token =
          new Token<>(
              new DelegationTokenIdentifier(new Text("a"), new Text("b"), new Text("c")).getBytes(),
              new byte[20],
              DelegationTokenIdentifier.HDFS_DELEGATION_KIND,
              new Text("127.0.0.1:8020"));
      sameClass(user, "renew", (side, fs) -> renewed(side, user, token));
      same(user, "upgrade", (side, fs) -> fs.rollingUpgrade(RollingUpgradeAction.QUERY));
      same(user, "upgrade", (side, fs) -> fs.rollingUpgrade(RollingUpgradeAction.FINALIZE));
      same(user, "finalize", (side, fs) -> finalized(fs));
      same(user, "failed storage", (side, fs) -> fs.restoreFailedStorage("check"));
      same(user, "zones", (side, fs) -> fs.listEncryptionZones().hasNext());
      same(user, "pools", (side, fs) -> fs.listCachePools().hasNext());
      same(user, "directives", (side, fs) -> fs.listCacheDirectives(null).hasNext());
      same(user, "snapshots", (side, fs) -> fs.getSnapshottableDirListing());
    }
  }

  private static Object renewed(Side side, String user, Token<DelegationTokenIdentifier> token)
      throws IOException {
    return side.of(user).getClient().getNamenode().renewDelegationToken(token);
  }

  private static Object finalized(DistributedFileSystem fs) throws IOException {
    fs.finalizeUpgrade();
    return "finalized";
  }

  @Test
  void aRefusalNamesItsReason() {
    assertRefused("no edit log", (side, fs) -> fs.rollEdits());
    assertRefused("in turn", (side, fs) -> fs.rollingUpgrade(RollingUpgradeAction.PREPARE));
    assertRefused("one store", (side, fs) -> fs.restoreFailedStorage("true"));
  }

  private static void assertRefused(String reason, Call call) {
    assertThat(outcome(ourSide, "operator", call)).contains("does not support").contains(reason);
  }

  @Test
  void metaSaveWritesAFileOfThatName() throws Exception {
    DistributedFileSystem fs = ourSide.of("operator");
    fs.metaSave("state.txt");
    assertThat(Files.readString(directory.resolve("data/metasave/state.txt")))
        .contains("safe mode: off", "chunk servers: 3, live: 3", "server-1");
    fs.metaSave("state.txt");
    same("ann", "metaSave", (side, client) -> saved(client, "state.txt"));
    for (String name : List.of("../state", "/tmp/state", ".hidden", "", "a/b", "x".repeat(300))) {
      assertThat(outcome(ourSide, "operator", (side, client) -> saved(client, name)))
          .contains("no name of a file for metasave");
    }
  }

  private static Object saved(DistributedFileSystem fs, String name) throws IOException {
    fs.metaSave(name);
    return "saved";
  }
}
