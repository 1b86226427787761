package io.ebbfs.verify.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.fault.FaultInjector;
import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ConditionWaiter;
import io.ebbfs.testbed.client.StockProcess;
import io.ebbfs.testbed.client.ToolProcess;
import io.ebbfs.testbed.process.ProcessNames;
import io.ebbfs.verify.system.TestCluster.ShellResult;
import io.ebbfs.workloads.traffic.Generator;
import io.ebbfs.workloads.traffic.Profile;
import io.ebbfs.workloads.traffic.Replay;
import io.ebbfs.workloads.traffic.Workload;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.client.HdfsClientConfigKeys;
import org.apache.hadoop.hdfs.client.HdfsDataInputStream;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.HdfsFileStatus;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A stock HDFS client works on a real cluster and reads back every byte that it wrote. */
@Tag("process")
class StockClientSystemTest {
  private static final int BLOCK = TestCluster.BLOCK_BYTES;
  private static final long SEED = 20_261_122;
  private static final String XOR = "XOR-2-1-1024k";
  private static final String HTTP_ADDRESS = "dfs.namenode.http-address";

  /** The format of HDFS's template of such files. */
  private static final String POLICIES_OF_A_USER =
      """
      <?xml version="1.0"?>
      <configuration>
      <layoutversion>1</layoutversion>
      <schemas><schema id="wide"><codec>rs</codec><k>5</k><m>2</m></schema></schemas>
      <policies><policy><schema>wide</schema><cellsize>131072</cellsize></policy></policies>
      </configuration>
      """;

  private static TestCluster test;
  private static StockProcess client;

  @BeforeAll
  static void start() throws Exception {
    test = TestCluster.startWithWebHdfs(4, 2);
    client = test.client(4);
  }

  @AfterAll
  static void stop() throws Exception {
    if (test != null) {
      test.close();
    }
  }

  @Test
  void filesOfEveryBoundarySizeComeBack() throws Exception {
    int[] sizes = {
      0,
      1,
      2,
      3,
      127,
      511,
      512,
      513,
      1024,
      65_535,
      65_536,
      65_537,
      70_300,
      100_000,
      BLOCK - 1,
      BLOCK,
      BLOCK + 1,
      2 * BLOCK - 1,
      2 * BLOCK,
      2 * BLOCK + 1,
      10_000_000
    };
    List<StockProcess.Answer> stored = new ArrayList<>();
    for (int size : sizes) {
      stored.add(client.put(randomFile(size), "/sizes/" + size).get());
    }
    for (int i = 0; i < sizes.length; i++) {
      StockProcess.Answer read = client.read("/sizes/" + sizes[i]).get();
      assertThat(read.bytes()).isEqualTo(sizes[i]);
      assertThat(read.sha256()).as("bytes of %d", sizes[i]).isEqualTo(stored.get(i).sha256());
    }
  }

  @Test
  void filesAreCutWithinAChunkAndPutTogether() throws Exception {
    byte[] content = new byte[2 * BLOCK + 5_000];
    new Random(SEED).nextBytes(content);
    Path file = Files.write(test.directory().resolve("whole"), content);
    for (int i = 0; i < 2; i++) {
      client.put(file, "/cut/" + i).get();
    }
    int shorter = BLOCK + 70_001;
    ShellResult cut = test.shell("-truncate", "-w", "" + shorter, "/cut/0");
    assertThat(cut.exitCode()).as(cut.output()).isZero();
    ShellResult boundary = test.shell("-truncate", "" + BLOCK, "/cut/1");
    assertThat(boundary.exitCode()).as(boundary.output()).isZero();
    Path wanted = Files.write(test.directory().resolve("cut"), Arrays.copyOf(content, shorter));
    assertThat(client.read("/cut/0").get().sha256())
        .isEqualTo(client.put(wanted, "/cut/wanted").get().sha256());
    ShellResult joined = test.shell("-concat", "/cut/0", "/cut/1", "/cut/wanted");
    assertThat(joined.exitCode()).as(joined.output()).isZero();
    byte[] all = Arrays.copyOf(content, 2 * shorter + BLOCK);
    System.arraycopy(content, 0, all, shorter, BLOCK);
    System.arraycopy(content, 0, all, shorter + BLOCK, shorter);
    Path whole = Files.write(test.directory().resolve("all"), all);
    assertThat(client.read("/cut/0").get().sha256())
        .isEqualTo(client.put(whole, "/cut/all").get().sha256());
    assertThat(test.shell("-test", "-e", "/cut/1").exitCode()).isNotZero();
  }

