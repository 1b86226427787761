package io.ebbfs.workloads.data;

import io.ebbfs.testbed.ClusterException;
import java.io.IOException;
import java.util.List;

/**
 * Lets the clients of a side do the same work, one after the other: on EbbFS the stock client and
 * the native one, in the opposite order in every other round. On HDFS the stock client works once,
 * and its run counts in both rows; in a warm-up it works twice, so that both systems do as much
 * before they are measured. A turn ends when the servers have deleted the blocks of its files.
 */
final class ClientTurns {
  private static final long DELETED_MILLIS = 30_000;
  private static final long POLL_MILLIS = 100;

  private ClientTurns() {}

  /** The work of one client. Files that it has made are deleted. */
  interface Turn {
    void take(DataClient client, Measured measured)
        throws IOException, ClusterException, InterruptedException;
  }

  /** Measures a part of a turn, and adds it to the rows of the client. */
  interface Measured {
    void add(List<ClientWork> works, long bytes, Meter.Work work)
        throws IOException, ClusterException, InterruptedException;

    default void add(ClientWork work, long bytes, Meter.Work run)
        throws IOException, ClusterException, InterruptedException {
      add(List.of(work), bytes, run);
    }
  }

  /**
   * @param round from 1 on; earlier ones warm up
   */
  static void take(Side side, int round, RowGroup.Recorder recorder, Turn turn)
      throws IOException, ClusterException, InterruptedException {
    if (side.nativeClient() == null) {
      for (int pass = round > 0 ? 1 : 0; pass < 2; pass++) {
        take(side, side.client(), turn, (works, bytes, work) -> both(works, bytes, work, recorder));
      }
      return;
    }
    boolean stockFirst = Math.floorMod(round, 2) == 1;
    for (boolean stock : new boolean[] {stockFirst, !stockFirst}) {
      take(
          side,
          stock ? side.client() : side.nativeClient(),
          turn,
          (works, bytes, work) -> {
            Run run = recorder.measure(bytes, work);
            works.forEach(one -> recorder.add(stock ? one.stock() : one.byNative(), run));
          });
    }
  }

  private static void take(Side side, DataClient client, Turn turn, Measured measured)
      throws IOException, ClusterException, InterruptedException {
    long before = side.blockBytes();
    turn.take(client, measured);
    long deadline = System.nanoTime() + DELETED_MILLIS * 1_000_000;
    while (side.blockBytes() > before && System.nanoTime() < deadline) {
      Thread.sleep(POLL_MILLIS);
    }
  }

  private static void both(
      List<ClientWork> works, long bytes, Meter.Work work, RowGroup.Recorder recorder)
      throws IOException, ClusterException, InterruptedException {
    Run run = recorder.measure(bytes, work);
    for (ClientWork one : works) {
      recorder.add(one.stock(), run);
      recorder.add(one.byNative(), run);
    }
  }
}
