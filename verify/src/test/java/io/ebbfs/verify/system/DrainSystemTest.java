package io.ebbfs.verify.system;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ebbfs.protocol.proto.CodingProtos.DecisionProto;
import io.ebbfs.protocol.proto.CodingProtos.ServerStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.verify.audit.ClusterAudit;
import io.ebbfs.verify.cluster.VerifyCluster;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.DatanodeIDProto;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A real chunk server with replicas and members of stripes is drained by the REST API, while
 * clients read and write and the namenode dies. Then the chunk server is killed: nothing is lost,
 * and nothing has to be repaired. After its return, another one hibernates and is killed under
 * reads: its blocks are read through the codes, and nothing is repaired meanwhile.
 */
@Timeout(600)
@Tag("process")
class DrainSystemTest {
  private static final int SERVERS = 8;
  private static final int DISKS = 4;
  private static final long PATIENCE_MILLIS = 240_000;

  private final long seed = Long.getLong("ebbfs.seed", new Random().nextLong());
  private final Random random = new Random(seed);
  private final Map<String, byte[]> files = new TreeMap<>();
  private VerifyCluster cluster;

  @TempDir Path directory;

  private JsonNode call(String method, String path) throws Exception {
    HttpResponse<String> response = answer(method, path);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return new ObjectMapper().readTree(response.body());
  }