  @Test
  void aWorkloadIsReplayedAndEveryReadCompared() throws Exception {
    Workload workload = new Generator(20, 32 << 10, 2, 8, 1000, SEED).generate(Profile.of("CC4"));
    Replay replay = new Replay(workload, client, "/replay", SEED);
    Path temporary = Files.createDirectories(test.directory().resolve("replay"));
    replay.store(temporary, (done, of) -> {});
    assertThat(temporary).isEmptyDirectory();

    Replay.Outcome outcome = replay.read((done, of) -> {});
    assertThat(outcome.failures()).isEmpty();
    assertThat(outcome.micros()).hasSize(workload.reads().size()).isSorted();
    assertThat(outcome.millis(50)).isPositive().isLessThanOrEqualTo(outcome.millis(99));

    // The first file is replaced by another one, and the second file is deleted.
    long ofFirst = workload.reads().stream().filter(read -> read.file() == 0).count();
    long ofSecond = workload.reads().stream().filter(read -> read.file() == 1).count();
    ok("-rm", "/replay/" + workload.files().get(0).path());
    client.put(randomFile(77), "/replay/" + workload.files().get(0).path()).get();
    ok("-rm", "/replay/" + workload.files().get(1).path());
    Replay.Outcome broken = replay.read((done, of) -> {});
    assertThat(broken.wrong()).isEqualTo((int) ofFirst);
    assertThat(broken.unreadable()).isEqualTo((int) ofSecond);
  }

  @Test
  void namesMayHoldAlmostAnything() throws Exception {
    List<String> names =
        List.of("with blank", "quote'\"", "per%20cent%", "grüße-世界-🜁", "x".repeat(255), "a;b&c|d");
    Path file = randomFile(5000);
    for (String name : names) {
      String digest = client.put(file, "/names/" + name).get().sha256();
      assertThat(client.read("/names/" + name).get().sha256()).isEqualTo(digest);
    }
  }

  @Test
  void theFileSystemShellWorks() throws Exception {
    Path file = randomFile(3 * BLOCK + 17);
    ok("-mkdir", "-p", "/shell/a/b");
    ok("-put", file.toString(), "/shell/a/b/file");
    assertThat(ok("-ls", "-R", "/shell")).contains("/shell/a/b/file");
    ok("-mv", "/shell/a", "/shell/c");
    ok("-cp", "/shell/c/b/file", "/shell/copy");
    String one = ok("-checksum", "/shell/c/b/file").trim().replaceAll("^\\S+\\s+", "");
    String two = ok("-checksum", "/shell/copy").trim().replaceAll("^\\S+\\s+", "");
    assertThat(one).isEqualTo(two).contains("MD5");
    ok("-chmod", "640", "/shell/copy");
    assertThat(ok("-stat", "%a %b %o %r", "/shell/copy").trim())
        .isEqualTo("640 " + (3 * BLOCK + 17) + " " + BLOCK + " 3");
    assertThat(ok("-count", "/shell").trim())
        .matches("3\\s+2\\s+" + 2L * (3 * BLOCK + 17) + "\\s+/shell");
    Path back = test.directory().resolve("back");
    ok("-get", "/shell/copy", back.toString());
    assertThat(back).hasSameBinaryContentAs(file);
    ok("-rm", "-r", "-skipTrash", "/shell");
    assertThat(test.shell("-ls", "/shell").exitCode()).isEqualTo(1);
  }

  @Test
  void everyCommandEndsAsThePageSays() throws Exception {
    Path local = Files.createDirectories(test.directory().resolve("commands"));
    Files.write(local.resolve("file"), new byte[] {'e', 'b', 'b', '\n'});
    Files.writeString(local.resolve("policies.xml"), POLICIES_OF_A_USER);
    String server = test.cluster().hostOf(0) + ":" + test.cluster().layout().ports().ipc().get(0);
    Path replica = copyOfReplica(local);
    try (ToolProcess tool = commands(local, true)) {
      StockCommands page =
          StockCommands.read(Build.find().home().resolve("docs/stock-commands.md"));
      Map<String, String> words =
          Map.of(
              "LOCAL", local.toString(),
              "NAMENODE", URI.create(test.cluster().stockClient().uri()).getAuthority(),
              "SERVER", server,
              "REPLICA", replica.toString(),
              "WEBHDFS", test.cluster().layout().webHdfsUri().orElseThrow());
      List<String> wrong = page.endOtherwise(tool, words);
      Path log = local.resolve("ebbfs").resolve(ToolProcess.COMMANDS_LOG);
      assertThat(wrong).as(() -> lastOf(log)).isEmpty();
    }
  }

