package io.ebbfs.verify.system;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ebbfs.common.failpoint.FailPoint;
import io.ebbfs.common.failpoint.FailPoints;
import io.ebbfs.protocol.proto.CodingProtos.DecisionProto;
import io.ebbfs.protocol.proto.CodingProtos.FileStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.yarn.LocalYarn;
import io.ebbfs.verify.cluster.BlockLossInjector;
import io.ebbfs.verify.cluster.VerifyCluster;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * Executors on a real YARN, with EbbFS as its file system: they encode, one of them dies in the
 * middle, the others repair, and nothing of their jobs is left behind.
 */
@Timeout(3600)
@Tag("process")
@Tag("long")
class YarnSystemTest {
  private static final long PATIENCE_MILLIS = 300_000;

  /** No job starts as fast as this, and every claim is faster. */
  private static final long JOB_START_MILLIS = 5_000;

  private static final int SERVERS = 5;
  private static final String CODE = "RS(3,2)";
  private static final String STAGING = "/staging";

  private final long seed = Long.getLong("ebbfs.seed", new Random().nextLong());
  private final Random random = new Random(seed);
  private final Map<String, byte[]> files = new TreeMap<>();

  @TempDir Path directory;
  private LocalYarn yarn;
  private VerifyCluster cluster;

  @Test
  void executorsOnYarnEncodeAndRepairAndLeaveNothingBehind() throws Exception {
    onYarn(
        "10m",
        () -> {
          encodesOnYarn();
          anExecutorDiesInTheMiddle();
          aRepairWaitsForNoJob();
          aRestartEndsTheJobsOfBefore();
          nothingIsLeft();
        });
  }

  /** Takes minutes, so it runs on demand: {@code -Debbfs.yarn.minutes=6}. */
  @Test
  @EnabledIfSystemProperty(named = "ebbfs.yarn.minutes", matches = "\\d+")
  void jobsTakeTurnsAndNoTransitionWaitsForOne() throws Exception {
    onYarn(
        "2m",
        () -> {
          write("/first");
          encoded("/first");
          long minutes = Long.getLong("ebbfs.yarn.minutes");
          long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(minutes);
          Set<String> workers = new TreeSet<>();
          long longest = 0;
          for (int i = 0; System.nanoTime() < end; i++) {
            String path = "/file-" + i;
            cluster.write(path, new byte[VerifyCluster.BLOCK_BYTES + 1000]);
            TransitionRow row = encoded(path);
            workers.add(row.getWorker());
            longest = Math.max(longest, row.getClaimedMillis() - row.getCreatedMillis());
            Thread.sleep(500);
          }
          System.out.printf("%d workers; the longest wait was %d ms%n", workers.size(), longest);
          assertThat((long) workers.size()).isGreaterThanOrEqualTo(minutes);
          assertThat(longest).isLessThan(JOB_START_MILLIS);
          nothingIsLeft();
        });
  }

  private interface Steps {
    void run() throws Exception;
  }

  private void onYarn(String executorLife, Steps steps) throws Exception {
    System.out.println("seed " + seed);
    Path home = directory.resolve("cluster");
    Map<String, String> environment =
        Map.of(FailPoints.DIRECTORY, home.resolve("fail-points").toString());
    try (LocalYarn startedYarn =
        LocalYarn.launch(Build.find(), directory.resolve("yarn"), environment)) {
      yarn = startedYarn;
      try (VerifyCluster started =
          VerifyCluster.start(home, SERVERS, 1, configuration(executorLife))) {
        cluster = started;
        yarn.awaitNode();
        steps.run();
      }
    }
  }

  private Map<String, String> configuration(String executorLife) {
    Map<String, String> files = new HashMap<>();
    files.put(
        "codes.yaml", "codes:\n  - {name: \"small\", tolerance: 2, code: \"" + CODE + "\"}\n");
    files.put(
        "raid-node.yaml",
        """
        lease: 2s
        poll: 50ms
        combineTimeout: 10s
        executors: 1
        executorLife: %s
        framework: yarn
        hadoopConf: %s
        staging: %s
        """
            .formatted(executorLife, yarn.conf(), STAGING));
    return files;
  }

  private void encodesOnYarn() throws Exception {
    write("/a");
    TransitionRow row = encoded("/a");
    List<JsonNode> running = applications("RUNNING");
    assertThat(running).hasSize(2);
    assertThat(running).anyMatch(application -> isOf(row, application));
    theKeyIsInNoFileOfTheJobs();
  }

  private void theKeyIsInNoFileOfTheJobs() throws Exception {
    String secret = cluster.local().serviceKey().secret();
    List<FileStatusProto> staged = cluster.probe().files(STAGING);
    assertThat(staged).anyMatch(file -> file.getPath().endsWith("/job.xml"));
    for (FileStatusProto file : staged) {
      String text = new String(cluster.read(file.getPath()), StandardCharsets.ISO_8859_1);
      assertThat(text.contains(secret)).as(file.getPath()).isFalse();
    }
  }

