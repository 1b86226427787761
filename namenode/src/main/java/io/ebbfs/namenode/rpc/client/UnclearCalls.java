package io.ebbfs.namenode.rpc.client;

import io.ebbfs.namenode.rpc.server.LaterException;
import io.ebbfs.namenode.rpc.server.MethodHandler;
import io.ebbfs.namenode.store.OutcomeUnknownException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.ipc.RetriableException;

/**
 * Runs a call again if nobody knows whether its commit took effect, because a node of the store was
 * lost meanwhile. The second run does what a call does that a client repeats after a lost answer: a
 * call that must take effect once finds its row, and any other call has the same effect twice.
 * Thread-safe.
 */
public final class UnclearCalls {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long PAUSE_MILLIS = 50;

  private UnclearCalls() {}

  /** The handler of a method, of its name and the handler that runs it. */
  public static MethodHandler around(String method, MethodHandler handler) {
    return (frame, offset, length) -> {
      LaterException.Rest call = () -> handler.answer(frame, offset, length);
      return run(method, call, call, System.nanoTime() + PATIENCE_NANOS);
    };
  }

  private static byte[] run(
      String method, LaterException.Rest first, LaterException.Rest again, long endNanos)
      throws IOException {
    LaterException.Rest next = first;
    while (true) {
      try {
        return next.run();
      } catch (LaterException e) {
        throw new LaterException(e.event(), () -> run(method, e.rest(), again, endNanos));
      } catch (OutcomeUnknownException e) {
        if (System.nanoTime() - endNanos > 0) {
          throw new RetriableException(
              "the metadata store does not tell whether %s took effect (%s); repeat the call in a moment"
                  .formatted(method, e.getMessage()));
        }
        pause();
        next = again;
      }
    }
  }

  private static void pause() throws InterruptedIOException {
    try {
      Thread.sleep(PAUSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("this namenode stops");
    }
  }
}