  /** What exit codes do not show. */
  @Test
  void ordersToServersTakeEffect() throws Exception {
    Path local = Files.createDirectories(test.directory().resolve("orders"));
    try (ToolProcess tool = commands(local, true);
        DistributedFileSystem files = files(new Configuration())) {
      ServerOrders orders = new ServerOrders(test.cluster(), tool, files);
      orders.bringAFullReport();
      orders.changeTheBandwidth();
      orders.endPipelines(SEED);
    }
  }

  /** The client asks the next server when the first one is silent for a tenth of a second. */
  @Test
  void aHedgedReadDoesNotWaitForAFrozenServer() throws Exception {
    byte[] data = new byte[300_000];
    new Random(SEED).nextBytes(data);
    Configuration conf = new Configuration();
    conf.setInt(HdfsClientConfigKeys.HedgedRead.THREADPOOL_SIZE_KEY, 4);
    conf.setLong(HdfsClientConfigKeys.HedgedRead.THRESHOLD_MILLIS_KEY, 100);
    org.apache.hadoop.fs.Path path = new org.apache.hadoop.fs.Path("/hedged");
    try (DistributedFileSystem files = files(conf)) {
      try (FSDataOutputStream out = files.create(path)) {
        out.write(data);
      }
      try (FSDataInputStream in = files.open(path)) {
        LocatedBlock block = ((HdfsDataInputStream) in).getAllBlocks().get(0);
        assertThat(block.getLocations()).hasSize(3);
        int first = serverAt(block.getLocations()[0]);
        byte[] read = new byte[data.length];
        long began = System.nanoTime();
        test.cluster().stall(ProcessNames.server(first), true);
        try {
          in.readFully(0, read);
        } finally {
          test.cluster().stall(ProcessNames.server(first), false);
        }
        assertThat(read).isEqualTo(data);
        // Without a hedged read, the client waits for 60 s until it gives the server up.
        assertThat(System.nanoTime() - began).isLessThan(TimeUnit.SECONDS.toNanos(30));
      }
    }
  }

  /** The number of a server of the cluster. */
  private static int serverAt(DatanodeInfo server) {
    return test.cluster().layout().ports().transfer().indexOf(server.getXferPort());
  }

  private static DistributedFileSystem files(Configuration conf) throws IOException {
    conf.set("fs.defaultFS", test.cluster().stockClient().uri());
    DistributedFileSystem files = new DistributedFileSystem();
    files.initialize(URI.create(conf.get("fs.defaultFS")), conf);
    return files;
  }

  private static String lastOf(Path log) {
    try {
      String text = Files.readString(log);
      return "the end of the log:\n" + text.substring(Math.max(0, text.length() - 6_000));
    } catch (IOException e) {
      return "the log cannot be read: " + e.getMessage();
    }
  }

  /** The files of a replica, as {@code replica.data} and {@code replica.meta}. */
  private static Path copyOfReplica(Path directory) throws Exception {
    client.put(randomFile(70_300), "/replica").get();
    try (Stream<Path> files = Files.walk(test.directory().resolve("cluster"))) {
      Path meta =
          files
              .filter(file -> file.toString().matches(".*/finalized/.*/blk_\\d+_\\d+\\.meta"))
              .findFirst()
              .orElseThrow();
      String data = meta.toString().replaceFirst("_\\d+\\.meta$", "");
      Files.copy(meta, directory.resolve("replica.meta"));
      Files.copy(Path.of(data), directory.resolve("replica.data"));
    }
    return directory.resolve("replica");
  }

  /** The commands that run on HDFS run in the process of the tool. */
  private static ToolProcess commands(Path directory, boolean onEbbFs) throws Exception {
    Path files = Files.createDirectories(directory.resolve(onEbbFs ? "ebbfs" : "hdfs"));
    return ToolProcess.commands(
        Build.find(),
        files,
        onEbbFs
            ? Map.of(
                "fs.defaultFS",
                test.cluster().stockClient().uri(),
                HTTP_ADDRESS,
                test.cluster().layout().webs().get(0))
            : Map.of());
  }

