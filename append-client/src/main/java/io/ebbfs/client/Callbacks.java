package io.ebbfs.client;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Completes the futures of a writer, in order, on a thread of its own: what a caller does when a
 * record is stored may wait, and the answers go on. The thread ends when it has nothing to do.
 * Thread-safe.
 */
final class Callbacks implements Executor {
  private static final long IDLE_SECONDS = 1;

  private final ThreadPoolExecutor executor;
  private volatile Thread thread;

  Callbacks(String name) {
    executor =
        new ThreadPoolExecutor(
            1,
            1,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            body -> {
              Thread started = new Thread(body, name);
              started.setDaemon(true);
              thread = started;
              return started;
            });
    executor.allowCoreThreadTimeOut(true);
  }

  @Override
  public void execute(Runnable completion) {
    executor.execute(completion);
  }

  /** Waits until all that was given before is done, except on the thread that does it. */
  void await() throws InterruptedException {
    if (Thread.currentThread() == thread) {
      return;
    }
    FutureTask<Void> last = new FutureTask<>(() -> null);
    executor.execute(last);
    try {
      last.get();
    } catch (ExecutionException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
