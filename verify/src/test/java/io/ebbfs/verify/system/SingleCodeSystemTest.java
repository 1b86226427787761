package io.ebbfs.verify.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.common.config.YamlFile;
import io.ebbfs.fault.FaultInjector;
import io.ebbfs.fault.FaultPlayer;
import io.ebbfs.fault.Timetable;
import io.ebbfs.protocol.proto.CodingProtos.ListStripesRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.rpc.ChunkServerClient;
import io.ebbfs.protocol.rpc.NamenodeClient;
import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.ConditionWaiter;
import io.ebbfs.testbed.client.StockProcess;
import io.ebbfs.workloads.traffic.GrepJob;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Data under a policy with the single code RS(6,3): a search, degraded reads, and faults by the
 * clock.
 */
@Timeout(600)
@Tag("process")
class SingleCodeSystemTest {
  private static final int BLOCK = TestCluster.BLOCK_BYTES;
  private static final int SERVERS = 5;
  private static final long PATIENCE_MILLIS = 180_000;
  private static final long SEED = Long.getLong("ebbfs.seed", 20_261_123);

  private static TestCluster test;
  private static NamenodeClient namenode;
  private static StockProcess client;

  @BeforeAll
  static void start() throws Exception {
    System.out.println("seed " + SEED);
    Map<String, String> configuration =
        Map.of(
            "namenode.yaml",
            "blockSize: 1MiB\nminBlockSize: 64KiB\n",
            "policies.yaml",
            """
            policies:
              - {name: one, paths: [/one], code: "RS(6,3)", writeColdAfter: 1s, fillWait: 0}
            """,
            "manager.yaml",
            "schedule:\n  evaluateEvery: 500ms\n",
            "raid-node.yaml",
            "poll: 50ms\n");
    test = TestCluster.start(SERVERS, 3, configuration, 3);
    namenode = test.namenode();
    client = test.client(2);
  }

  @AfterAll
  static void stop() throws Exception {
    if (test != null) {
      test.close();
    }
  }

  @Test
  void aSingleCodeIsSearchedReadDegradedAndHealed() throws Exception {
    // Two stripes, which a pair of codes would have placed as one group.
    byte[] line =
        "the quick brown fox jumps over the lazy dog; ebb\n".getBytes(StandardCharsets.UTF_8);
    byte[] data = new byte[12 * BLOCK];
    for (int at = 0; at < data.length; at++) {
      data[at] = line[at % line.length];
    }
    Path file = Files.write(test.directory().resolve("text"), data);
    String digest = client.put(file, "/one/text").get().sha256();
    List<StripeStatusProto> stripes = await("two whole stripes", SingleCodeSystemTest::settled);
    assertThat(stripes).allMatch(s -> s.getStripe().getSingle() && !s.getStripe().hasGroupId());
    assertThat(policies()).contains("\"code\":\"RS(6,3)\"").doesNotContain("fastCode");

    GrepJob.Result found = new GrepJob(test.cluster(), 3, true).run("/one", "ebb", PATIENCE_MILLIS);
    assertThat(found.bytes()).isEqualTo(data.length);
    assertThat(found.matches()).isEqualTo(data.length / line.length);
    assertThat(found.seconds()).isPositive();
    assertThatThrownBy(
            () -> new GrepJob(test.cluster(), 1, true).run("/none", "x", PATIENCE_MILLIS))
        .isInstanceOf(ClusterException.class)
        .hasMessage("there is no /none: store files first");

    readsWithoutAServer(stripes, file);
    readsWithoutADisk(await("two whole stripes", SingleCodeSystemTest::settled), digest);
    faultsByTheClock();
    await("two whole stripes", SingleCodeSystemTest::settled);
    assertThat(client.read("/one/text").get().sha256()).isEqualTo(digest);
  }

  /** The native client decodes itself; for the stock client chunk servers do. */
  private static void readsWithoutAServer(List<StripeStatusProto> stripes, Path file)
      throws Exception {
    test.cluster().killControl();
    int killed = serverOf(stripes.get(0), 0);
    test.cluster().killServer(killed);
    NativeShell shell = new NativeShell(Build.find(), test.cluster().stockClient().conf());
    Path back = test.directory().resolve("back");
    long before = readsOfProxies(killed);
    shell.ok("-get", "/one/text", back.toString());
    assertThat(back).hasSameBinaryContentAs(file);
    assertThat(readsOfProxies(killed)).isEqualTo(before);
    assertThat(counter("degradedReads.RS(6,3)")).isPositive();

    client.read("/one/text").get();
    assertThat(readsOfProxies(killed)).isGreaterThan(before);
    test.cluster().startServer(killed);
    test.cluster().startControl();
  }