  /** The answers to fsck differ in what names blocks, servers and times. */
  @Test
  void fsckTellsAsOnHdfs() throws Exception {
    Path local = Files.createDirectories(test.directory().resolve("fsck"));
    Files.writeString(local.resolve("small"), "one line\n");
    Files.writeString(local.resolve("large"), "many lines\n".repeat(20_000));
    List<String> questions =
        List.of(
            "/fsck",
            "/fsck -files",
            "/fsck -files -blocks",
            "/fsck -files -blocks -locations",
            "/fsck -files -blocks -racks",
            "/fsck -files -blocks -replicaDetails",
            "/fsck -files -blocks -upgradedomains",
            "/fsck/a/large -openforwrite -maintenance",
            "/fsck/a -storagepolicies -includeSnapshots",
            "/fsck -list-corruptfileblocks",
            "/none",
            "-blockId blk_1 y");
    try (ToolProcess hdfs = commands(local, false);
        ToolProcess ours = commands(local, true)) {
      for (ToolProcess tool : List.of(hdfs, ours)) {
        tool.request("dfs", "-mkdir", "-p", "/fsck/a/b").get();
        tool.request("dfs", "-Ddfs.blocksize=65536", "-put", local + "/large", "/fsck/a").get();
        tool.request("dfs", "-put", local + "/small", "/fsck/b").get();
        tool.request("dfs", "-touchz", "/fsck/a/empty").get();
        tool.request("dfs", "-setrep", "5", "/fsck/b").get();
      }
      for (String question : questions) {
        String[] words = question.split(" ");
        assertThat(normalized(ours.request("fsck", words).get()))
            .as("fsck %s", question)
            .isEqualTo(normalized(hdfs.request("fsck", words).get()));
      }
    }
  }

  /** The same bytes have the same checksums as on HDFS, and those of CRCs in files of any kind. */
  @Test
  void encodedFilesHaveTheChecksumsOfHdfs() throws Exception {
    Path local = Files.createDirectories(test.directory().resolve("sums"));
    int[] sizes = {1, 700_000, 1 << 20, (1 << 20) + 1, 5_000_017};
    for (int size : sizes) {
      Files.copy(randomFile(size), local.resolve("" + size));
    }
    try (ToolProcess hdfs = commands(local, false);
        ToolProcess ours = commands(local, true)) {
      for (ToolProcess tool : List.of(hdfs, ours)) {
        tool.request("ec", "-enablePolicy", "-policy", XOR).get();
        tool.request("dfs", "-mkdir", "/coded", "/plain").get();
        tool.request("ec", "-setPolicy", "-path", "/coded", "-policy", XOR).get();
        for (int size : sizes) {
          for (String directory : List.of("/coded", "/plain")) {
            List<String> put =
                tool.request("dfs", "-Ddfs.blocksize=2m", "-put", local + "/" + size, directory)
                    .get();
            assertThat(put.get(0)).as(put.toString()).isEqualTo("0");
          }
        }
      }
      List<String> expected = checksums(hdfs, sizes);
      assertThat(checksums(ours, sizes)).isEqualTo(expected);
      for (int server = 0; server < 3; server++) { // each data block is lost once
        test.cluster().killServer(server);
        assertThat(checksums(ours, sizes)).as("without server %d", server).isEqualTo(expected);
        test.cluster().startServer(server);
      }
    }
  }

  /** The checksums of the encoded files of these sizes, of both kinds. */
  private static List<String> checksums(ToolProcess tool, int[] sizes) throws Exception {
    List<String> sums = new ArrayList<>();
    for (int size : sizes) {
      sums.add(checksum(tool, "MD5MD5CRC", "/coded/" + size));
      String composite = checksum(tool, "COMPOSITE_CRC", "/coded/" + size);
      assertThat(composite).isEqualTo(checksum(tool, "COMPOSITE_CRC", "/plain/" + size));
      sums.add(composite);
    }
    return sums;
  }

  private static String checksum(ToolProcess tool, String mode, String file) throws Exception {
    List<String> answer =
        tool.request("dfs", "-Ddfs.checksum.combine.mode=" + mode, "-checksum", file).get();
    assertThat(answer.get(0)).as("%s of %s: %s", mode, file, answer).isEqualTo("0");
    assertThat(answer.get(1)).contains("CRC32C");
    return answer.get(1).replace(file, "").strip();
  }

