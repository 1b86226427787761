package io.ebbfs.namenode.rpc.server;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Runs calls on a bounded pool, and answers them. Thread-safe. */
final class CallRunner implements AutoCloseable {
  private static final int STOP_SECONDS = 10;

  private final ThreadPoolExecutor pool;
  private final InFlight inFlight;
  private final RetryAnswers retries;

  CallRunner(
      int handlers,
      int queuedCalls,
      ThreadFactory threads,
      InFlight inFlight,
      RetryAnswers retries) {
    this.pool =
        new ThreadPoolExecutor(
            handlers,
            handlers,
            0,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(queuedCalls),
            threads);
    this.inFlight = inFlight;
    this.retries = retries;
  }

  /** Sees to it that the call is answered. Does not wait. */
  void accept(RpcCall call) {
    if (inFlight.isFull()) {
      call.refuse();
    } else if (!call.method().once() || retries.begin(call)) {
      enqueue(call);
    }
  }

  private void enqueue(RpcCall call) {
    inFlight.add(call.frameBytes());
    try {
      pool.execute(() -> run(call));
    } catch (RejectedExecutionException e) {
      inFlight.add(-call.frameBytes());
      call.refuse();
      if (call.method().once()) {
        retries.failed(call).forEach(RpcCall::refuse);
      }
    }
  }

  private void run(RpcCall call) {
    try {
      if (call.isWanted()) {
        succeed(call, call.run());
      } else {
        fail(call, new IllegalStateException("the client has gone"));
      }
    } catch (Exception | StackOverflowError e) {
      fail(call, e);
    } catch (Error e) {
      fail(call, e);
      throw e;
    } finally {
      inFlight.add(-call.frameBytes());
    }
  }

  private void succeed(RpcCall call, byte[] result) {
    call.succeed(result);
    if (call.method().once()) {
      retries.succeeded(call, result);
    }
  }

  private void fail(RpcCall call, Throwable failure) {
    call.fail(failure);
    if (call.method().once()) {
      retries.failed(call).forEach(this::accept);
    }
  }

  /** Interrupts the calls under way, and waits until they have returned. */
  @Override
  public void close() throws InterruptedException {
    pool.shutdownNow();
    pool.awaitTermination(STOP_SECONDS, TimeUnit.SECONDS);
  }
}
