package io.ebbfs.workloads.data;

import io.ebbfs.testbed.ClusterException;
import java.io.IOException;
import java.util.List;

/**
 * Lets the clients of a side do the same work, one after the other: on EbbFS the stock client and
 * then the native one. On HDFS the stock client works once, and its run counts in both rows; in a
 * warm-up it works twice, so that both systems do as much before they are measured.
 */
final class ClientTurns {
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
        turn.take(side.client(), (works, bytes, work) -> both(works, bytes, work, recorder));
      }
      return;
    }
    turn.take(
        side.client(),
        (works, bytes, work) -> {
          Run run = recorder.measure(bytes, work);
          works.forEach(one -> recorder.add(one.stock(), run));
        });
    turn.take(
        side.nativeClient(),
        (works, bytes, work) -> {
          Run run = recorder.measure(bytes, work);
          works.forEach(one -> recorder.add(one.byNative(), run));
        });
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
