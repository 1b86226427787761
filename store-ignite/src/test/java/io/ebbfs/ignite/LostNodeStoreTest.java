package io.ebbfs.ignite;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Nodes of the store die and come back while two namenodes work. */
@Tag("process")
class LostNodeStoreTest {
  private static final long LONGEST_GAP_MILLIS = 20_000;

  @TempDir static Path directory;

  @Test
  @Timeout(value = 600, unit = TimeUnit.SECONDS)
  void acknowledgedCommitsStayAndNoneIsHalfDone() throws Exception {
    try (StoreNodes nodes =
            StoreNodes.start(Files.createDirectory(directory.resolve("deaths")), 3);
        IgniteStore one = IgniteStore.open(nodes.client());
        IgniteStore other = IgniteStore.open(nodes.client());
        Transfers transfers = Transfers.start(one, other)) {
      transfers.awaitMore(20);
      killAndStartAgain(nodes, transfers, 0); // the oldest node coordinates the others
      killAndStartAgain(nodes, transfers, 2);
      nodes.stop(1);
      transfers.awaitMore(20);
      transfers.stop();
      transfers.check(one);

      nodes.kill(0);
      nodes.kill(2);
      for (int node = 0; node < 3; node++) {
        nodes.start(node);
      }
      try (IgniteStore again = IgniteStore.open(nodes.client())) {
        transfers.check(again);
      }
      assertThat(transfers.longestGapMillis()).isLessThan(LONGEST_GAP_MILLIS);
    }
  }

  @Test
  @Timeout(value = 600, unit = TimeUnit.SECONDS)
  void aMinorityRefusesWrites() throws Exception {
    Path own = Files.createDirectory(directory.resolve("minority"));
    try (StoreNodes nodes = StoreNodes.start(own, 3);
        IgniteStore store = IgniteStore.open(nodes.client());
        Transfers transfers = Transfers.start(store)) {
      transfers.awaitMore(20);
      nodes.kill(2);
      transfers.awaitMore(20);
      nodes.kill(1);
      transfers.awaitRefusal("too few nodes of the metadata store are running");
      transfers.stop();
    }
  }

  private static void killAndStartAgain(StoreNodes nodes, Transfers transfers, int node)
      throws Exception {
    nodes.kill(node);
    transfers.awaitMore(20);
    nodes.start(node);
    nodes.awaitAllCopies();
    transfers.awaitMore(20);
  }
}
