package io.ebbfs.namenode.rpc;

import io.ebbfs.namenode.rpc.server.LaterException;
import io.ebbfs.namenode.rpc.server.MethodHandler;
import io.ebbfs.namenode.store.ClientCall;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.OutcomeUnknownException;
import io.ebbfs.namenode.store.WouldBlockException;
import java.io.IOException;
import java.time.Clock;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.ipc.RetriableException;

/**
 * Runs a call again if nobody knows whether its commit took effect, because a node of the store was
 * lost meanwhile. The second run does what a call does that a client repeats after a lost answer: a
 * call that must take effect once finds its row, and any other call has the same effect twice. A
 * call that must take effect once and has no client id, so no row, fails instead.
 *
 * <p>The client of a call that was run before, here or elsewhere, may hear that the call had no
 * effect. Then no earlier run takes effect any more ({@link ClientCall#end}). Thread-safe.
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
  private final MetadataStore store;
  private final Clock clock;

  public UnclearCalls(Check beforeRepetition, MetadataStore store, Clock clock) {
    this.beforeRepetition = beforeRepetition;
    this.store = store;
    this.clock = clock;
  }

  /** The handler of a method, of its name and the handler that runs it. */
  public MethodHandler around(String method, MethodHandler handler) {
    return (frame, offset, length) -> {
      LaterException.Rest call = () -> handler.answer(frame, offset, length);
      ClientCall once = ClientCall.current();
      boolean first = once == null || !once.isRepeated();
      LaterException.Rest again = once == null ? call : () -> ending(once, call);
      return run(method, first ? call : again, again, System.nanoTime() + PATIENCE_NANOS);
    };
  }

  /**
   * The run of a call that was run before. A run that goes on after an event may have another
   * object for the same call.
   */
  private byte[] ending(ClientCall first, LaterException.Rest call) throws IOException {
    ClientCall once = Objects.requireNonNullElse(ClientCall.current(), first);
    once.expectEarlierRun();
    byte[] answer;
    try {
      answer = call.run();
    } catch (LaterException e) {
      throw new LaterException(e.event(), () -> ending(once, e.rest()));
    } catch (OutcomeUnknownException | WouldBlockException e) {
      throw e;
    } catch (IOException | RuntimeException e) {
      once.end(store, clock.millis());
      throw e;
    }
    if (!once.isEffective()) {
      once.end(store, clock.millis());
    }
    return answer;
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
