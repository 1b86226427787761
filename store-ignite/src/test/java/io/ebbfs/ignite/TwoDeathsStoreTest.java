package io.ebbfs.ignite;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two of three nodes die one after the other, with commits between. The one that died first comes
 * back with older rows, and none of them may win against a newer one.
 */
@Tag("process")
@Tag("long")
class TwoDeathsStoreTest {
  /** It dies first. */
  private static final int STALE = 2;

  private static final int SECOND = 1;
  private static final int SURVIVOR = 0;

  @TempDir Path directory;

  @Test
  @Timeout(value = 600, unit = TimeUnit.SECONDS)
  void theSurvivorFillsTheOthersAlsoAnEmptyDisk() throws Exception {
    try (StoreNodes nodes = StoreNodes.start(directory, 3);
        IgniteStore store = IgniteStore.open(nodes.client());
        Transfers transfers = Transfers.start(store)) {
      killStaleThenSecond(nodes, transfers);
      nodes.empty(STALE);
      nodes.start(STALE);
      nodes.start(SECOND);
      checkWhole(nodes, transfers);
    }
  }

  /** Rows are refused then until all nodes are started again; no older row wins. */
  @Test
  @Timeout(value = 600, unit = TimeUnit.SECONDS)
  void aThirdDeathBeforeTheOthersAreFilledLosesNothing() throws Exception {
    try (StoreNodes nodes = StoreNodes.start(directory, 3);
        IgniteStore store = IgniteStore.open(nodes.client());
        Transfers transfers = Transfers.start(store)) {
      killStaleThenSecond(nodes, transfers);
      nodes.start(STALE);
      nodes.awaitServing(STALE);
      nodes.kill(SURVIVOR);
      nodes.start(SECOND);
      nodes.awaitServing(SECOND);
      nodes.kill(STALE);
      nodes.kill(SECOND);
      for (int node : List.of(STALE, SECOND, SURVIVOR)) {
        nodes.start(node);
      }
      checkWhole(nodes, transfers);
    }
  }

  private static void killStaleThenSecond(StoreNodes nodes, Transfers transfers) throws Exception {
    transfers.awaitMore(20);
    nodes.kill(STALE);
    transfers.awaitMore(25);
    nodes.kill(SECOND);
    transfers.stop();
  }

  /** Checks all rows, then the copies of the node that was stale: it serves reads alone. */
  private static void checkWhole(StoreNodes nodes, Transfers transfers) throws Exception {
    nodes.awaitAllCopies();
    try (IgniteStore store = IgniteStore.open(nodes.client())) {
      transfers.check(store);
      nodes.kill(SURVIVOR);
      nodes.kill(SECOND);
      transfers.check(store);
    }
  }
}
