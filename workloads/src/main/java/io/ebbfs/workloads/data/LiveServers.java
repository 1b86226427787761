package io.ebbfs.workloads.data;

import io.ebbfs.testbed.ConditionWaiter;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.DatanodeReportType;

/** Waits for the servers of blocks. */
final class LiveServers {
  private static final long WAIT_MILLIS = 180_000;

  private LiveServers() {}

  /** Waits until each system has so many live servers. */
  static void await(List<Side> sides, int servers) throws IOException, InterruptedException {
    for (Side side : sides) {
      URI uri = URI.create(side.system().client().uri());
      try (DistributedFileSystem files =
          (DistributedFileSystem) DistributedFileSystem.newInstance(uri, new Configuration())) {
        ConditionWaiter.within(WAIT_MILLIS)
            .until(
                "the servers of " + side.name(),
                () -> {
                  int live = files.getDataNodeStats(DatanodeReportType.LIVE).length;
                  return live == servers ? null : "%d of %d are live".formatted(live, servers);
                });
      }
    }
  }
}
