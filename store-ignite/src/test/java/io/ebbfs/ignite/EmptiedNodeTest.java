package io.ebbfs.ignite;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The disks of two nodes are lost: they start again with empty ones, and get all rows back. */
@Tag("process")
@Tag("long")
class EmptiedNodeTest {
  @TempDir Path directory;

  /** Rows are on one disk alone. Its node does not join empty ones: it has to start first. */
  @Test
  @Timeout(value = 600, unit = TimeUnit.SECONDS)
  void twoEmptyDisksDoNotWinAgainstTheThird() throws Exception {
    try (StoreNodes nodes = StoreNodes.start(directory, 3);
        IgniteStore store = IgniteStore.open(nodes.client());
        Transfers transfers = Transfers.start(store)) {
      transfers.awaitMore(50);
      transfers.stop();
      for (int node : List.of(0, 1, 2)) {
        nodes.kill(node);
      }
      nodes.empty(0);
      nodes.empty(1);
      nodes.start(0);
      nodes.awaitCopies(0, 0);
      nodes.start(2);
      assertThat(nodes.awaitEnd(2)).contains("stop them, start this node first, and then them");
      nodes.stop(0);
      nodes.start(2);
      nodes.awaitCopies(2, 0);
      nodes.start(0);
      nodes.start(1);
      nodes.awaitAllCopies();
      try (IgniteStore again = IgniteStore.open(nodes.client())) {
        transfers.check(again);
        nodes.kill(2);
        nodes.kill(1);
        transfers.check(again);
      }
    }
  }
}