  /** Rows of cells that are whole stay, as on HDFS. */
  @Test
  void anEncodedFileWhoseWriterIsGoneKeepsWholeRows() throws Exception {
    // The next row makes the client send the last bytes of the cells of the row before.
    byte[] data = new byte[7 << 19];
    new Random(SEED).nextBytes(data);
    Configuration conf = new Configuration();
    conf.set("fs.defaultFS", test.cluster().stockClient().uri());
    org.apache.hadoop.fs.Path path = new org.apache.hadoop.fs.Path("/torn");
    try (DistributedFileSystem files = new DistributedFileSystem()) {
      files.initialize(URI.create(conf.get("fs.defaultFS")), conf);
      files.enableErasureCodingPolicy(XOR);
      FSDataOutputStream out = files.createFile(path).ecPolicyName(XOR).blockSize(4 << 20).build();
      out.write(data);
      out.flush();
      ConditionWaiter.within(60_000)
          .until(
              "a row of cells is written",
              () -> openReplicas((1 << 20) + 1) >= 2 ? null : "too little is written");
      ConditionWaiter.within(60_000)
          .until("the file closes", () -> files.recoverLease(path) ? null : "the file is open");
      assertThat(files.getFileStatus(path).getLen()).isEqualTo(2 << 20);
      byte[] read = new byte[2 << 20];
      try (FSDataInputStream in = files.open(path)) {
        in.readFully(read);
      }
      assertThat(read).isEqualTo(Arrays.copyOf(data, 2 << 20));
      files.getClient().closeAllFilesBeingWritten(true);
    }
  }

  /**
   * An order makes a replicated file of a file that its client has encoded, while one of its blocks
   * is lost. The chunk servers gather the new blocks out of the cells.
   */
  @Test
  void anEncodedFileBecomesAReplicatedFileByAnOrder() throws Exception {
    byte[] data = new byte[(8 << 20) + (5 << 18) + 77];
    new Random(SEED).nextBytes(data);
    Configuration conf = new Configuration();
    conf.set("fs.defaultFS", test.cluster().stockClient().uri());
    String name = "/nothing/striped"; // the policy of the cluster has this directory
    org.apache.hadoop.fs.Path path = new org.apache.hadoop.fs.Path(name);
    try (DistributedFileSystem files = new DistributedFileSystem()) {
      files.initialize(URI.create(conf.get("fs.defaultFS")), conf);
      files.enableErasureCodingPolicy(XOR);
      try (FSDataOutputStream out =
          files.createFile(path).recursive().ecPolicyName(XOR).blockSize(2 << 20).build()) {
        out.write(data);
      }
      files.setXAttr(path, "user.kept", new byte[] {7});
      FileStatus before = files.getFileStatus(path);
      assertThat(before.isErasureCoded()).isTrue();
      LocatedBlock group =
          files.getClient().getLocatedBlocks(name, 0, Long.MAX_VALUE).getLocatedBlocks().get(0);
      assertThat(order(name, true).body())
          .contains("\"clientStripedBytes\":" + data.length)
          .contains("\"clientStripedReadBytes\":" + 3 * data.length)
          .contains("\"clientStripedWrittenBytes\":" + 3 * data.length)
          .contains("\"clientStripedStoredBytesThen\":" + 3 * data.length);
      new FaultInjector(test.cluster(), new Random(SEED))
          .deleteBlock(group.getBlock().getBlockId() + 1);
      try (FSDataInputStream open = files.open(path)) {
        byte[] first = new byte[1 << 20];
        open.readFully(0, first);
        assertThat(first).isEqualTo(Arrays.copyOf(data, 1 << 20));
        ConditionWaiter.within(120_000)
            .until(
                "the file is replicated",
                () ->
                    !files.getFileStatus(path).isErasureCoded()
                        ? null
                        : "answer of the order: " + order(name, false).body());
        assertNoWrongBytes(open, data);
      }
      byte[] read = new byte[data.length];
      try (FSDataInputStream in = files.open(path)) {
        in.readFully(read);
      }
      assertThat(Arrays.equals(read, data)).isTrue();
      FileStatus after = files.getFileStatus(path);
      assertThat(after.getModificationTime()).isEqualTo(before.getModificationTime());
      assertThat(after.getReplication()).isEqualTo((short) 3);
      assertThat(((HdfsFileStatus) after).getFileId())
          .isEqualTo(((HdfsFileStatus) before).getFileId());
      assertThat(files.getXAttr(path, "user.kept")).isEqualTo(new byte[] {7});
      assertThat(files.getErasureCodingPolicy(path)).isNull();
      assertThat(files.getContentSummary(path).getSpaceConsumed()).isEqualTo(3L * data.length);
    }
  }