  /** The server of the member at a position. */
  private static int serverOf(StripeStatusProto stripe, int position) throws Exception {
    long block =
        stripe.getStripe().getMembersList().stream()
            .filter(m -> m.getPosition() == position)
            .findFirst()
            .orElseThrow()
            .getBlockId();
    for (int server = 0; server < SERVERS; server++) {
      for (int disk = 0; disk < 3; disk++) {
        try (Stream<Path> files = Files.walk(test.cluster().diskDirectory(server, disk))) {
          if (files.anyMatch(at -> at.getFileName().toString().equals("blk_" + block))) {
            return server;
          }
        }
      }
    }
    throw new AssertionError("no server has block " + block);
  }

  /** The degraded reads that the servers but one have served. */
  private static long readsOfProxies(int without) throws Exception {
    long reads = 0;
    for (int server = 0; server < SERVERS; server++) {
      if (server != without) {
        try (ChunkServerClient at = test.cluster().chunkServerClient(server)) {
          reads += at.status().getDegradedReads();
        }
      }
    }
    return reads;
  }

  /** Without the raid-node nothing is repaired. Every degraded read takes six blocks. */
  private static void readsWithoutADisk(List<StripeStatusProto> stripes, String digest)
      throws Exception {
    test.cluster().killControl();
    StripeMemberProto member =
        stripes.get(0).getStripe().getMembersList().stream()
            .filter(m -> m.getPosition() == 0)
            .findFirst()
            .orElseThrow();
    new FaultInjector(test.cluster(), new Random(SEED)).deleteBlock(member.getBlockId());
    assertThat(client.read("/one/text").get().sha256()).isEqualTo(digest);
    assertThat(counter("degradedReads.RS(6,3)")).isPositive();
    assertThat(counter("degradedReadSources.RS(6,3)"))
        .isEqualTo(6 * counter("degradedReads.RS(6,3)"));
    test.cluster().startControl();
  }

  private static void faultsByTheClock() throws Exception {
    await("two whole stripes", SingleCodeSystemTest::settled);
    Timetable timetable =
        YamlFile.parse(
            Path.of("faults.yaml"),
            """
            faults:
              - {at: 0s, fault: rack, target: 1, for: 2s}
              - {at: 3s, fault: flap, target: 2, times: 2, period: 2s}
              - {at: 4500ms, fault: slowLink, target: 0, rate: 1mbit}
              - {at: 8s, fault: server, target: 0, for: 1h}
            """,
            top -> Timetable.read(top, "faults", new Timetable.Shape(5, 3, 3)));
    FaultPlayer player =
        new FaultPlayer(timetable, new FaultInjector(test.cluster(), new Random(SEED)));
    try (player) {
      await("the last fault", () -> player.fired().size() == 8 ? true : null);
      assertThat(test.cluster().running()).doesNotContainKey("server-00");
    }
    assertThat(player.fired())
        .extracting(FaultPlayer.Fired::what)
        .containsExactly(
            "killed rack 1: servers [1, 4]",
            "revived rack 1: servers [1, 4]",
            "killed server 2",
            "revived server 2",
            "slowLink 0 failed",
            "killed server 2",
            "revived server 2",
            "killed server 0",
            "revived server 0");
    assertThat(player.fired().get(4).error()).contains("is on loopback");
    assertThat(test.cluster().running()).hasSize(5 + 3);
  }

  private static List<StripeStatusProto> settled() throws Exception {
    List<StripeStatusProto> stripes =
        namenode
            .coding()
            .listStripes(null, ListStripesRequestProto.newBuilder().setLimit(10).build())
            .getStripesList();
    boolean whole =
        stripes.size() == 2
            && stripes.stream()
                .allMatch(
                    s ->
                        s.getStripe().getCode().equals("RS(6,3)")
                            && s.getStripe().getMembersCount() == 9
                            && s.getLostPositionsCount() == 0
                            && !s.hasTransitionId());
    return whole ? stripes : null;
  }

  private static String policies() throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(test.cluster().httpAddress() + "/api/v1/policies"))
            .build();
    return HttpClient.newHttpClient()
        .send(request, HttpResponse.BodyHandlers.ofString())
        .body()
        .replaceAll("\\s", "");
  }

  private static long counter(String name) throws Exception {
    return namenode.cluster().getCountersList().stream()
        .filter(counter -> counter.getName().equals(name))
        .mapToLong(counter -> counter.getValue())
        .sum();
  }

  private static <T> T await(String what, Callable<T> condition) throws Exception {
    AtomicReference<T> found = new AtomicReference<>();
    ConditionWaiter.within(PATIENCE_MILLIS)
        .until(
            what,
            () -> {
              found.set(condition.call());
              return found.get() == null ? "not yet" : null;
            });
    return found.get();
  }
}
