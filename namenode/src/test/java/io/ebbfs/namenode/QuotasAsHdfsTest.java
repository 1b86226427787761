package io.ebbfs.namenode;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.apache.hadoop.crypto.CryptoProtocolVersion;
import org.apache.hadoop.fs.ContentSummary;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FsShell;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.QuotaUsage;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.AddBlockFlag;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.Block;
import org.apache.hadoop.hdfs.protocol.ClientProtocol;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.apache.hadoop.hdfs.protocol.HdfsConstants;
import org.apache.hadoop.hdfs.protocol.QuotaExceededException;
import org.apache.hadoop.hdfs.tools.DFSAdmin;
import org.apache.hadoop.io.EnumSetWritable;
import org.apache.hadoop.ipc.RemoteException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The same calls under quotas at HDFS's NameNode and at ours: what ends how, and how much is used
 * after each call. The chunk servers are those of the test, because their bytes do not matter.
 */
class QuotasAsHdfsTest {
  private static final long MIB = 1 << 20;
  private static final long KEEP = HdfsConstants.QUOTA_DONT_SET;
  private static final long NONE = HdfsConstants.QUOTA_RESET;

  // Of the random calls of all repetitions.
  private static int steps;
  private static int exceeded;

  /** A namenode, its clients, and the files that are open for writing. */
  private record Side(
      DistributedFileSystem root,
      DistributedFileSystem ann,
      ReportingServers servers,
      List<Writer> writers) {
    static Side of(InetSocketAddress address, ReportingServers servers) throws Exception {
      return new Side(
          NamenodePair.client(address, Optional.empty()),
          NamenodePair.client(address, Optional.of("ann")),
          servers,
          new ArrayList<>());
    }

    ClientProtocol calls() {
      return root.getClient().getNamenode();
    }

    void close() throws IOException {
      root.close();
      ann.close();
      servers.close();
    }
  }

  /** A file that is open for writing. */
  private static final class Writer {
    private final String path;
    private final String client;
    private final long fileId;
    private ExtendedBlock last;

