package io.ebbfs.testbed.cluster;

import io.ebbfs.common.failpoint.FailPoint;
import io.ebbfs.common.failpoint.FailPoints;
import io.ebbfs.testbed.ClusterException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The fail points of a cluster: a directory with one file for each armed point. See docs/faults.md.
 *
 * @param directory of the points; processes have fail points if it exists when they start
 */
record ClusterFailPoints(Path directory) {
  void enable() throws ClusterException {
    try {
      Files.createDirectories(directory);
    } catch (IOException e) {
      throw new ClusterException("%s: %s".formatted(directory, e), e);
    }
  }

  void arm(FailPoint point, FailPoints.Armed armed) throws ClusterException {
    if (!Files.isDirectory(directory)) {
      throw new ClusterException(
          "the processes of %s have no fail points: stop it, and start it with 'up --fail-points'"
              .formatted(directory.getParent()));
    }
    try {
      FailPoints.arm(directory, point, armed);
    } catch (IOException e) {
      throw new ClusterException("%s: %s".formatted(directory, e), e);
    }
  }

  void disarm(FailPoint point) throws ClusterException {
    try {
      Files.deleteIfExists(directory.resolve(point.pointName()));
    } catch (IOException e) {
      throw new ClusterException("%s: %s".formatted(directory, e), e);
    }
  }

  boolean hasFired(FailPoint point) {
    return !Files.exists(directory.resolve(point.pointName()))
        && Files.exists(directory.resolve(point.pointName() + FailPoints.FIRED));
  }
}
