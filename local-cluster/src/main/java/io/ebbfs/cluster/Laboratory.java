package io.ebbfs.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Clusters in networks of their own: see {@link Lab}. Needs root. */
public final class Laboratory {
  /** Locked while the networks of this machine are made or looked through. */
  private static final Path LABS = Path.of("/run/ebbfs-lab");

  // Longer than the start of another lab.
  private static final long LOCK_MILLIS = 60_000;

  private Laboratory() {}

  /** Whether this process may make networks. */
  public static boolean isPossible() {
    return "root".equals(System.getProperty("user.name"));
  }

  /**
   * Makes a network and starts a new cluster in it; leaves nothing behind if that fails.
   *
   * @param rate of each server's and each client's link and direction: {@code 100mbit}
   */
  public static LocalCluster start(Build build, ClusterSpec spec, String rate)
      throws ClusterException, InterruptedException {
    try (ClusterLock lock = lockAll()) {
      downAbandoned();
      Lab lab = Lab.choose(rate);
      LocalCluster cluster = LocalCluster.create(build, spec.in(lab));
      try {
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

  /** What {@link #remove} found: processes, and networks that killed labs had left. */
  record Removed(int processes, int abandoned) {}

  /** Stops what a directory holds, removes it and its network, and what killed labs have left. */
  static Removed remove(Build build, Path directory) throws ClusterException, InterruptedException {
    Lab.checkRoot();
    int processes = 0;
    if (LocalCluster.exists(directory)) {
      LocalCluster cluster = open(build, directory);
      processes = cluster.running().size();
      end(cluster);
    }
    int abandoned = removeAbandoned();
    ClusterFiles.delete(directory);
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
    ClusterFiles.delete(cluster.directory());
  }

  private static int removeAbandoned() throws ClusterException, InterruptedException {
    try (ClusterLock lock = lockAll()) {
      return downAbandoned();
    }
  }

  /**
   * Removes what labs leave whose directory is gone or whose start was killed half way. The caller
   * holds the lock, so that none is being started.
   */
  private static int downAbandoned() throws ClusterException, InterruptedException {
    int left = 0;
    for (Lab lab : Lab.all()) {
      if (lab.isAbandoned()) {
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