  /** A reader that has opened the file before gets its bytes, or an error: it expects groups. */
  private static void assertNoWrongBytes(FSDataInputStream open, byte[] data) {
    byte[] rest = new byte[1 << 20];
    try {
      open.readFully(5 << 20, rest);
    } catch (IOException | RuntimeException | AssertionError e) {
      return;
    }
    assertThat(rest).isEqualTo(Arrays.copyOfRange(data, 5 << 20, 6 << 20));
  }

  private static HttpResponse<String> order(String path, boolean dryRun) throws Exception {
    Path directory = test.directory().resolve("cluster");
    HttpRequest request =
        HttpRequest.newBuilder(
                URI.create(
                    "%s/api/v1/actions/convert?path=%s&to=replicas&dryRun=%s"
                        .formatted(test.cluster().httpAddress(), path, dryRun)))
            .POST(HttpRequest.BodyPublishers.noBody())
            .header(
                "Authorization",
                "Bearer " + Files.readString(directory.resolve("api.token")).strip())
            .build();
    return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
  }

  /** How many replicas that are being written have so many bytes. */
  private static int openReplicas(int length) throws IOException {
    int count = 0;
    try (Stream<Path> all = Files.walk(test.directory().resolve("cluster"))) {
      for (Path file : all.filter(p -> p.toString().matches(".*/rbw/(.*/)?blk_\\d+")).toList()) {
        count += Files.size(file) >= length ? 1 : 0;
      }
    } catch (UncheckedIOException | NoSuchFileException e) {
      return 0; // a file came or went during the walk
    }
    return count;
  }

  /** Servers and the wanted replicas of the small file are as many as the cluster has. */
  private static String normalized(List<String> answer) {
    return String.join("\n", answer)
        .replaceAll("http://[^/]+", "http://HOST")
        .replaceAll(" at .*", " at TIME")
        .replaceAll("in [0-9]+ milliseconds", "in TIME")
        .replaceAll("BP-[^:]+:blk_[0-9_]+", "BLOCK")
        .replaceAll("127.0.0.1:[0-9]+,DS-[^,]+", "DISK")
        .replaceAll("127.0.0.1:[0-9]+", "SERVER")
        .replaceAll("(data-nodes:|found|MIN|Live_repl=)\\s*[0-9]+", "$1 N")
        .replaceAll("(Average block replication|Missing replicas):.*", "$1")
        .replaceAll("DISK:[0-9]+\\(HOT\\).*", "POLICY")
        .replaceAll("(, )?(DatanodeInfoWithStorage|/default-rack)[^ ]*", "PLACE")
        .replaceAll("(PLACE)+", "PLACES");
  }

  @Test
  void theShellAnswersAsOnHdfs() throws Exception {
    long seed = Long.getLong("seed", new Random().nextLong());
    Path local = Files.createDirectories(test.directory().resolve("shells"));
    Files.write(local.resolve("empty"), new byte[0]);
    Files.writeString(local.resolve("small"), "one line\n");
    Files.writeString(local.resolve("large"), "many lines\n".repeat(20_000));
    try (ToolProcess hdfs = commands(local, false);
        ToolProcess ours = commands(local, true)) {
      ShellSequences stock = new ShellSequences(seed, local.toString(), "/shells");
      assertThat(stock.differences(hdfs, command -> ours.request("dfs", command).get(), 300))
          .as("commands that end differently, seed %d", seed)
          .isEmpty();
      ShellSequences ofOurShell = new ShellSequences(seed, local.toString(), "/native");
      assertThat(ofOurShell.differences(hdfs, nativeShell(), 300))
          .as("commands that 'ebb fs' ends differently, seed %d", seed)
          .isEmpty();
      // What fails everywhere would be the same everywhere.
      assertThat(List.of(stock, ofOurShell))
          .as("commands that succeed, seed %d", seed)
          .extracting(ShellSequences::succeeded)
          .allSatisfy(succeeded -> assertThat(succeeded).isGreaterThan(40));
    }
  }