  private HttpResponse<String> answer(String method, String path) throws Exception {
    String token = Files.readString(cluster.directory().resolve("api.token")).strip();
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(cluster.local().httpAddress() + "/api/v1/" + path))
            .method(method, HttpRequest.BodyPublishers.noBody())
            .header("Authorization", "Bearer " + token)
            .build();
    return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
  }

  private void write(String path, int blocks) throws Exception {
    byte[] bytes = new byte[blocks * VerifyCluster.BLOCK_BYTES - 1_000];
    random.nextBytes(bytes);
    cluster.write(path, bytes);
    files.put(path, bytes);
  }

  private void encode(String code, String path) throws Exception {
    cluster.propose(
        DecisionProto.newBuilder()
            .setKind(TransitionKindProto.ENCODE)
            .setToCode(code)
            .setPolicy("test")
            .setReason("a test")
            .addFileIds(cluster.fileId(path))
            .build());
  }

  private String uuidOf(int number) throws Exception {
    int port = cluster.local().layout().ports().transfer().get(number);
    return cluster.probe().cluster().getServersList().stream()
        .map(ServerStatusProto::getServer)
        .filter(server -> server.getXferPort() == port)
        .map(DatanodeIDProto::getDatanodeUuid)
        .findFirst()
        .orElseThrow();
  }

  private ServerStatusProto server(String uuid) throws IOException {
    return cluster.probe().cluster().getServersList().stream()
        .filter(server -> server.getServer().getDatanodeUuid().equals(uuid))
        .findFirst()
        .orElseThrow();
  }

  private String whyNoServerTakesBlocks() throws IOException {
    var now = cluster.probe().cluster();
    long ready =
        now.getServersList().stream()
            .filter(ServerStatusProto::getLive)
            .filter(s -> s.getStoragesList().stream().allMatch(d -> d.getRemainingBytes() > 0))
            .count();
    return now.getSafeMode() || ready < SERVERS
        ? "%d servers are ready, safe mode %s".formatted(ready, now.getSafeMode())
        : null;
  }

  @Test
  void aDrainedServerMayBeKilledAndNothingIsLost() throws Exception {
    System.out.println("seed " + seed);
    try (VerifyCluster started =
        VerifyCluster.start(directory.resolve("cluster"), SERVERS, DISKS, Map.of())) {
      cluster = started;
      for (int i = 0; i < 10; i++) {
        write("/replicated" + i, 3);
      }
      write("/rs", 18);
      write("/product", 20);
      encode("RS(6,3)", "/rs");
      encode("PC(2x5)", "/product");
      VerifyCluster.await(
          "all is encoded",
          PATIENCE_MILLIS,
          () ->
              cluster.transitionsAfter(0).size() >= 2
                      && cluster.transitionsAfter(0).stream().noneMatch(VerifyCluster::isActive)
                  ? cluster.whyNotAtRest()
                  : "transitions run");
      String leaving = uuidOf(0);
      JsonNode plan = call("POST", "actions/drain?dryRun=true&server=" + leaving);
      long blocks = plan.path("figures").path("blocks").asLong();
      assertThat(blocks).isPositive();
      assertThat(server(leaving).hasDrain()).isFalse();

      long began = System.nanoTime();
      call("POST", "actions/drain?server=" + leaving);
      assertThat(server(leaving).hasDrain()).isTrue();
      cluster.local().killNamenode();
      cluster.local().startNamenode();
      cluster.reconnect();
      VerifyCluster.await(
          "servers that tell their space", PATIENCE_MILLIS, this::whyNoServerTakesBlocks);
      write("/meanwhile", 6);
      int[] reads = {0};
      VerifyCluster.await(
          "the end of the drain",
          PATIENCE_MILLIS,
          () -> {
            String path = files.keySet().stream().toList().get(reads[0]++ % files.size());
            assertThat(cluster.read(path)).as(path).isEqualTo(files.get(path));
            var drain = server(leaving).getDrain();
            return drain.getDrained() ? null : drain.toString();
          });
      System.out.printf(
          "%d blocks left the server in %d ms%n", blocks, (System.nanoTime() - began) / 1_000_000);
      JsonNode servers = call("GET", "cluster").path("servers");
      assertThat(servers.findValuesAsText("state")).contains("DRAINED");

      long before = cluster.lastTransition();
      cluster.local().killServer(0);
      VerifyCluster.await(
          "the death of the server",
          PATIENCE_MILLIS,
          () -> server(leaving).getLive() ? "it is live" : null);
      readAll();
      assertThat(cluster.probe().cluster().getStripesByLossList()).isEmpty();
      assertThat(cluster.transitionsAfter(before).stream().map(TransitionRow::getKind))
          .doesNotContain(TransitionKindProto.REPAIR);
      assertThat(cluster.probe().cluster().getUnderReplicatedBlocks()).isZero();

      cluster.local().startServer(0);
      call("POST", "actions/undrain?server=" + leaving);
      VerifyCluster.await(
          "the return of the server", PATIENCE_MILLIS, () -> cluster.whyNotAtRest());
      assertThat(server(leaving).hasDrain()).isFalse();
      VerifyCluster.await(
          "servers that tell their space", PATIENCE_MILLIS, this::whyNoServerTakesBlocks);
      hibernate(serverThatMayHibernate());
      assertThat(new ClusterAudit(cluster).all(files).wrong()).isEmpty();
    }
  }

  /** The number of a server with blocks, chosen by dry runs as an operator would. */
  private int serverThatMayHibernate() throws Exception {
    for (int number = 1; number < SERVERS; number++) {
      HttpResponse<String> plan =
          answer("POST", "actions/hibernate?dryRun=true&for=1h&server=" + uuidOf(number));
      if (plan.statusCode() == 200
          && new ObjectMapper().readTree(plan.body()).at("/figures/blocks").asLong() > 0) {
        assertThat(server(uuidOf(number)).hasHibernation()).as("after a dry run").isFalse();
        return number;
      }
      System.out.println("server %d may not hibernate: %s".formatted(number, plan.body()));
    }
    throw new AssertionError("no server may hibernate");
  }

  private void hibernate(int number) throws Exception {
    String away = uuidOf(number);
    String other = uuidOf(number == 1 ? 2 : 1);
    call("POST", "actions/hibernate?for=1h&server=" + away);
    VerifyCluster.await(
        "the server may be stopped",
        PATIENCE_MILLIS,
        () -> server(away).getHibernation().getReady() ? null : server(away).toString());
    long before = cluster.lastTransition();
    cluster.local().killServer(number);
    readAll();
    VerifyCluster.await(
        "the death of the server",
        PATIENCE_MILLIS,
        () -> server(away).getLive() ? "it is live" : null);
    readAll();
    HttpResponse<String> refused = answer("POST", "actions/hibernate?for=1h&server=" + other);
    assertThat(refused.statusCode()).as(refused.body()).isEqualTo(409);
    assertThat(refused.body()).contains("hibernates");
    assertThat(server(other).hasHibernation()).isFalse();
    write("/during", 3);
    readAll();
    assertThat(cluster.transitionsAfter(before).stream().map(TransitionRow::getKind))
        .doesNotContain(TransitionKindProto.REPAIR);
    assertThat(server(away).hasHibernation()).isTrue();

    cluster.local().startServer(number);
    VerifyCluster.await(
        "the return of the server",
        PATIENCE_MILLIS,
        () -> server(away).getLive() ? null : "it is down");
    call("POST", "actions/wake?server=" + away);
    VerifyCluster.await("rest", PATIENCE_MILLIS, () -> cluster.whyNotAtRest());
    assertThat(server(away).hasHibernation()).isFalse();
  }

  private void readAll() throws Exception {
    for (Map.Entry<String, byte[]> file : files.entrySet()) {
      assertThat(cluster.read(file.getKey())).as(file.getKey()).isEqualTo(file.getValue());
    }
  }
}
