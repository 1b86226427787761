package io.ebbfs.raid.executor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class ParallelCallsTest {
  @Test
  void resultsAreInTheOrderOfTheTasksAndNotTooManyRunAtOnce() throws Exception {
    AtomicInteger running = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    // The first eight end only when all of them have begun.
    Semaphore begun = new Semaphore(0);
    List<Callable<Integer>> tasks = new ArrayList<>();
    for (int i = 0; i < 2 * ParallelCalls.MOST + 1; i++) {
      int task = i;
      tasks.add(
          () -> {
            most.accumulateAndGet(running.incrementAndGet(), Math::max);
            if (task < ParallelCalls.MOST) {
              begun.release();
              begun.acquire(ParallelCalls.MOST);
              begun.release(ParallelCalls.MOST);
            }
            running.decrementAndGet();
            return task;
          });
    }
    try (ParallelCalls threads = ParallelCalls.inThreads("test")) {
      List<Integer> results = threads.all(tasks);
      assertThat(results).isSorted().hasSize(tasks.size());
    }
    assertThat(most).hasValue(ParallelCalls.MOST);
  }

  @Test
  void inTurnEverythingRunsInTheCallersThread() throws Exception {
    Set<Thread> threads = new HashSet<>();
    Callable<Boolean> task = () -> threads.add(Thread.currentThread());
    assertThat(ParallelCalls.inTurn().all(List.of(task, task, task)))
        .containsExactly(true, false, false);
    assertThat(threads).containsExactly(Thread.currentThread());
  }

  @Test
  void whatATaskThrowsIsThrownWithItsCause() {
    Callable<String> fails =
        () -> {
          throw new UnsupportedOperationException("not this one");
        };
    try (ParallelCalls threads = ParallelCalls.inThreads("test")) {
      assertThatThrownBy(() -> threads.all(List.of(() -> "one", fails)))
          .isInstanceOf(IllegalStateException.class)
          .hasRootCauseMessage("not this one");
    }
  }
}
