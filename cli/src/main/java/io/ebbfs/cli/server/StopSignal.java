package io.ebbfs.cli.server;

import java.util.concurrent.CountDownLatch;
import sun.misc.Signal;

/**
 * The end of a server process: SIGTERM or SIGINT lets {@link #await} return, so that the process
 * stops its parts in order and ends with exit code 0.
 */
final class StopSignal {
  private final CountDownLatch stop = new CountDownLatch(1);

  /** Takes the signals over. */
  static StopSignal install() {
    StopSignal signal = new StopSignal();
    for (String name : new String[] {"TERM", "INT"}) {
      Signal.handle(new Signal(name), ignored -> signal.stop.countDown());
    }
    return signal;
  }

  /** Returns once the process shall stop. */
  void await() throws InterruptedException {
    stop.await();
  }
}
