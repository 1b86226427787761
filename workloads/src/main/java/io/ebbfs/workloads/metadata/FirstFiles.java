package io.ebbfs.workloads.metadata;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import io.ebbfs.workloads.results.MetadataResults;
import java.io.IOException;
import java.nio.file.Path;

/** Makes the first file of a tree by calls of a client, on each system. */
final class FirstFiles {
  private FirstFiles() {}

  /**
   * Afterwards, HDFS has an image with the file.
   *
   * @param content {@code data} for one small block, or {@code empty}
   */
  static void make(
      Build build, ComparedNamenodes compared, Path directory, CopiedTree tree, String content)
      throws ClusterException, IOException {
    try (Generators generators =
        Generators.start(build, compared, MetadataResults.NATIVE, 1, directory)) {
      generators.request("fill %s %s 0".formatted(tree.firstFileWords(), content));
      if (generators.of(ComparedNamenodes.HDFS) != null) {
        generators.of(ComparedNamenodes.HDFS).request("checkpoint");
      }
    }
  }
}
