package io.ebbfs.raid;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Asks several servers at once and waits for them all: what one transition asks takes as long as
 * the slowest answer, not as long as all of them. Thread-safe; each caller has up to {@value #MOST}
 * threads at a time.
 */
public final class AtOnce implements AutoCloseable {
  /** How many tasks of one caller run at once. */
  static final int MOST = 8;

  private final ExecutorService threads;

  private AtOnce(ExecutorService threads) {
    this.threads = threads;
  }

  /** In daemon threads of this name. */
  public static AtOnce inThreads(String name) {
    return new AtOnce(Executors.newCachedThreadPool(task -> RaidNode.daemon(task, name)));
  }

  /**
   * In the caller's thread, one after the other: for what has to happen in the same order always.
   */
  public static AtOnce inTurn() {
    return new AtOnce(null);
  }

  /**
   * Runs all tasks and returns what they return, in their order.
   *
   * @throws InterruptedException if the caller is interrupted; its tasks are interrupted then
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

  /** Interrupts what runs. */
  @Override
  public void close() {
    if (threads != null) {
      threads.shutdownNow();
    }
  }
}
