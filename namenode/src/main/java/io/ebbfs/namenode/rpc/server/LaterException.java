package io.ebbfs.namenode.rpc.server;

import java.io.IOException;
import java.util.concurrent.CompletionStage;

/**
 * The answer of a call depends on an event that has not happened yet. A handler throws this; the
 * call waits without a thread, and goes on with a thread of the pool.
 *
 * <p>It is unchecked, so that no handler of {@link IOException} swallows it, and has no stack
 * trace, because it is part of normal work.
 */
public final class LaterException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** The rest of the call. */
  @FunctionalInterface
  public interface Rest {
    /** Returns the bytes of the answer. May throw {@link LaterException} again. */
    byte[] run() throws IOException;
  }

  private final transient CompletionStage<?> event;
  private final transient Rest rest;

  /**
   * @param event completes in any case within a bounded time, and on any thread
   */
  public LaterException(CompletionStage<?> event, Rest rest) {
    super("the call waits for an event", null, false, false);
    this.event = event;
    this.rest = rest;
  }

  public CompletionStage<?> event() {
    return event;
  }

  public Rest rest() {
    return rest;
  }
}