    private Writer(String path, String client, long fileId) {
      this.path = path;
      this.client = client;
      this.fileId = fileId;
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
    theirs = Side.of(pair.hdfsAddress(), pair.hdfsServers(3, TYPES));
    ours = Side.of(pair.ourAddress(), pair.ourServers(3, TYPES));
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

  /**
   * The result of a call; of a failure by a quota the class and the message; of another failure
   * that it failed.
   */
  private static String outcome(Side side, Call call) {
    try {
      return String.valueOf(call.run(side));
    } catch (IOException | RuntimeException e) {
      Exception cause = e instanceof RemoteException remote ? remote.unwrapRemoteException() : e;
      return cause instanceof QuotaExceededException
          ? cause.getClass().getName() + ": " + firstLine(cause)
          : "failed";
    }
  }

  private static String firstLine(Exception failure) {
    return String.valueOf(failure.getMessage()).lines().findFirst().orElse("");
  }

  private static String same(String what, Call call) {
    String wanted = outcome(theirs, call);
    assertThat(outcome(ours, call)).as(what).isEqualTo(wanted);
    return wanted;
  }

  private static final List<String> DIRECTORIES =
      List.of("/q", "/q/a", "/q/a/b", "/q/c", "/r", "/r/d", "/r/d/e");

  private static final List<StorageType> TYPES =
      List.of(StorageType.SSD, StorageType.DISK, StorageType.ARCHIVE);

  private static final List<String> POLICIES =
      List.of("ALL_SSD", "ONE_SSD", "HOT", "WARM", "COLD", "LAZY_PERSIST");

  private static String usage(Side side) throws IOException {
    StringBuilder all = new StringBuilder();
    for (String path : DIRECTORIES) {
      all.append(path).append(' ').append(outcome(side, it -> usage(it, path))).append('\n');
    }
    return all.toString();
  }

  private static String usage(Side side, String path) throws IOException {
    ContentSummary summary = side.root().getContentSummary(path(path));
    QuotaUsage usage = side.root().getQuotaUsage(path(path));
    return "%d files, %d directories, %d and %d bytes, quota %d, %d, %s; kept %d names, %d bytes, quota %d, %d, %s"
        .formatted(
            summary.getFileCount(),
            summary.getDirectoryCount(),
            summary.getLength(),
            summary.getSpaceConsumed(),
            summary.getQuota(),
            summary.getSpaceQuota(),
            types(summary, true),
            usage.getFileAndDirectoryCount(),
            usage.getSpaceConsumed(),
            usage.getQuota(),
            usage.getSpaceQuota(),
            types(usage, usage.isTypeQuotaSet()));
  }

  /**
   * The limits of types and what is used of them. EbbFS keeps what is used where a quota by type
   * holds, and HDFS wherever there is a quota.
   */
  private static String types(QuotaUsage usage, boolean isKept) {
    return TYPES.stream()
        .map(
            type ->
                "%s %d of %d"
                    .formatted(
                        type, isKept ? usage.getTypeConsumed(type) : 0, usage.getTypeQuota(type)))
        .toList()
        .toString();
  }

  /** What was deleted may count here for a moment. */
  private static void sameUsage(String after) throws IOException {
    String wanted = usage(theirs);
    long deadline = System.nanoTime() + 10_000_000_000L;
    while (!usage(ours).equals(wanted) && System.nanoTime() < deadline) {
      try {
        Thread.sleep(20);
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
    }
    assertThat(usage(ours)).as("after " + after).isEqualTo(wanted);
  }

  private static org.apache.hadoop.fs.Path path(String name) {
    return new org.apache.hadoop.fs.Path(name);
  }

  // ---- calls
  // --------------------------------------------------------------------------------------

  @RepeatedTest(4)
  void randomCallsEndAsAtHdfs() throws IOException {
    long seed = Seeds.next(QuotasAsHdfsTest.class);
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    try {
      for (String top : List.of("/q", "/r")) {
        same("clear", side -> side.root().delete(path(top), true));
        same("mkdirs", side -> side.root().mkdirs(path(top)));
      }
      theirs.writers().clear();
      ours.writers().clear();
      for (int i = 0; i < 250; i++) {
        String what = i + ": ";
        exceeded += step(what, random).contains("QuotaExceededException") ? 1 : 0;
        steps++;
      }
    } catch (AssertionError e) {
      throw new AssertionError("seed " + seed, e);
    }
  }

  @AfterAll
  static void randomCallsMeetQuotas() {
    assertThat(steps == 0 || exceeded > 0).as("calls over a quota of %d", steps).isTrue();
  }

  private static String any(List<String> all, Random random) {
    return all.get(random.nextInt(all.size()));
  }

  private static String file(Random random) {
    return any(DIRECTORIES, random) + "/f" + random.nextInt(3);
  }

  private static String anything(Random random) {
    return random.nextInt(3) == 0 ? any(DIRECTORIES, random) : file(random);
  }

  private String step(String number, Random random) throws IOException {
    String one = anything(random);
    String other = anything(random);
    String directory = any(DIRECTORIES, random);
    String file = file(random);
    int small = random.nextInt(8);
    String what;
    String outcome;
    switch (random.nextInt(20)) {
      case 0, 1 -> {
        what = number + "mkdir " + directory;
        outcome =
            same(what, side -> side.calls().mkdirs(directory, FsPermission.getDirDefault(), false));
      }
      case 2, 3 -> {
        what = number + "create " + file;
        outcome =
            same(
                what,
                side -> {
                  side.root()
                      .createNonRecursive(path(file), false, 1, (short) 1, MIB, null)
                      .close();
                  return "created";
                });
      }
      case 4 -> {
        Options.Rename option =
            random.nextBoolean() ? Options.Rename.OVERWRITE : Options.Rename.NONE;
        what = number + "rename2 " + one + " to " + other + " " + option;
        outcome =
            same(
                what,
                side -> {
                  side.calls().rename2(one, other, option);
                  return "renamed";
                });
        countAgainAtHdfs();
      }
      case 5 -> {
        what = number + "rename " + one + " to " + other;
        outcome = same(what, side -> side.root().rename(path(one), path(other)));
        countAgainAtHdfs();
      }
      case 6 -> {
        String deleted = random.nextInt(4) == 0 ? one : file;
        what = number + "delete " + deleted;
        outcome = same(what, side -> side.root().delete(path(deleted), true));
        sameUsage(what);
      }
      case 7, 8 -> {
        long names = random.nextInt(3) == 0 ? NONE : 1 + small;
        what = number + "limit of " + names + " names for " + directory;
        outcome = same(what, side -> setQuota(side, directory, names, KEEP, null));
      }
      case 9 -> {
        long bytes = random.nextInt(3) == 0 ? NONE : small * 2 * MIB;
        what = number + "limit of " + bytes + " bytes for " + directory;
        outcome = same(what, side -> setQuota(side, directory, KEEP, bytes, null));
      }
      case 10 -> {
        short replication = (short) (1 + random.nextInt(3));
        what = number + "replication " + replication + " of " + file;
        outcome = same(what, side -> side.root().setReplication(path(file), replication));
      }
      case 11, 12 -> {
        StorageType type = TYPES.get(random.nextInt(TYPES.size()));
        long bytes = random.nextInt(3) == 0 ? NONE : (1 + small) * MIB;
        what = number + "limit of " + bytes + " bytes on " + type + " for " + directory;
        outcome = same(what, side -> setQuota(side, directory, KEEP, bytes, type));
      }
      case 13, 14 -> {
        String policy = any(POLICIES, random);
        what = number + "policy " + policy + " of " + one;
        outcome = same(what, side -> setPolicy(side, one, policy));
        countAgainAtHdfs();
      }
      case 15 -> {
        what = number + "no policy of " + one;
        outcome = same(what, side -> unsetPolicy(side, one));
        countAgainAtHdfs();
      }
      default -> {
        what = number + "write to " + file;
        outcome = write(what, file, random);
      }
    }
    sameUsage(what);
    return outcome;
  }

  private static String setPolicy(Side side, String path, String policy) throws IOException {
    side.root().setStoragePolicy(path(path), policy);
    return "set";
  }

  private static String unsetPolicy(Side side, String path) throws IOException {
    side.root().unsetStoragePolicy(path(path));
    return "unset";
  }

  /**
   * HDFS counts the bytes of what exists anew when a directory gets its first quota, or at its
   * start, and not when a policy changes, or when a directory with a quota moves to another policy.
   * EbbFS counts at once.
   */
  private static void countAgainAtHdfs() throws IOException {
    Map<String, QuotaUsage> limits = new LinkedHashMap<>();
    for (FileStatus top : theirs.root().listStatus(path("/"))) {
      if (top.isDirectory()) {
        clearQuotasAtHdfs(top.getPath(), limits);
      }
    }
    for (Map.Entry<String, QuotaUsage> one : limits.entrySet()) {
      QuotaUsage limit = one.getValue();
      setQuota(theirs, one.getKey(), limit.getQuota(), limit.getSpaceQuota(), null);
      for (StorageType type : TYPES) {
        setQuota(theirs, one.getKey(), KEEP, limit.getTypeQuota(type), type);
      }
    }
  }

  private static void clearQuotasAtHdfs(
      org.apache.hadoop.fs.Path directory, Map<String, QuotaUsage> limits) throws IOException {
    String path = directory.toUri().getPath();
    limits.put(path, theirs.root().getQuotaUsage(directory));
    setQuota(theirs, path, NONE, NONE, null);
    for (StorageType type : TYPES) {
      setQuota(theirs, path, KEEP, NONE, type);
    }
    for (FileStatus entry : theirs.root().listStatus(directory)) {
      if (entry.isDirectory()) {
        clearQuotasAtHdfs(entry.getPath(), limits);
      }
    }
  }

  private static String setQuota(Side side, String path, long names, long bytes, StorageType type)
      throws IOException {
    side.calls().setQuota(path, names, bytes, type);
    return "set";
  }

  // ---- writing
  // ------------------------------------------------------------------------------------

  /** Opens a file, or adds a block to an open one, or gives a block up, or closes the file. */
  private String write(String what, String file, Random random) {
    if (theirs.writers().isEmpty() || random.nextInt(4) == 0) {
      short replication = (short) (1 + random.nextInt(3));
      return same(what + ": open", side -> open(side, file, replication));
    }
    int index = random.nextInt(theirs.writers().size());
    int bytes = 1 + random.nextInt((int) MIB);
    return switch (random.nextInt(4)) {
      case 0 -> ended(index, same(what + ": close", side -> close(side, index, bytes)));
      case 1 -> ended(index, same(what + ": give up", side -> giveUp(side, index, bytes)));
      default -> {
        String outcome = same(what + ": add a block", side -> add(side, index, bytes));
        if (outcome.equals("added")) {
          yield outcome;
        }
        // A client that may not write on closes what it has.
        same(what + ": close", side -> close(side, index, bytes));
        yield ended(index, outcome);
      }
    };
  }

  private static String ended(int index, String outcome) {
    theirs.writers().remove(index);
    ours.writers().remove(index);
    return outcome;
  }

  private static String open(Side side, String path, short replication) throws IOException {
    String client = "writer of " + path + System.nanoTime();
    long fileId =
        side.calls()
            .create(
                path,
                FsPermission.getFileDefault(),
                client,
                new EnumSetWritable<>(EnumSet.of(CreateFlag.CREATE)),
                false,
                replication,
                MIB,
                CryptoProtocolVersion.supported(),
                null,
                null)
            .getFileId();
    side.writers().add(new Writer(path, client, fileId));
    return "opened";
  }

  private static void finish(Side side, Writer writer, int bytes) throws IOException {
    if (writer.last != null) {
      writer.last.setNumBytes(bytes);
      side.servers().report(ExtendedBlock.getLocalBlock(writer.last));
    }
  }

  private static String add(Side side, int index, int bytes) throws IOException {
    Writer writer = side.writers().get(index);
    finish(side, writer, bytes);
    writer.last =
        side.calls()
            .addBlock(
                writer.path,
                writer.client,
                writer.last,
                null,
                writer.fileId,
                null,
                EnumSet.noneOf(AddBlockFlag.class))
            .getBlock();
    return "added";
  }

  private static String close(Side side, int index, int bytes) throws IOException {
    Writer writer = side.writers().get(index);
    finish(side, writer, bytes);
    return "closed: "
        + side.calls().complete(writer.path, writer.client, writer.last, writer.fileId);
  }

  private static String giveUp(Side side, int index, int bytes) throws IOException {
    Writer writer = side.writers().get(index);
    if (writer.last == null) {
      return close(side, index, bytes);
    }
    side.calls().abandonBlock(writer.last, writer.fileId, writer.path, writer.client);
    return "given up";
  }

  // ---- rules
  // --------------------------------------------------------------------------------------

  /** The class and the whole first line of what a call ends with. */
  private static String exactly(DistributedFileSystem client, String path, long names, long bytes) {
    try {
      client.getClient().getNamenode().setQuota(path, names, bytes, null);
      return "set";
    } catch (IOException e) {
      IOException cause = e instanceof RemoteException remote ? remote.unwrapRemoteException() : e;
      return cause.getClass().getName() + ": " + firstLine(cause);
    }
  }

  @Test
  void setQuotaRefusesAsHdfs() throws IOException {
    same(
        "make",
        side -> {
          side.root().mkdirs(path("/rules/d"));
          side.root().create(path("/rules/f")).close();
          return "made";
        });
    for (String path : List.of("/rules/d", "/rules/f", "/rules/none", "/rules/f/below", "/")) {
      for (long names : new long[] {KEEP, NONE, 0, 1_000_000, -7}) {
        for (long bytes : new long[] {KEEP, NONE, 0, 1L << 50, -7}) {
          String what = path + ", " + names + ", " + bytes;
          assertThat(exactly(ours.root(), path, names, bytes))
              .as(what) // HDFS ends its line before a stack trace
              .startsWith(exactly(theirs.root(), path, names, bytes));
          assertThat(exactly(ours.ann(), path, names, bytes))
              .as(what + " by ann")
              .startsWith(exactly(theirs.ann(), path, names, bytes));
          assertThat(outcome(ours, side -> usage(side, path).replaceAll(".*, quota", "quota")))
              .as(what)
              .isEqualTo(
                  outcome(theirs, side -> usage(side, path).replaceAll(".*, quota", "quota")));
        }
      }
    }
    same("reset", side -> setQuota(side, "/", NONE, NONE, null));
    same("delete", side -> side.root().delete(path("/rules"), true));
  }

  // ---- limits of types
  // ----------------------------------------------------------------------------

  @Test
  void whatWouldExceedALimitOfATypeIsRefusedAsAtHdfs() throws IOException {
    same("make", side -> side.root().mkdirs(path("/limits")));
    same("policy", side -> setPolicy(side, "/limits", "ONE_SSD"));
    same("limit", side -> setQuota(side, "/limits", KEEP, 2 * MIB, StorageType.SSD));
    same("open", side -> open(side, "/limits/f", (short) 2));
    int index = theirs.writers().size() - 1;
    same("add", side -> add(side, index, 0));
    ended(index, same("close", side -> close(side, index, 700)));
    same("limit", side -> setQuota(side, "/limits", KEEP, 1_000, StorageType.SSD));
    assertThat(same("append", side -> append(side, "/limits/f"))).contains("ByStorageType");
    same("usage", side -> usage(side, "/limits"));
    same("limit", side -> setQuota(side, "/limits", KEEP, 1_000, StorageType.DISK));
    assertThat(
            same("replication", side -> side.root().setReplication(path("/limits/f"), (short) 3)))
        .contains("ByStorageType");
    same("replication", side -> side.root().setReplication(path("/limits/f"), (short) 1));
    same("usage", side -> usage(side, "/limits"));
    same("open", side -> open(side, "/limits/g", (short) 1));
    int other = theirs.writers().size() - 1;
    assertThat(same("add", side -> add(side, other, 0))).contains("ByStorageType");
    ended(other, same("close", side -> close(side, other, 0)));
    same("limit", side -> setQuota(side, "/limits", KEEP, 2 * MIB, StorageType.SSD));
    same("append", side -> append(side, "/limits/f"));
    same("usage", side -> usage(side, "/limits"));
    same("delete", side -> side.root().delete(path("/limits"), true));
  }

  private static String append(Side side, String path) throws IOException {
    side.calls().append(path, "appender", new EnumSetWritable<>(EnumSet.of(CreateFlag.APPEND)));
    return "appended";
  }

  // ---- block groups
  // -------------------------------------------------------------------------------

  private static final String CODE = "XOR-2-1-1024k";

  /** While HDFS's NameNode runs; after its restart the groups count on no type there. */
  @Test
  void blockGroupsCountOnTheTypeOfTheirPolicyAsAtHdfs() throws IOException {
    for (String policy : List.of("ALL_SSD", "COLD", "ONE_SSD")) {
      String directory = "/groups/" + policy;
      same("make", side -> makeForGroups(side, directory, policy));
      same("open", side -> open(side, directory + "/f", (short) 1));
      int index = theirs.writers().size() - 1;
      same("add", side -> add(side, index, 0));
      String open = same("usage", side -> usage(side, directory));
      assertThat(open.contains("SSD 3145728 of")).isEqualTo(policy.equals("ALL_SSD"));
      same("close", side -> closeGroup(side, index, 700));
      String closed = same("usage", side -> usage(side, directory));
      assertThat(closed.contains("SSD 1400 of")).isEqualTo(policy.equals("ALL_SSD"));
      ended(index, "closed");
    }
    same("delete", side -> side.root().delete(path("/groups"), true));
  }

  private static String makeForGroups(Side side, String path, String policy) throws IOException {
    side.root().mkdirs(path(path));
    side.root().enableErasureCodingPolicy(CODE);
    side.root().setErasureCodingPolicy(path(path), CODE);
    side.root().setStoragePolicy(path(path), policy);
    return setQuota(side, path, KEEP, 1L << 40, StorageType.SSD);
  }

  /** All bytes are in the first data block, so the parity has as many, and the other block none. */
  private static String closeGroup(Side side, int index, int bytes) throws IOException {
    Writer writer = side.writers().get(index);
    for (int i : List.of(0, 2)) {
      side.servers()
          .report(new Block(writer.last.getBlockId() + i, bytes, writer.last.getGenerationStamp()));
    }
    writer.last.setNumBytes(bytes);
    return "closed: "
        + side.calls().complete(writer.path, writer.client, writer.last, writer.fileId);
  }

  // ---- stock commands
  // -----------------------------------------------------------------------------

  @Test
  void theStockCommandsSayTheSame() throws Exception {
    same("make", side -> side.root().mkdirs(path("/tools/d")));
    for (String command :
        List.of(
            "admin -setQuota 5 /tools",
            "admin -setSpaceQuota 10m /tools",
            "admin -setSpaceQuota 20m -storageType DISK /tools",
            "dfs -touchz /tools/a /tools/b /tools/c /tools/e",
            "dfs -count -q -h -v /tools",
            "dfs -count -q -u /tools",
            "dfs -count -q -t DISK -v /tools",
            "dfs -count -q /tools/d",
            "admin -setSpaceQuota 40m -storageType SSD /tools",
            "dfs -count -q -t -v /tools",
            "dfs -count -q -t SSD,DISK,ARCHIVE /tools",
            "admin -clrSpaceQuota -storageType DISK /tools",
            "admin -clrSpaceQuota /tools",
            "admin -clrQuota /tools",
            "admin -setQuota 0 /tools",
            "admin -setQuota 3 /tools/a",
            "dfs -count -q -u /tools",
            "dfs -rm -r -skipTrash /tools")) {
      assertThat(shell(pair.ourAddress(), command))
          .as(command)
          .isEqualTo(shell(pair.hdfsAddress(), command));
    }
  }

  private static String shell(InetSocketAddress address, String command) throws Exception {
    List<String> words = List.of(command.split(" "));
    return NamenodePair.shell(
        address,
        words.get(0).equals("admin") ? DFSAdmin::new : FsShell::new,
        words.subList(1, words.size()).toArray(String[]::new));
  }
}