  @Test
  void ourShellFillsAndEmptiesTheTrashAsOnHdfs() throws Exception {
    String trash = "/user/" + System.getProperty("user.name") + "/.Trash";
    String on = "-Dfs.trash.interval=60 ";
    Path local = Files.createDirectories(test.directory().resolve("trash"));
    NativeShell ours = nativeShell();
    try (ToolProcess hdfs = commands(local, false)) {
      for (String command :
          List.of(
              "-rm -r -f -skipTrash " + trash,
              "-mkdir -p /trashed/a/b",
              "-touchz /trashed/f /trashed/a/g",
              on + "-rm /trashed/f",
              "-touchz /trashed/f",
              on + "-rm /trashed/f",
              on + "-rm -skipTrash /trashed/a/g",
              on + "-rm -r /trashed",
              on + "-rm -r /user",
              on + "-rm " + trash + "/Current/trashed/f",
              on + "-expunge",
              "-touchz /trashed",
              on + "-rm /trashed",
              "-mkdir /trashed",
              "-touchz /trashed/h",
              on + "-rm /trashed/h",
              on + "-expunge",
              "-expunge",
              "-expunge -immediate")) {
        String[] words = command.split(" ");
        assertThat(ours.run(words).get(0))
            .as(command)
            .isEqualTo(hdfs.request("dfs", words).get().get(0));
        assertThat(withoutTimes(ours.run("-ls", "-R", trash)))
            .as("after %s", command)
            .isEqualTo(withoutTimes(hdfs.request("dfs", "-ls", "-R", trash).get()));
      }
    }
  }

  private static String withoutTimes(List<String> answer) {
    return String.join("\n", answer)
        .replaceAll("\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d", "TIME")
        .replaceAll("\\d{13}", "MILLIS")
        .replaceAll("\\d{12}(-\\d+)?", "CHECKPOINT");
  }

  @Test
  void aWriterOutlivesTheLossOfAServerOfItsPipeline() throws Exception {
    Path file = randomFile(24 * BLOCK);
    var stored = client.put(file, "/survives");
    test.cluster().killServer(1);
    String digest = stored.get().sha256();
    assertThat(client.read("/survives").get().sha256()).isEqualTo(digest);
    test.cluster().startServer(1);
    assertThat(client.read("/survives").get().sha256()).isEqualTo(digest);
  }

  /** What one shell writes, the other one reads, and a server that ends stops neither. */
  @Test
  void ourShellAndTheStockClientReadEachOther() throws Exception {
    NativeShell shell = nativeShell();
    for (int size : new int[] {0, 1, 511, 70_001, BLOCK, 2 * BLOCK + 1}) {
      Path file = randomFile(size);
      Path back = test.directory().resolve("back-" + size);
      shell.ok("-mkdir", "-p", "/crossed");
      shell.ok("-put", file.toString(), "/crossed/ours" + size);
      String digest = client.put(file, "/crossed/theirs" + size).get().sha256();
      assertThat(client.read("/crossed/ours" + size).get().sha256()).isEqualTo(digest);
      shell.ok("-get", "/crossed/theirs" + size, back.toString());
      assertThat(back).hasSameBinaryContentAs(file);
    }
    Path trees = Files.createDirectories(test.directory().resolve("trees"));
    shell.ok("-get", "-t", "3", "-resume", "/crossed", trees.toString());
    shell.ok("-put", "-t", "3", "-resume", trees.resolve("crossed").toString(), "/trees");
    for (int size : new int[] {0, 70_001, 2 * BLOCK + 1}) {
      assertThat(trees.resolve("crossed/theirs" + size))
          .hasSameBinaryContentAs(test.directory().resolve("back-" + size));
      assertThat(client.read("/trees/theirs" + size).get().sha256())
          .isEqualTo(client.read("/crossed/theirs" + size).get().sha256());
    }
    shell.ok("-test", "-e", "/crossed/ours*");
    assertThat(shell.run("-test", "-s", "/crossed/ours*"))
        .as("as with hdfs dfs, all files of a pattern must pass, and one is empty")
        .isEqualTo(List.of("1", ""));
    assertThat(shell.ok("-explain", "/crossed/ours70001"))
        .contains("70001 bytes", "coding: replicas", "block 1: id ", "pin: none of its own");
    Path large = randomFile(24 * BLOCK);
    Process writer = shell.start("-put", large.toString(), "/crossed/large");
    Process reader = shell.start("-cat", "/crossed/theirs" + BLOCK);
    test.cluster().killServer(2);
    assertThat(reader.getInputStream().readAllBytes()).hasSize(BLOCK);
    assertThat(writer.waitFor()).as(new String(writer.getInputStream().readAllBytes())).isZero();
    Path read = test.directory().resolve("large-back");
    shell.ok("-get", "/crossed/large", read.toString());
    assertThat(read).hasSameBinaryContentAs(large);
    test.cluster().startServer(2);
    String digest = client.put(large, "/crossed/again").get().sha256();
    assertThat(client.read("/crossed/large").get().sha256()).isEqualTo(digest);
  }

