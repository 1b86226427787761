package io.ebbfs.workloads.data;

import io.ebbfs.testbed.ConditionWaiter;
import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.DatanodeReportType;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;

/** Watches a system by the calls of HDFS clients while what it has lost is repaired. */
final class RepairWatch implements AutoCloseable {
  private static final long WAIT_MILLIS = 300_000;
  private static final long POLL_MILLIS = 50;

  private final DistributedFileSystem files;

  RepairWatch(ComparedSystem system) throws IOException {
    files =
        (DistributedFileSystem)
            DistributedFileSystem.newInstance(
                URI.create(system.client().uri()), new Configuration());
  }

  int liveServers() throws IOException {
    return files.getDataNodeStats(DatanodeReportType.LIVE).length;
  }

  /** Waits until so many servers are live. */
  void awaitLive(int servers) throws IOException, InterruptedException {
    waiter()
        .until(
            "live servers",
            () -> {
              int live = liveServers();
              return live == servers ? null : live + " servers are live, not " + servers;
            });
  }

  /** Waits until a block has fewer places than it should have. */
  void awaitLoss(String directory, int places) throws IOException, InterruptedException {
    waiter().until("a loss", () -> fewest(directory) < places ? null : "all blocks have places");
  }

  /** Waits until every block has so many places. */
  void awaitPlaces(String directory, int places) throws IOException, InterruptedException {
    waiter()
        .until(
            "the end of all repairs",
            () -> {
              int fewest = fewest(directory);
              return fewest >= places ? null : "a block has %d places".formatted(fewest);
            });
  }

  private static ConditionWaiter waiter() {
    return ConditionWaiter.within(WAIT_MILLIS).every(POLL_MILLIS);
  }

  private int fewest(String directory) throws IOException {
    int fewest = Integer.MAX_VALUE;
    for (FileStatus file : files.listStatus(new Path(directory))) {
      for (LocatedBlock block :
          files
              .getClient()
              .getLocatedBlocks(file.getPath().toUri().getPath(), 0, file.getLen())
              .getLocatedBlocks()) {
        fewest = Math.min(fewest, block.getLocations().length);
      }
    }
    return fewest;
  }

  @Override
  public void close() throws IOException {
    files.close();
  }
}
