package io.ebbfs.verify.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.protocol.proto.CodingProtos.DecisionProto;
import io.ebbfs.protocol.proto.CodingProtos.ServerStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.verify.audit.ClusterAudit;
import io.ebbfs.verify.audit.FatalServerPairs;
import io.ebbfs.verify.cluster.VerifyCluster;
import io.ebbfs.verify.cluster.VerifyConfiguration;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Files are encoded on few servers. When more servers join, blocks move until no rule is broken.
 */
@Timeout(900)
@Tag("process")
@Tag("long")
class MisplacementSystemTest {
  private static final int SERVERS = 9;
  private static final int AT_FIRST = 4;
  private static final int DISKS = 5;
  private static final int MOST_AT_ONCE = 8;
  private static final long PATIENCE_MILLIS = 240_000;
  private static final String BEING_REPLACED = "placementViolations.beingMended";
  private static final Map<String, Integer> BLOCKS_BY_CODE = Map.of("RS(6,3)", 36, "PC(2x5)", 30);

  private final long seed = Long.getLong("seed", new Random().nextLong());
  private final Map<String, byte[]> files = new TreeMap<>();
  private VerifyCluster cluster;

  @TempDir Path directory;

  @Test
  void violationsGoToZeroWhenServersJoin() throws Exception {
    System.out.println("seed " + seed);
    // The namenode re-places by default: its configuration does not mention it.
    try (VerifyCluster started =
        VerifyCluster.start(
            directory.resolve("cluster"),
            SERVERS,
            DISKS,
            Map.of("namenode.yaml", VerifyConfiguration.NAMENODE))) {
      cluster = started;
      for (int server = AT_FIRST; server < SERVERS; server++) {
        cluster.local().killServer(server);
      }
      awaitLive(AT_FIRST);
      encodeFiles();
      assertThat(FatalServerPairs.of(cluster))
          .as("pairs of servers that may not be lost")
          .isNotEmpty();

      // Without the raid-node no block moves, so that the counters keep their values.
      cluster.local().killControl();
      for (int server = AT_FIRST; server < SERVERS; server++) {
        cluster.local().startServer(server);
      }
      awaitLive(SERVERS);
      await(
          "violations and transitions that repair them",
          () -> counter("placementViolations") > 0 && counter(BEING_REPLACED) > 0);
      assertThat(counter(BEING_REPLACED)).isLessThanOrEqualTo(MOST_AT_ONCE);
      long violations = counter("placementViolations");

      cluster.local().startControl();
      awaitRePlaced();

      // A moved block has a file on its old disk as well until its server is told to delete that
      // file.
      VerifyCluster.await("one file per block", PATIENCE_MILLIS, cluster::blockCountMismatch);
      assertThat(FatalServerPairs.of(cluster)).isEmpty();
      List<TransitionRow> moves =
          cluster.transitionsAfter(0).stream()
              .filter(row -> row.getKind() == TransitionKindProto.MOVE)
              .toList();
      assertThat(moves).anyMatch(row -> row.getState() == TransitionStateProto.DONE);
      assertThat(moves).noneMatch(row -> row.getState() == TransitionStateProto.FAILED);
      ClusterAudit audit = new ClusterAudit(cluster).all(files);
      assertThat(audit.wrong()).isEmpty();
      assertThat(audit.underProtected()).isEmpty();
      assertThat(counter("placementViolations")).isZero();
      System.out.printf("%d violations, %d moves%n", violations, moves.size());
    }
  }

  private void encodeFiles() throws Exception {
    Random random = new Random(seed);
    for (Map.Entry<String, Integer> code : BLOCKS_BY_CODE.entrySet()) {
      DecisionProto.Builder decision =
          DecisionProto.newBuilder()
              .setKind(TransitionKindProto.ENCODE)
              .setToCode(code.getKey())
              .setPolicy("test")
              .setReason("a test");
      for (int file = 0; file < 3; file++) {
        // The last block of each file is short.
        byte[] bytes = new byte[code.getValue() / 3 * VerifyCluster.BLOCK_BYTES - file * 1000];
        random.nextBytes(bytes);
        String path = "/" + code.getKey().substring(0, 2) + file;
        cluster.write(path, bytes);
        files.put(path, bytes);
        decision.addFileIds(cluster.fileId(path));
      }
      cluster.propose(decision.build());
    }
    await(
        "all files in stripes",
        () ->
            cluster.transitionsAfter(0).stream().noneMatch(VerifyCluster::isActive)
                && cluster.probe().files("/").stream()
                    .allMatch(file -> file.getStripedBlocks() == file.getBlocks()));
    assertThat(cluster.probe().stripes().stream().map(s -> s.getStripe().getCode()).distinct())
        .containsExactlyInAnyOrderElementsOf(BLOCKS_BY_CODE.keySet());
  }

  /** Waits and reads files meanwhile. A client may look for a block where it was a moment ago. */
  private void awaitRePlaced() throws Exception {
    List<String> paths = new ArrayList<>(files.keySet());
    int[] reads = {0};
    VerifyCluster.await(
        "no violations",
        PATIENCE_MILLIS,
        () -> {
          String path = paths.get(reads[0]++ % paths.size());
          byte[] read;
          try {
            read = cluster.read(path);
          } catch (IOException e) {
            throw new AssertionError(path + " cannot be read while blocks move", e);
          }
          assertThat(read).as(path).isEqualTo(files.get(path));
          long left = counter("placementViolations");
          return left > 0 ? left + " placement violations" : cluster.whyNotAtRest();
        });
  }

  private void awaitLive(int servers) throws Exception {
    await(
        servers + " live servers",
        () ->
            !cluster.probe().cluster().getSafeMode()
                && cluster.probe().cluster().getServersList().stream()
                        .filter(ServerStatusProto::getLive)
                        .count()
                    == servers);
  }

  private long counter(String name) throws IOException {
    return cluster.probe().cluster().getCountersList().stream()
        .filter(counter -> counter.getName().equals(name))
        .mapToLong(counter -> counter.getValue())
        .sum();
  }

  private interface Condition {
    boolean holds() throws IOException;
  }

  private static void await(String what, Condition condition) throws Exception {
    VerifyCluster.await(what, PATIENCE_MILLIS, () -> condition.holds() ? null : "not yet");
  }
}
