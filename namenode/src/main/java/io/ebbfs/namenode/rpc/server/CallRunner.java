package io.ebbfs.namenode.rpc.server;

import io.ebbfs.namenode.store.NonBlocking;
import io.ebbfs.namenode.store.PendingSync;
import io.ebbfs.namenode.store.WouldBlockException;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Runs calls, and answers them once their changes are on the disk. A quick method runs on the event
 * loop that read the call, as long as it need not wait; all else runs on a bounded pool. No thread
 * waits for the disk, nor for the event of a {@link LaterException}. Thread-safe.
 */
final class CallRunner implements AutoCloseable {
  /** Calls under way have this long before they are interrupted, and again this long after. */
  private static final int STOP_SECONDS = 5;

  private final ThreadPoolExecutor pool;
  private final InFlight inFlight;
  private final RetryAnswers retries;
  private volatile boolean interrupts;

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
      if (call.method().quick()) {
        runQuickly(call);
      } else {
        enqueue(call);
      }
    }
  }

  /** Runs work that is part of no call on the pool. Does not wait. */
  void execute(Runnable work) throws FatalCallException {
    try {
      pool.execute(work);
    } catch (RejectedExecutionException e) {
      throw FatalCallException.overloaded(
          "the server has too many calls waiting; connect again in a moment");
    }
  }

  private void runQuickly(RpcCall call) {
    PendingSync commits = PendingSync.begin();
    byte[] result = null;
    Throwable failure = null;
    try {
      result = NonBlocking.run(call::run);
    } catch (WouldBlockException e) {
      commits.end();
      enqueue(call, () -> resume(call, commits, call::run));
      return;
    } catch (LaterException e) {
      commits.end();
      await(call, commits, e);
      return;
    } catch (Throwable e) {
      failure = e;
    } finally {
      commits.end();
    }
    finish(call, commits, call.turnEnd(), result, failure);
  }

  private void enqueue(RpcCall call) {
    enqueue(call, () -> runPooled(call, PendingSync.begin(), call::run));
  }

  private void await(RpcCall call, PendingSync commits, LaterException later) {
    later
        .event()
        .whenComplete(
            (event, failure) ->
                enqueue(call, () -> resume(call, commits, () -> call.run(later.rest()))));
  }

  /** What the call has committed so far belongs to its answer. */
  private void resume(RpcCall call, PendingSync commits, LaterException.Rest rest) {
    commits.resume();
    runPooled(call, commits, rest);
  }

  private void enqueue(RpcCall call, Runnable work) {
    try {
      pool.execute(work);
    } catch (RejectedExecutionException | Error e) { // an Error: no thread can be started
      call.refuse();
      if (call.method().once()) {
        retries.failed(call).forEach(RpcCall::refuse);
      }
    }
  }

  private void runPooled(RpcCall call, PendingSync commits, LaterException.Rest work) {
    byte[] result = null;
    Throwable failure = null;
    try {
      result = work.run();
    } catch (LaterException e) {
      commits.end();
      await(call, commits, e);
      return;
    } catch (Throwable e) {
      failure = e;
    } finally {
      commits.end();
    }
    finish(call, commits, Runnable::run, result, failure);
  }

  private void finish(
      RpcCall call, PendingSync commits, Executor turnEnd, byte[] result, Throwable failure) {
    commits.whenSynced(
        turnEnd,
        unsynced -> {
          if (interrupts) {
            // The server stops and has interrupted the call, whose effect nobody knows. Its client
            // loses the connection and repeats the call.
            return;
          }
          if (unsynced != null) {
            fail(call, unsynced);
          } else if (failure != null) {
            fail(call, failure);
          } else {
            succeed(call, result);
          }
        });
  }

  private void succeed(RpcCall call, byte[] result) {
    try {
      call.succeed(result);
    } finally {
      if (call.method().once()) {
        retries.succeeded(call, result);
      }
    }
  }

  /** A call that failed has had no effect, so its repetitions may run. */
  private void fail(RpcCall call, Throwable failure) {
    try {
      call.fail(failure);
    } finally {
      if (call.method().once()) {
        retries.failed(call).forEach(this::repeat);
      }
    }
  }

  private void repeat(RpcCall repetition) {
    if (retries.begin(repetition)) {
      enqueue(repetition);
    }
  }

  /** Waits for the calls under way, and interrupts those that take long. */
  @Override
  public void close() throws InterruptedException {
    pool.shutdown();
    if (!pool.awaitTermination(STOP_SECONDS, TimeUnit.SECONDS)) {
      interrupts = true;
      pool.shutdownNow();
      pool.awaitTermination(STOP_SECONDS, TimeUnit.SECONDS);
    }
  }
}
