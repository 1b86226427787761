package io.ebbfs.namenode.rpc.client;

import java.io.IOException;
import java.util.concurrent.Semaphore;
import org.apache.hadoop.ipc.RetriableException;

/**
 * Limits how many handlers work on calls that read many rows, because heartbeats need handlers of
 * the same pool: the calls of balancers and of operators. Thread-safe.
 */
public final class LongCalls {
  private final int most;
  private final Semaphore free;

  /**
   * @param most how many of these calls run at the same time
   */
  public LongCalls(int most) {
    this.most = most;
    this.free = new Semaphore(most);
  }

  /** What a call does. */
  @FunctionalInterface
  interface Work<R> {
    R run() throws IOException;
  }

  /**
   * Runs a call.
   *
   * @throws RetriableException if too many others run; nothing is done then
   */
  <R> R run(String call, Work<R> work) throws IOException {
    if (!free.tryAcquire()) {
      throw new RetriableException(
          "%s has to wait: this namenode works on %d long calls already; repeat the call later"
              .formatted(call, most));
    }
    try {
      return work.run();
    } finally {
      free.release();
    }
  }
}
