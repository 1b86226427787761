package io.ebbfs.raid.executor;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Runs several calls in parallel and waits for all answers. Calls to many servers then take as long
 * as the slowest of them. Thread-safe. Each caller uses up to {@value #MOST} threads at a time.
 */
public final class ParallelCalls implements AutoCloseable {
  /** Calls of one caller that run in parallel. */
  static final int MOST = 8;

  private final ExecutorService threads;

  private ParallelCalls(ExecutorService threads) {
    this.threads = threads;
  }

  /** In daemon threads of this name. */
  public static ParallelCalls inThreads(String name) {
    return new ParallelCalls(Executors.newCachedThreadPool(task -> DaemonThreads.of(task, name)));
  }

  /** In the caller's thread, one after the other, so that the order is always the same. */
  public static ParallelCalls inTurn() {
    return new ParallelCalls(null);
  }

  /**
   * Runs all tasks and returns what they return, in their order.
   *
   * @throws InterruptedException if the caller is interrupted; then its tasks are interrupted, too
   * @throws IllegalStateException if a task throws, after all tasks have ended
   */
  <T> List<T> all(List<? extends Callable<T>> tasks) throws InterruptedException {
    List<T> results = new ArrayList<>();
    int step = threads == null ? 1 : MOST;
    for (int from = 0; from < tasks.size(); from += step) {
      List<? extends Callable<T>> some = tasks.subList(from, Math.min(tasks.size(), from + step));
      if (some.size() == 1) {
        results.add(call(some.get(0)));
        continue;
      }
      for (Future<T> done : threads.invokeAll(some)) {
        results.add(call(done::get));
      }
    }
    return results;
  }

  private static <T> T call(Callable<T> task) throws InterruptedException {
    try {
      return task.call();
    } catch (InterruptedException | RuntimeException e) {
      throw e;
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** Interrupts the calls that run. */
  @Override
  public void close() {
    if (threads != null) {
      threads.shutdownNow();
    }
  }
}
