package io.ebbfs.workloads.metadata;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The load generator in C++. */
final class NativeGenerator {
  private NativeGenerator() {}

  static List<String> command(Build build, NamenodeUnderTest namenode, int connections)
      throws ClusterException {
    Path binary = build.home().resolve("chunk-cluster/target/cmake/metadata_load");
    if (!Files.isExecutable(binary)) {
      throw new ClusterException(
          "the load generator is not built (%s is missing): build it with './ebb build'"
              .formatted(binary));
    }
    return List.of(
        binary.toString(),
        "--host",
        namenode.host(),
        "--port",
        Integer.toString(namenode.port()),
        "--user",
        System.getProperty("user.name"),
        "--connections",
        Integer.toString(connections),
        "--server-pid",
        Long.toString(namenode.pid()),
        "--root",
        "/native-" + connections);
  }
}
