package io.ebbfs.raid;

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

final class AtOnceTest {
  @Test
  void resultsAreInTheOrderOfTheTasksAndNotTooManyRunAtOnce() throws Exception {
    AtomicInteger running = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    // The first eight end only when all of them have begun.
    Semaphore begun = new Semaphore(0);
    List<Callable<Integer>> tasks = new ArrayList<>();
    for (int i = 0; i < 2 * AtOnce.MOST + 1; i++) {
      int task = i;
      tasks.add(
          () -> {
            most.accumulateAndGet(running.incrementAndGet(), Math::max);
            if (task < AtOnce.MOST) {
              begun.release();
              begun.acquire(AtOnce.MOST);
              begun.release(AtOnce.MOST);
            }
            running.decrementAndGet();
            return task;
          });
    }
    try (AtOnce threads = AtOnce.inThreads("test")) {
      List<Integer> results = threads.all(tasks);
      assertThat(results).isSorted().hasSize(tasks.size());
    }
    assertThat(most).hasValue(AtOnce.MOST);
  }

  @Test
  void inTurnEverythingRunsInTheCallersThread() throws Exception {
    Set<Thread> threads = new HashSet<>();
    Callable<Boolean> task = () -> threads.add(Thread.currentThread());
    assertThat(AtOnce.inTurn().all(List.of(task, task, task))).containsExactly(true, false, false);
    assertThat(threads).containsExactly(Thread.currentThread());
  }

  @Test
  void whatATaskThrowsIsThrownWithItsCause() {
    Callable<String> fails =
        () -> {
          throw new UnsupportedOperationException("not this one");
        };
    try (AtOnce threads = AtOnce.inThreads("test")) {
      assertThatThrownBy(() -> threads.all(List.of(() -> "one", fails)))
          .isInstanceOf(IllegalStateException.class)
          .hasRootCauseMessage("not this one");
    }
  }
}
