package io.ebbfs.testbed.lab;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.ClusterSpec;
import io.ebbfs.testbed.cluster.LocalCluster;
import io.ebbfs.testbed.network.ShapedNetwork;
import io.ebbfs.testbed.process.ClusterLock;
import io.ebbfs.testbed.process.LiveFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Clusters in networks of their own: see {@link ShapedNetwork}. Needs root. */
public final class Laboratory {
  /** Locked while the networks of this machine are made or looked through. */
  private static final Path LABS = Path.of("/run/ebbfs-lab");

  // Longer than the start of another lab.
  private static final long LOCK_MILLIS = 60_000;

  private Laboratory() {}

  /** Something to do with a cluster that is created and not started yet. */
  public interface Preparation {
    void prepare(LocalCluster cluster) throws ClusterException, InterruptedException;
  }

  /**
   * Makes a network and starts a new cluster in it; leaves nothing behind if that fails.
   *
   * @param rate of each server's and each client's link and direction: {@code 100mbit}
   */
  public static LocalCluster start(Build build, ClusterSpec spec, String rate)
      throws ClusterException, InterruptedException {
    return start(build, spec, rate, cluster -> {});
  }

  /** The same, with something to do before the processes start. */
  public static LocalCluster start(
      Build build, ClusterSpec spec, String rate, Preparation preparation)
      throws ClusterException, InterruptedException {
    try (ClusterLock lock = lockAll()) {
      downAbandoned();
      ShapedNetwork lab = ShapedNetwork.choose(rate);
      LocalCluster cluster = LocalCluster.create(build, spec.in(lab));
      try {
        preparation.prepare(cluster);
        cluster.start();
        return cluster;
      } catch (ClusterException | InterruptedException e) {
        lab.down();
        throw e;
      }
    }
  }

  /** The cluster of a laboratory, running or not. */
  public static LocalCluster open(Build build, Path directory) throws ClusterException {
    LocalCluster cluster = LocalCluster.open(build, directory);
    if (cluster.layout().lab() == null) {
      throw new ClusterException(
          directory + " holds a cluster on loopback, no lab: use 'ebb status' and 'ebb down'");
    }
    return cluster;
  }

  /** The numbers of processes that were stopped and of abandoned networks that were removed. */
  public record Removed(int processes, int abandoned) {}

  /** Stops the cluster in a directory, removes both and its network, and all abandoned networks. */
  public static Removed remove(Build build, Path directory)
      throws ClusterException, InterruptedException {
    ShapedNetwork.checkRoot();
    int processes = 0;
    if (LocalCluster.exists(directory)) {
      LocalCluster cluster = open(build, directory);
      processes = cluster.running().size();
      end(cluster);
    }
    int abandoned = removeAbandoned();
    LiveFiles.deleteTree(directory);
    return new Removed(processes, abandoned);
  }

  /** Stops a cluster, wherever it runs, and removes its network if it has one. Its files stay. */
  private static void end(LocalCluster cluster) throws ClusterException, InterruptedException {
    cluster.stop();
    if (cluster.layout().lab() != null) {
      cluster.layout().lab().down();
    }
  }

  /** Kills a cluster, wherever it runs, and removes its network and its files. */
  public static void discard(LocalCluster cluster) throws ClusterException, InterruptedException {
    cluster.killAll();
    if (cluster.layout().lab() != null) {
      cluster.layout().lab().down();
    }
    LiveFiles.deleteTree(cluster.directory());
  }

  private static int removeAbandoned() throws ClusterException, InterruptedException {
    try (ClusterLock lock = lockAll()) {
      return downAbandoned();
    }
  }

  /**
   * Removes the networks of labs whose directory is gone or whose start was killed. The caller
   * holds the lock, so that no lab is just being started.
   */
  private static int downAbandoned() throws ClusterException, InterruptedException {
    int left = 0;
    for (ShapedNetwork lab : ShapedNetwork.all()) {
      if (lab.isAbandoned(LocalCluster::exists)) {
        lab.down();
        left++;
      }
    }
    return left;
  }

  private static ClusterLock lockAll() throws ClusterException, InterruptedException {
    try {
      Files.createDirectories(LABS);
    } catch (IOException e) {
      throw new ClusterException("%s cannot be made: %s".formatted(LABS, e), e);
    }
    return ClusterLock.await(LABS, LOCK_MILLIS);
  }
}
