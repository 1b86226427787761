package io.ebbfs.verify.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.testbed.ConditionWaiter;
import io.ebbfs.testbed.client.ToolProcess;
import io.ebbfs.testbed.cluster.LocalCluster;
import io.ebbfs.testbed.process.ProcessNames;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DFSOutputStream;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;

/**
 * Orders of the stock {@code hdfs dfsadmin} to chunk servers, and what they bring about. Each
 * method gives an order and waits for its effect.
 */
final class ServerOrders {
  private static final ConditionWaiter WAITER = ConditionWaiter.within(60_000);
  private static final int BYTES = 100_000;

  private final LocalCluster cluster;
  private final ToolProcess tool;
  private final DistributedFileSystem files;

  ServerOrders(LocalCluster cluster, ToolProcess tool, DistributedFileSystem files) {
    this.cluster = cluster;
    this.tool = tool;
    this.files = files;
  }

  private String order(String... words) throws ExecutionException, InterruptedException {
    List<String> answer = tool.request("dfsadmin", words).get();
    assertThat(answer.get(0)).as("%s: %s", List.of(words), answer).isEqualTo("0");
    return answer.get(1);
  }

  private String firstServer() {
    return cluster.hostOf(0) + ":" + cluster.layout().ports().ipc().get(0);
  }

  /** The log of the server has a line for each disk of each full report. */
  void bringAFullReport() throws Exception {
    long before = reportedDisks();
    order("-triggerBlockReport", firstServer());
    WAITER.until(
        "a full report of the first server",
        () -> reportedDisks() > before ? null : before + " disks were reported before");
  }

  private long reportedDisks() throws IOException {
    try (Stream<String> lines = Files.lines(cluster.log(ProcessNames.server(0)).file())) {
      return lines.filter(line -> line.contains("full block report of disk")).count();
    }
  }

  /** The next heartbeat brings the bandwidth to the servers. */
  void changeTheBandwidth() throws Exception {
    order("-setBalancerBandwidth", "7654321");
    WAITER.until(
        "the bandwidth of the order",
        () -> {
          String told = order("-getBalancerBandwidth", firstServer());
          return told.contains("7654321") ? null : told;
        });
  }

  /** A writer goes on without a server that evicts it, and loses nothing. */
  void endPipelines(long seed) throws Exception {
    byte[] data = new byte[2 * BYTES];
    new Random(seed).nextBytes(data);
    Path path = new Path("/evicted");
    try (FSDataOutputStream out = files.create(path)) {
      out.write(data, 0, BYTES);
      out.hflush();
      DatanodeInfo evicting = pipeline(out).get(0);
      order("-evictWriters", evicting.getIpcAddr(false));
      out.write(data, BYTES, BYTES);
      out.hflush();
      assertThat(pipeline(out)).isNotEmpty().doesNotContain(evicting);
    }
    byte[] read = new byte[data.length];
    try (FSDataInputStream in = files.open(path)) {
      in.readFully(read);
    }
    assertThat(read).isEqualTo(data);
  }

  private static List<DatanodeInfo> pipeline(FSDataOutputStream out) {
    return Arrays.asList(((DFSOutputStream) out.getWrappedStream()).getPipeline());
  }
}
