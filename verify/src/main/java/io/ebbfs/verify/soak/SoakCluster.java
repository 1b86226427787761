package io.ebbfs.verify.soak;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.ClusterSpec;
import io.ebbfs.testbed.cluster.LocalCluster;
import io.ebbfs.testbed.lab.Laboratory;
import io.ebbfs.testbed.network.ShapedNetwork;
import io.ebbfs.testbed.process.ShiftedClocks;
import io.ebbfs.verify.cluster.ImageDisks;
import io.ebbfs.verify.cluster.VerifyCluster;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The cluster of a soak: with small blocks and fast clocks, and with a policy that encodes and
 * converts all the time. For root, each disk has a file system and each server a link of its own.
 */
final class SoakCluster implements AutoCloseable {
  private static final int SERVERS = 6;
  private static final int DISKS = 3;
  private static final long DISK_BYTES = 384L << 20;
  private static final String LINK_RATE = "1gbit";

  private static final String POLICIES =
      """
      policies:
        - name: %s
          paths: [%s]
          family: rs
          storageBound: 1.45
          writeColdAfter: 6s
          fillWait: 6s
          readHot: {perFile: 3}
          hysteresis: 2
      """;

  private static final Map<String, String> CONFIGURATION =
      Map.of(
          "policies.yaml",
          POLICIES.formatted("soak", "/soak"),
          "manager.yaml",
          """
          heat: {halfLife: 20s}
          schedule: {evaluateEvery: 2s, sampleEvery: 5s, reloadEvery: 1s}
          limits: {retryFailedAfter: 10s}
          """,
          "namenode.yaml",
          "minBlockSize: 64KiB\ndeadAfter: 6s\nrepairDelay: 2s\nsafeModeGrace: 10s\norphanWait: 5s\n",
          "raid-node.yaml",
          "lease: 5s\npoll: 100ms\ncombineTimeout: 20s\n");

  private final VerifyCluster verified;
  private final ImageDisks disks;
  private final Leaks leaks;

  private SoakCluster(VerifyCluster verified, ImageDisks disks) {
    this.verified = verified;
    this.disks = disks;
    this.leaks = new Leaks(verified.local());
  }

  static SoakCluster start(Path directory)
      throws ClusterException, IOException, InterruptedException {
    ClusterSpec spec =
        ClusterSpec.of(directory)
            .withServers(SERVERS, DISKS)
            .withBlockSize(1 << 20)
            .withHeartbeat(300)
            .withPorts(0, 0)
            .withConfFiles(CONFIGURATION);
    return ShapedNetwork.isPossible() ? withPlace(spec) : onLoopback(spec);
  }

  private static SoakCluster onLoopback(ClusterSpec spec)
      throws ClusterException, IOException, InterruptedException {
    LocalCluster local = LocalCluster.create(Build.find(), spec);
    prepare(local);
    local.start();
    return new SoakCluster(VerifyCluster.of(local, () -> {}), null);
  }

  /** With a network and file systems, which are removed again if the start fails. */
  private static SoakCluster withPlace(ClusterSpec spec)
      throws ClusterException, IOException, InterruptedException {
    AtomicReference<ImageDisks> disks = new AtomicReference<>();
    try {
      LocalCluster local =
          Laboratory.start(
              Build.find(),
              spec,
              LINK_RATE,
              created -> {
                prepare(created);
                disks.set(ImageDisks.mount(created, DISK_BYTES));
              });
      return new SoakCluster(
          VerifyCluster.of(local, () -> removePlace(local, disks.get())), disks.get());
    } catch (ClusterException | IOException | InterruptedException e) {
      if (disks.get() != null) {
        disks.get().close();
      }
      throw e;
    }
  }

  private static void prepare(LocalCluster created) throws ClusterException {
    created.withFailPoints();
    if (ShiftedClocks.isPossible()) {
      try {
        created.clocks().enable();
      } catch (IOException e) {
        throw new ClusterException("the clocks of the processes: " + e, e);
      }
    }
  }

  private static void removePlace(LocalCluster local, ImageDisks disks) {
    try {
      local.layout().lab().down();
      disks.close();
    } catch (ClusterException e) {
      System.err.println("mounts of " + local.directory() + " may be left: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  VerifyCluster verified() {
    return verified;
  }

  LocalCluster local() {
    return verified.local();
  }

  /** Null if the disks have no file systems of their own. */
  ImageDisks disks() {
    return disks;
  }

  Leaks leaks() {
    return leaks;
  }

  /**
   * From now on no policy applies to any file or stripe, so that the transitions come to an end. A
   * stripe belongs to the policy of its name whatever the paths of that policy are, so the policy
   * gets another name.
   */
  void stopAdapting() throws IOException {
    verified.replacePolicies(POLICIES.formatted("none", "/nothing"));
  }

  @Override
  public void close() throws IOException, ClusterException, InterruptedException {
    verified.close();
    if (disks != null) {
      local().layout().lab().down();
      disks.close();
    }
  }
}
