package io.ebbfs.verify.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.testbed.Build;
import io.ebbfs.testbed.ConditionWaiter;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The native client writes on when a server of its pipeline dies, with another one instead. */
@Tag("process")
class NativePipelineSystemTest {
  private static final String NAME = "/appended";
  private static final int BEFORE = 1000;
  private static final int HALF = 2 << 20;

  @Test
  void anAppendGetsAnotherServerForOneThatDied() throws Exception {
    try (TestCluster test = TestCluster.start(4, 1);
        DistributedFileSystem stock = new DistributedFileSystem()) {
      stock.initialize(URI.create(test.cluster().stockClient().uri()), new Configuration());
      NativeShell shell = new NativeShell(Build.find(), test.cluster().stockClient().conf());
      byte[] bytes = new byte[3 << 20];
      new Random(7).nextBytes(bytes);
      Path begin = Files.write(test.directory().resolve("begin"), Arrays.copyOf(bytes, BEFORE));
      shell.ok("-D", "dfs.blocksize=8388608", "-put", begin.toString(), NAME);

      Process writer = shell.startWithInput("-appendToFile", "-", NAME);
      try (OutputStream in = writer.getOutputStream()) {
        in.write(bytes, BEFORE, HALF);
        in.flush();
        ConditionWaiter.within(60_000)
            .until("the block is open", () -> isOpen(stock) ? null : "it is closed");
        DatanodeInfo dead = servers(stock).get(1);
        test.cluster().killServer(test.cluster().layout().ports().ipc().indexOf(dead.getIpcPort()));
        // The writer mends its pipeline when it has something to write.
        ConditionWaiter.within(60_000)
            .until(
                "the server is known as dead",
                () -> servers(stock).contains(dead) ? "it is not" : null);
        in.write(bytes, BEFORE + HALF, bytes.length - BEFORE - HALF);
        in.flush();
        ConditionWaiter.within(60_000)
            .until(
                "the block has three servers",
                () -> servers(stock).size() == 3 ? null : servers(stock).toString());
      }
      String printed = new String(writer.getInputStream().readAllBytes());
      assertThat(writer.waitFor()).as(printed).isZero();
      byte[] read = new byte[bytes.length];
      try (FSDataInputStream in = stock.open(new org.apache.hadoop.fs.Path(NAME))) {
        in.readFully(read);
        assertThat(in.read()).isEqualTo(-1);
      }
      assertThat(read).isEqualTo(bytes);
    }
  }

  private static boolean isOpen(DistributedFileSystem stock) throws IOException {
    return stock.getClient().getLocatedBlocks(NAME, 0).isUnderConstruction();
  }

  private static List<DatanodeInfo> servers(DistributedFileSystem stock) throws IOException {
    return List.of(
        stock.getClient().getLocatedBlocks(NAME, 0).getLastLocatedBlock().getLocations());
  }
}