  /** The Python package calls the C library. Its file system of fsspec is left out. */
  @Test
  void pythonUsesTheNativeClient() throws Exception {
    Path home = Build.find().home();
    Path script = home.resolve("python/test/files_test.py");
    runPython(
        List.of("python3", "-B", script.toString(), "/python"),
        Map.of("PYTHONPATH", home.resolve("python").toString()));
  }

  /** By fsspec, and by pyarrow's own client of libhdfs. Downloads both. */
  @Test
  @Tag("long")
  void fsspecAndPyarrowUseTheNativeClient() throws Exception {
    Build build = Build.find();
    String run = build.home().resolve("python/test/run.sh").toString();
    String directory = build.nativeLibrary().resolveSibling("ebbfs-arrow").toString();
    Map<String, String> environment =
        Map.of("EBBFS_PYARROW", "1", "ARROW_LIBHDFS_DIR", directory, "JAVA_HOME", directory);
    runPython(List.of(run, "files_test.py", "/fsspec"), environment);
    runPython(List.of(run, "arrow_test.py", "/arrow"), environment);
  }

  private static void runPython(List<String> command, Map<String, String> environment)
      throws Exception {
    Map<String, String> all = new HashMap<>(environment);
    all.put("EBBFS_LIBRARY", Build.find().nativeLibrary().toString());
    all.put("HADOOP_CONF_DIR", test.cluster().stockClient().conf().toString());
    runScript(command, all, 5);
  }

  /** What the script prints, which has to end well. */
  private static String runScript(
      List<String> command, Map<String, String> environment, int minutes) throws Exception {
    Path log = Files.createTempFile(test.directory(), "script", ".log");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
    builder.environment().putAll(environment);
    Process process = builder.start();
    try {
      process.getOutputStream().close();
      assertThat(process.waitFor(minutes, TimeUnit.MINUTES)).as("ends: %s", log).isTrue();
      String printed = Files.readString(log);
      assertThat(process.exitValue()).as(printed).isZero();
      return printed;
    } finally {
      process.destroyForcibly();
    }
  }

  /** What programs leave in a mounted directory, a stock client reads. */
  @Test
  void programsUseAMountLikeAnyDirectory() throws Exception {
    Path work = Files.createDirectories(test.directory().resolve("mount"));
    NativeMount mount = new NativeMount(Build.find(), test.cluster().stockClient().conf(), work);
    List<String> files = mount.writeTree(SEED);
    mount.run();
    for (String file : files.subList(0, 20)) {
      String digest = client.put(mount.tree().resolve(file), "/unmounted/" + file).get().sha256();
      assertThat(client.read("/mounted/tree/" + file).get().sha256()).as(file).isEqualTo(digest);
    }
    assertThat(client.read("/mounted/data").get().sha256())
        .isEqualTo(client.read("/mounted/copy").get().sha256());
  }

  /** By fio with verification, and by tar and diff of the headers of this machine. */
  @Test
  @Tag("long")
  void fioAndALargeTreeUseAMount() throws Exception {
    Build build = Build.find();
    String script = build.home().resolve("chunk-cluster/test/mount_load.sh").toString();
    String programs = build.nativeMount().getParent().toString();
    String conf = test.cluster().stockClient().conf().toString();
    String printed = runScript(List.of(script, "--size", "64", programs, conf), Map.of(), 20);
    System.out.print(printed);
    assertThat(printed).endsWith("passed\n");
  }

  private static NativeShell nativeShell() throws Exception {
    return new NativeShell(Build.find(), test.cluster().stockClient().conf());
  }

  private static String ok(String... arguments) throws Exception {
    ShellResult result = test.shell(arguments);
    assertThat(result.exitCode()).as("%s: %s", List.of(arguments), result.output()).isZero();
    return result.output();
  }

  private static Path randomFile(int size) throws Exception {
    Path file = Files.createTempFile(test.directory(), "data", "");
    byte[] bytes = new byte[size];
    new Random(size).nextBytes(bytes);
    Files.write(file, bytes);
    return file;
  }
}
