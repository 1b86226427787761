package io.ebbfs.workloads.metadata;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ClusterException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The namenodes that are compared, all of them running. */
record ComparedNamenodes(List<NamenodeUnderTest> namenodes) implements AutoCloseable {
  static final String EBBFS = "ebbfs";
  static final String HDFS = "hdfs";

  static ComparedNamenodes start(Build build, MetadataOptions options, Path directory)
      throws ClusterException, IOException, InterruptedException {
    ComparedNamenodes systems = new ComparedNamenodes(new ArrayList<>());
    try {
      int heap = options.heapMebibytes();
      systems.namenodes.add(EbbfsUnderTest.start(build, directory.resolve(EBBFS), heap));
      if (!options.ebbfsOnly()) {
        systems.namenodes.add(HdfsUnderTest.start(build, directory.resolve(HDFS), heap));
      }
      return systems;
    } catch (ClusterException | IOException | InterruptedException | RuntimeException e) {
      systems.close();
      throw e;
    }
  }

  @Override
  public void close() throws ClusterException, IOException, InterruptedException {
    for (NamenodeUnderTest namenode : namenodes) {
      namenode.close();
    }
  }
}
