package io.ebbfs.verify.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ebbfs.protocol.proto.ChunkProtos.VerifyRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.CommitRequestProto;
import io.ebbfs.protocol.rpc.ChunkServerClient;
import io.ebbfs.protocol.rpc.NamenodeClient;
import io.ebbfs.protocol.rpc.RemoteCall;
import io.ebbfs.protocol.rpc.RpcSettings;
import io.ebbfs.protocol.rpc.ServiceKey;
import io.ebbfs.testbed.cluster.LocalCluster;
import io.ebbfs.testbed.process.ProcessId;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Nobody gets through a door for services without the key of the cluster. */
@Tag("process")
class DoorsSystemTest {
  private static final RpcSettings RPC = RpcSettings.tryOnce(20_000);
  private static final String LISTEN = "0A";

  private static TestCluster test;
  private static LocalCluster cluster;

  @BeforeAll
  static void start() throws Exception {
    test = TestCluster.start(3, 1);
    cluster = test.cluster();
  }

  @AfterAll
  static void stop() throws Exception {
    if (test != null) {
      test.close();
    }
  }

  private static ServiceKey another() {
    return ServiceKey.of("0".repeat(64), "another file");
  }

  @Test
  void theNamenodeAnswersItsOwnProtocolToServicesOnly() throws Exception {
    InetSocketAddress address = address(cluster.layout().ports().namenode());
    for (ServiceKey key : List.of(ServiceKey.NONE, another())) {
      try (NamenodeClient stranger = new NamenodeClient(address, RPC, key)) {
        refused(key, "CodingProtocol", stranger::cluster);
        CommitRequestProto commit =
            CommitRequestProto.newBuilder().setTransitionId(1).setAttempt(1).setWorker("x").build();
        refused(
            key,
            "CodingProtocol",
            () -> RemoteCall.answerOf(() -> stranger.coding().commit(null, commit)));
      }
    }
    try (NamenodeClient service = cluster.namenodeClient()) {
      assertThat(service.cluster().getServersCount()).isEqualTo(3);
    }
  }

  @Test
  void aChunkServerAnswersItsOwnProtocolToServicesOnly() throws Exception {
    InetSocketAddress address = address(cluster.layout().ports().ipc().get(0));
    for (ServiceKey key : List.of(ServiceKey.NONE, another())) {
      try (ChunkServerClient stranger = new ChunkServerClient(address, RPC, key)) {
        refused(key, "ChunkProtocol", stranger::status);
        VerifyRequestProto verify = VerifyRequestProto.getDefaultInstance();
        refused(
            key,
            "ChunkProtocol",
            () -> RemoteCall.answerOf(() -> stranger.chunk().verify(null, verify)));
      }
    }
    try (ChunkServerClient service = cluster.chunkServerClient(0)) {
      assertThat(service.status().getDisksCount()).isEqualTo(1);
    }
  }

  private interface Call {
    Object run() throws IOException;
  }

  private static void refused(ServiceKey key, String protocol, Call call) {
    assertThatThrownBy(call::run)
        .hasMessageContaining(protocol)
        .hasMessageContaining(key.isPresent() ? "has another service key" : "has no service key")
        .hasMessageContaining(cluster.directory().resolve("service.key").toString());
  }

  private static InetSocketAddress address(int port) {
    return new InetSocketAddress("127.0.0.1", port);
  }

  @Test
  void theApiChangesNothingWithoutTheToken() throws Exception {
    assertThat(evaluate(null)).isEqualTo(401);
    assertThat(evaluate("Bearer " + "0".repeat(64))).isEqualTo(401);
    Path token = cluster.directory().resolve("api.token");
    assertThat(evaluate("Bearer " + Files.readString(token).strip())).isEqualTo(200);
  }

  private static int evaluate(String authorization) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(
                URI.create(cluster.httpAddress() + "/api/v1/policies/evaluate?dryRun=true"))
            .POST(HttpRequest.BodyPublishers.noBody());
    if (authorization != null) {
      request.header("Authorization", authorization);
    }
    return HttpClient.newHttpClient()
        .send(request.build(), HttpResponse.BodyHandlers.ofString())
        .statusCode();
  }

  @Test
  void keyAndTokenAreForTheirOwnerOnly() throws Exception {
    for (String name : new String[] {"service.key", "api.token"}) {
      Path file = cluster.directory().resolve(name);
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
          .as(name)
          .isEqualTo("rw-------");
    }
  }

  @Test
  void everyProcessListensAtTheLoopbackOnly() throws Exception {
    Set<String> sockets = new HashSet<>();
    for (ProcessId process : cluster.running().values()) {
      sockets.addAll(sockets(process));
    }
    List<String> listeners = new ArrayList<>();
    for (String table : new String[] {"tcp", "tcp6"}) {
      try (Stream<String> lines = Files.lines(Path.of("/proc/net/" + table))) {
        lines
            .skip(1)
            .map(line -> line.strip().split("\\s+"))
            .filter(f -> f[3].equals(LISTEN) && sockets.contains("socket:[" + f[9] + "]"))
            .forEach(f -> listeners.add(f[1].substring(0, f[1].indexOf(':'))));
      }
    }
    // Two for each chunk server, two for the broker, one for the namenode and the control plane.
    assertThat(listeners).hasSizeGreaterThanOrEqualTo(10);
    // 127.0.0.1, or the same as an address of IPv6.
    assertThat(listeners)
        .allMatch(address -> address.equals("0100007F") || address.endsWith("FFFF00000100007F"));
  }

  private static Set<String> sockets(ProcessId process) throws IOException {
    Set<String> sockets = new HashSet<>();
    try (Stream<Path> all = Files.list(Path.of("/proc/" + process.pid() + "/fd"))) {
      for (Path descriptor : (Iterable<Path>) all::iterator) {
        try {
          sockets.add(Files.readSymbolicLink(descriptor).toString());
        } catch (IOException e) {
          continue; // closed meanwhile
        }
      }
    }
    return sockets;
  }
}