  /** The executor has combined and verified; its commit is never sent. */
  private void anExecutorDiesInTheMiddle() throws Exception {
    cluster.local().arm(FailPoint.RAID_BEFORE_COMMIT, FailPoints.Armed.KILL);
    write("/b");
    TransitionRow row = encoded("/b");
    assertThat(cluster.local().hasFired(FailPoint.RAID_BEFORE_COMMIT)).isTrue();
    assertThat(row.getAttempt()).isGreaterThan(1);
  }

  /** The application that repairs has begun before the loss. */
  private void aRepairWaitsForNoJob() throws Exception {
    StripeRow stripe = cluster.probe().stripes().get(0).getStripe();
    BlockLossInjector loss =
        new BlockLossInjector(
            cluster, cluster.blockPool("/a"), List.of(stripe.getMembersList().get(0)));
    List<JsonNode> before = applications("RUNNING");
    long last = cluster.lastTransition();
    VerifyCluster.await(
        "the repair",
        PATIENCE_MILLIS,
        () -> {
          loss.makeServersNotice();
          return cluster.transitionsAfter(last).stream().anyMatch(YarnSystemTest::isDone)
              ? null
              : "none is done";
        });
    TransitionRow repair = cluster.transitionsAfter(last).get(0);
    assertThat(repair.getKind()).isEqualTo(TransitionKindProto.REPAIR);
    System.out.printf(
        "the repair was claimed %d ms after it was planned%n",
        repair.getClaimedMillis() - repair.getCreatedMillis());
    assertThat(before).anyMatch(application -> isOf(repair, application));
  }

  /** The control plane dies, and with it the knowledge of its jobs. */
  private void aRestartEndsTheJobsOfBefore() throws Exception {
    List<String> before = ids(applications("RUNNING"));
    assertThat(before).hasSize(2);
    cluster.local().killControl();
    cluster.local().startControl();
    VerifyCluster.await(
        "two other jobs",
        PATIENCE_MILLIS,
        () -> {
          List<String> now = ids(applications("RUNNING"));
          return now.size() == 2 && now.stream().noneMatch(before::contains)
              ? null
              : "running: " + now;
        });
    write("/c");
    encoded("/c");
  }

  private void nothingIsLeft() throws Exception {
    cluster.local().stopControl();
    VerifyCluster.await(
        "the end of all jobs",
        PATIENCE_MILLIS,
        () -> {
          List<String> now = ids(applications("RUNNING"));
          return now.isEmpty() ? null : "running: " + now;
        });
    assertThat(cluster.probe().files(STAGING)).isEmpty();
    VerifyCluster.await("rest", PATIENCE_MILLIS, () -> cluster.whyNotAtRest());
    VerifyCluster.await("the count of blocks", PATIENCE_MILLIS, cluster::blockCountMismatch);
    for (Map.Entry<String, byte[]> file : files.entrySet()) {
      assertThat(cluster.read(file.getKey())).as(file.getKey()).isEqualTo(file.getValue());
    }
  }

  // ---- what happens ----------------------------------------------------------------------------

  private void write(String path) throws IOException {
    byte[] bytes = new byte[3 * VerifyCluster.BLOCK_BYTES - random.nextInt(1000)];
    random.nextBytes(bytes);
    cluster.write(path, bytes);
    files.put(path, bytes);
  }

  private TransitionRow encoded(String path) throws Exception {
    long last = cluster.lastTransition();
    DecisionProto decision =
        DecisionProto.newBuilder()
            .setKind(TransitionKindProto.ENCODE)
            .setToCode("small")
            .setPolicy("test")
            .setReason("to be verified")
            .addFileIds(cluster.fileId(path))
            .build();
    VerifyCluster.await(
        "the proposal",
        PATIENCE_MILLIS,
        () -> {
          var proposed = cluster.propose(decision);
          return proposed.getTransitionIdsCount() > 0 ? null : proposed.getRefusal();
        });
    VerifyCluster.await(
        "the encoding of " + path,
        PATIENCE_MILLIS,
        () ->
            cluster.transitionsAfter(last).stream().allMatch(YarnSystemTest::isDone)
                ? null
                : cluster.probe().activity() + "; applications: " + yarnStates());
    return cluster.transitionsAfter(last).get(0);
  }

  private static boolean isDone(TransitionRow row) {
    return row.getState() == TransitionStateProto.DONE;
  }

  // ---- YARN ------------------------------------------------------------------------------------

  private List<JsonNode> applications(String state) throws IOException {
    List<JsonNode> found = new ArrayList<>();
    JsonNode all = new ObjectMapper().readTree(yarnStates()).path("apps").path("app");
    for (JsonNode application : all) {
      if (application.path("state").asText().equals(state)) {
        found.add(application);
      }
    }
    return found;
  }

  /** What YARN knows of each application, for the message of a test that waited in vain. */
  private String yarnStates() throws IOException {
    try {
      return yarn.applications();
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  private static List<String> ids(List<JsonNode> applications) {
    return applications.stream().map(application -> application.path("id").asText()).toList();
  }

  /** The worker of a transition has the number of its application in its name. */
  private static boolean isOf(TransitionRow row, JsonNode application) {
    String number = application.path("id").asText().replace("application", "");
    return row.getWorker().contains(number);
  }
}
