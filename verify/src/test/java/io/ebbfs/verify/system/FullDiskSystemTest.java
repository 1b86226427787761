package io.ebbfs.verify.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ebbfs.coding.code.CodeFamily;
import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.common.failpoint.FailPoint;
import io.ebbfs.common.failpoint.FailPoints.Action;
import io.ebbfs.common.failpoint.FailPoints.Armed;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.testbed.process.ProcessNames;
import io.ebbfs.verify.audit.ClusterAudit;
import io.ebbfs.verify.cluster.VerifyCluster;
import io.ebbfs.verify.kills.TransitionScenario;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Disks, small file systems in memory, become full in the middle of a combine. */
@Timeout(900)
@Tag("process")
@Tag("long")
class FullDiskSystemTest {
  private static final long SEED = 11;
  private static final int SERVERS = 5;
  private static final int DISKS = 2;
  private static final String ROOMY = "256m";
  // Shorter than the 10 s after which a raid-node gives a combine up.
  private static final long STALL_SECONDS = 6;
  private static final long PATIENCE_MILLIS = 240_000;
  // No claim ends because the machine is busy: the combine is what fails.
  private static final String PATIENT = "lease: 60s\npoll: 50ms\ncombineTimeout: 10s\n";

  @TempDir Path directory;
  private final List<Path> mounts = new ArrayList<>();

  @AfterEach
  void unmount() throws Exception {
    for (Path mount : mounts) {
      run("umount", "-l", mount.toString());
    }
  }

  @Test
  void anEncodingWhoseDisksFillUpIsDoneOnceThereIsSpaceAgain() throws Exception {
    assumeTrue("root".equals(System.getProperty("user.name")), "only root may mount");
    System.out.println("seed " + SEED);
    try (VerifyCluster cluster =
        VerifyCluster.start(
            directory.resolve("cluster"), SERVERS, DISKS, Map.of("raid-node.yaml", PATIENT))) {
      for (int server = 0; server < SERVERS; server++) {
        onSmallDisks(cluster, server);
      }
      CodeFamily family = CodeRegistry.builtIn().family("rs");
      TransitionScenario scenario =
          new TransitionScenario(
              cluster, TransitionKindProto.ENCODE, family, new Random(SEED), "/files");
      scenario.prepare();
      VerifyCluster.await("all replicas", PATIENCE_MILLIS, cluster::blockCountMismatch);

      cluster
          .local()
          .arm(FailPoint.CHUNK_COMBINE_HALF, new Armed(Action.STALL, STALL_SECONDS, "", 0));
      scenario.trigger();
      VerifyCluster.await(
          "the middle of a combine",
          PATIENCE_MILLIS,
          () -> cluster.local().hasFired(FailPoint.CHUNK_COMBINE_HALF) ? null : "not yet");
      for (Path mount : mounts) {
        remount(mount, String.valueOf(used(mount)));
      }
      VerifyCluster.await(
          "the state NO_SPACE",
          PATIENCE_MILLIS,
          () -> first(cluster).getState() == TransitionStateProto.NO_SPACE ? null : "not yet");
      assertThat(failure(cluster)).contains("delete data, or add disks");
      // The row keeps its latest failure alone: a later attempt is not even planned.
      assertThat(cluster.local().log(ProcessNames.NAMENODE).file())
          .content()
          .containsPattern(
              "transition \\d+ \\(ENCODE\\) failed in attempt 1 of \\d+ and is planned again:"
                  + " .*NO_SPACE: .*No space left on device");
      assertThat(first(cluster).getMissingBytes()).isPositive();
      assertNothingIsWrong(cluster, scenario);

      for (Path mount : mounts) {
        remount(mount, ROOMY);
      }
      VerifyCluster.await(
          "an encoding",
          PATIENCE_MILLIS,
          () -> {
            if (cluster.transitionsAfter(0).stream()
                .anyMatch(row -> row.getState() == TransitionStateProto.DONE)) {
              return cluster.whyNotAtRest();
            }
            if (cluster.transitionsAfter(0).stream().noneMatch(VerifyCluster::isActive)) {
              propose(scenario);
            }
            return "transitions " + cluster.transitionsAfter(0);
          });
      assertThat(cluster.probe().stripes())
          .singleElement()
          .satisfies(s -> assertThat(s.getStripe().getCode()).isEqualTo(family.fast()));
      assertNothingIsWrong(cluster, scenario);
    }
  }

  private static void propose(TransitionScenario scenario) throws IOException {
    try {
      scenario.trigger();
    } catch (Exception e) {
      throw new IOException(e);
    }
  }

  private static void assertNothingIsWrong(VerifyCluster cluster, TransitionScenario scenario)
      throws Exception {
    assertThat(new ClusterAudit(cluster).all(scenario.files()).wrong()).isEmpty();
  }

  private static TransitionRow first(VerifyCluster cluster) throws IOException {
    return cluster.transitionsAfter(0).get(0);
  }

  private static String failure(VerifyCluster cluster) throws IOException {
    return first(cluster).getFailure();
  }

  /** Gives each disk of a server a file system of its own and copies its files there. */
  private void onSmallDisks(VerifyCluster cluster, int server) throws Exception {
    cluster.local().stopServer(server);
    for (int d = 0; d < DISKS; d++) {
      Path disk = cluster.local().diskDirectory(server, d);
      Path before = disk.resolveSibling("before-" + d);
      Files.move(disk, before);
      Files.createDirectories(disk);
      run("mount", "-t", "tmpfs", "-o", "size=" + ROOMY, "ebbfs-test", disk.toString());
      mounts.add(disk);
      run("cp", "-a", before + "/.", disk.toString());
    }
    cluster.local().startServer(server);
  }

  private static long used(Path mount) throws IOException {
    FileStore store = Files.getFileStore(mount);
    return store.getTotalSpace() - store.getUnallocatedSpace();
  }

  private static void remount(Path mount, String size) throws Exception {
    run("mount", "-o", "remount,size=" + size, mount.toString());
  }

  private static void run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes());
    assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(String.join(" ", command) + ": " + said).isZero();
  }
}
