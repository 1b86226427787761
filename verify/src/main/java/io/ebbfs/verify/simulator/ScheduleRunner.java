package io.ebbfs.verify.simulator;

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
final class ScheduleRunner {
  /** A schedule that broke a promise. */
  record Failure(long seed, Shape shape, List<String> log, Throwable cause) {
    String replay() {
      return "./ebb verify simulator%s%s --seed %d --schedules 1 --steps %d"
          .formatted(
              shape.namenodes() > 1 ? " --namenodes " + shape.namenodes() : "",
              shape.releases() ? " --releases" : "",
              seed,
              shape.steps());
    }

    AssertionError toError() {
      return new AssertionError(
          "%s%nreplay with %s%n%s".formatted(cause, replay(), String.join("\n", log)), cause);
    }
  }

  /**
   * What all schedules of a run share.
   *
   * @param namenodes on one store; 1 has its store alone
   * @param steps most events in a schedule before it comes to rest
   * @param releases whether blocks also leave their stripes. The schedule of a seed is another one
   *     then
   */
  record Shape(int namenodes, int steps, boolean releases) {
    Shape(int namenodes, int steps) {
      this(namenodes, steps, false);
    }
  }

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final Shape shape;
  private final PlantedBug bug;
  private final AtomicLong nextSeed;
  private final long endSeed;
  private final AtomicBoolean stopped = new AtomicBoolean();
  private final EventCounts events = new EventCounts();
  private Failure failure;
  private long cpuNanos;

  /** Runs the given number of consecutive seeds from the first on. */
  ScheduleRunner(long firstSeed, long count, Shape shape) {
    this(firstSeed, count, shape, PlantedBug.NONE);
  }

  /** Runs programs with a planted bug, to see whether a schedule finds it. */
  ScheduleRunner(long firstSeed, long count, Shape shape, PlantedBug bug) {
    this.shape = shape;
    this.bug = bug;
    nextSeed = new AtomicLong(firstSeed);
    endSeed = firstSeed + count;
  }

  /**
   * Runs until all schedules are done, one has failed, or the time is over.
   *
   * @param timeIsOver asked before each schedule
   * @param done hears of each schedule that has ended, on the thread of the schedule
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

  /** Runs all schedules on the calling thread. */
  void runHere() {
    work(() -> false, seed -> {});
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

  /** The processor time of all schedules. */
  synchronized long cpuNanos() {
    return cpuNanos;
  }

  private void run(long seed) {
    FaultSchedule schedule = null;
    try {
      schedule = new FaultSchedule(seed, bug, shape);
      schedule.run(shape.steps());
      synchronized (this) {
        events.addAll(schedule.events());
      }
    } catch (Throwable e) {
      fail(new Failure(seed, shape, schedule == null ? List.of() : schedule.log(), e));
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

  /** How often each kind of event happened so far. */
  synchronized EventCounts events() {
    EventCounts sum = new EventCounts();
    sum.addAll(events);
    return sum;
  }
}
