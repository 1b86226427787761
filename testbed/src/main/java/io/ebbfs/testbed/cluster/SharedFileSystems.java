package io.ebbfs.testbed.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Counts the disks of a cluster by the file system that they lie on. All disks of a local cluster
 * usually share one: each then reports an equal share of its capacity, so that the sum is right.
 */
final class SharedFileSystems {
  private SharedFileSystems() {}

  /**
   * The number of a cluster's disks on the file system of a server's disks. If the server's disks
   * lie on several file systems, the most crowded one counts: no space is reported twice.
   *
   * @param disks directories of all disks of the cluster; disks that do not exist yet do not count
   * @param own directories of the server's disks, which must exist
   */
  static int disksPerFileSystem(List<Path> disks, List<Path> own) throws IOException {
    Map<Object, Integer> disksByDevice = new HashMap<>();
    for (Path disk : disks) {
      if (Files.isDirectory(disk)) {
        disksByDevice.merge(device(disk), 1, Integer::sum);
      }
    }
    int most = 1;
    for (Path disk : own) {
      most = Math.max(most, disksByDevice.getOrDefault(device(disk), 1));
    }
    return most;
  }

  /** What stat(2) calls st_dev. */
  private static Object device(Path directory) throws IOException {
    return Files.getAttribute(directory, "unix:dev");
  }
}
