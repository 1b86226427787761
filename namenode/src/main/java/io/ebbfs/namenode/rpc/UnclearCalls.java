package io.ebbfs.namenode.rpc;

import io.ebbfs.namenode.rpc.server.LaterException;
import io.ebbfs.namenode.rpc.server.MethodHandler;
import io.ebbfs.namenode.store.ClientCall;
import io.ebbfs.namenode.store.OutcomeUnknownException;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.ipc.RetriableException;

/**
 * Runs a call again if nobody knows whether its commit took effect, because a node of the store was
 * lost meanwhile. The second run does what a call does that a client repeats after a lost answer: a
 * call that must take effect once finds its row, and any other call has the same effect twice. A
 * call that must take effect once and has no client id, so no row, fails instead. Thread-safe.
 */
public final class UnclearCalls {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long PAUSE_MILLIS = 50;

  /** What must hold when a call runs again. */
  @FunctionalInterface
  public interface Check {
    /**
     * @throws IOException if this namenode may not run the call any more; the answer of the call
     */
    void run() throws IOException;
  }

  private final Check beforeRepetition;

  public UnclearCalls(Check beforeRepetition) {
    this.beforeRepetition = beforeRepetition;
  }

  /** The handler of a method, of its name and the handler that runs it. */
  public MethodHandler around(String method, MethodHandler handler) {
    return (frame, offset, length) -> {
      LaterException.Rest call = () -> handler.answer(frame, offset, length);
      return run(method, call, call, System.nanoTime() + PATIENCE_NANOS);
    };
  }

  private byte[] run(
      String method, LaterException.Rest now, LaterException.Rest again, long endNanos)
      throws IOException {
    try {
      return now.run();
    } catch (LaterException e) {
      throw new LaterException(e.event(), () -> run(method, e.rest(), again, endNanos));
    } catch (OutcomeUnknownException e) {
      if (RpcEndpoint.takesEffectOnce(method) && ClientCall.current() == null) {
        throw e;
      }
      if (System.nanoTime() - endNanos > 0) {
        throw new RetriableException(
            "the metadata store does not tell whether %s took effect (%s); repeat the call in a moment"
                .formatted(method, e.getMessage()));
      }
      throw new LaterException(
          new CompletableFuture<Void>()
              .completeOnTimeout(null, PAUSE_MILLIS, TimeUnit.MILLISECONDS),
          () -> {
            beforeRepetition.run();
            return run(method, again, again, endNanos);
          });
    }
  }
}
