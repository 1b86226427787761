package io.ebbfs.namespace.simulation;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;

/**
 * Runs schedules of consecutive seeds on several threads, each schedule on one thread. Stops at the
 * first failure.
 */
final class Schedules {
  /** A schedule that broke a promise. */
  record Failure(long seed, int steps, List<String> log, Throwable cause) {
    String replay() {
      return "./ebb prove simulator --seed %d --schedules 1 --steps %d".formatted(seed, steps);
    }

    AssertionError toError() {
      return new AssertionError(
          "%s%nreplay with %s%n%s".formatted(cause, replay(), String.join("\n", log)), cause);
    }
  }

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final int steps;
  private final Bug bug;
  private final AtomicLong nextSeed;
  private final long endSeed;
  private final AtomicBoolean stopped = new AtomicBoolean();
  private final Tally tally = new Tally();
  private Failure failure;
  private long cpuNanos;

  /** Seeds from the first on, at most as many as given. */
  Schedules(long firstSeed, long count, int steps) {
    this(firstSeed, count, steps, Bug.NONE);
  }

  /** Of programs with a bug, to see whether it is found. */
  Schedules(long firstSeed, long count, int steps, Bug bug) {
    this.steps = steps;
    this.bug = bug;
    nextSeed = new AtomicLong(firstSeed);
    endSeed = firstSeed + count;
  }

  /**
   * Runs until all are done, one has failed, or the time is over.
   *
   * @param timeIsOver asked before each schedule
   * @param done hears of each schedule that went well, on that schedule's thread
   */
  void run(int threads, BooleanSupplier timeIsOver, LongConsumer done) throws InterruptedException {
    List<Thread> running = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      Thread thread = new Thread(() -> work(timeIsOver, done), "schedules-" + t);
      thread.start();
      running.add(thread);
    }
    for (Thread thread : running) {
      thread.join();
    }
  }

  private void work(BooleanSupplier timeIsOver, LongConsumer done) {
    while (!stopped.get() && !timeIsOver.getAsBoolean()) {
      long seed = nextSeed.getAndIncrement();
      if (seed >= endSeed) {
        return;
      }
      long before = THREADS.getCurrentThreadCpuTime();
      run(seed);
      addCpuNanos(THREADS.getCurrentThreadCpuTime() - before);
      done.accept(seed);
    }
  }

  private synchronized void addCpuNanos(long nanos) {
    cpuNanos += nanos;
  }

  /** What all schedules took of the processors, whoever else uses them. */
  synchronized long cpuNanos() {
    return cpuNanos;
  }

  private void run(long seed) {
    Simulation simulation = null;
    try {
      simulation = new Simulation(seed, bug);
      simulation.run(steps);
      synchronized (this) {
        tally.addAll(simulation.tally());
      }
    } catch (Throwable e) {
      fail(new Failure(seed, steps, simulation == null ? List.of() : simulation.log(), e));
    }
  }

  private synchronized void fail(Failure found) {
    stopped.set(true);
    if (failure == null || found.seed() < failure.seed()) {
      failure = found;
    }
  }

  synchronized Optional<Failure> failure() {
    return Optional.ofNullable(failure);
  }

  /** What was exercised so far. */
  synchronized Tally tally() {
    Tally copy = new Tally();
    copy.addAll(tally);
    return copy;
  }
}
