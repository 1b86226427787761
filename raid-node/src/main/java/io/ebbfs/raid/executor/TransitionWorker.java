package io.ebbfs.raid.executor;

import io.ebbfs.common.failpoint.FailPoint;
import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.raid.config.RaidConfig;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletionService;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims transitions for as long as it lives and runs them. Repairs and conversions have places of
 * their own, so that no repair waits for a conversion. The worker claims no more than it has free
 * places for: the rest is left to other workers, and the most urgent transition is always the next.
 *
 * <p>A worker keeps no state that matters. If it dies, its claims end after their lease, and
 * another worker claims the transitions. Knows nothing of MapReduce. {@link #run} is called once.
 */
public final class TransitionWorker {
  private static final Logger LOG = LoggerFactory.getLogger(TransitionWorker.class);
  private static final List<TransitionKindProto> REPAIRS = List.of(TransitionKindProto.REPAIR);
  private static final List<TransitionKindProto> CONVERSIONS =
      List.of(
          TransitionKindProto.ENCODE,
          TransitionKindProto.UPCODE,
          TransitionKindProto.DOWNCODE,
          TransitionKindProto.REWRITE,
          TransitionKindProto.SUBTRACT,
          TransitionKindProto.RELEASE,
          TransitionKindProto.MOVE);

  /** Is told what a worker does. Called by many threads. */
  public interface Listener {
    /** A transition has ended. */
    void ended(TransitionOutcome outcome);

    /** The worker lives; called three times in each lease. */
    void alive();
  }

  private final String name;
  private final RaidConfig config;
  private final TransitionClaimer claimer;
  private final TransitionExecutor executor;
  private final Listener listener;
  private final ExecutorService threads;

  /**
   * A worker that has not begun.
   *
   * @param name under which it claims; no other worker has it
   */
  public TransitionWorker(
      String name, RaidConfig config, ExecutorResources resources, Listener listener) {
    this(name, config, resources, listener, task -> DaemonThreads.of(task, "raid-work"));
  }

  /**
   * The same with threads of the caller's making.
   *
   * @param threads makes the two threads that claim, and then one for each transition
   */
  TransitionWorker(
      String name,
      RaidConfig config,
      ExecutorResources resources,
      Listener listener,
      ThreadFactory threads) {
    this.name = name;
    this.config = config;
    this.claimer = new TransitionClaimer(name, resources.coding(), config.leaseMillis());
    this.executor = resources.executor(name);
    this.listener = listener;
    this.threads = Executors.newCachedThreadPool(threads);
  }

  /**
   * Claims and runs transitions. Returns when the time is over and the last of them has ended.
   *
   * @param lifeMillis after this time nothing more is claimed
   * @throws IllegalStateException if the worker cannot go on, for example because no thread can be
   *     started; running transitions are given up
   * @throws InterruptedException if the caller is interrupted; then running transitions are given
   *     up, and their claims end after their lease
   */
  public void run(long lifeMillis) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(lifeMillis);
    long third = Math.max(1, config.leaseMillis() / 3);
    ScheduledExecutorService renewals =
        Executors.newSingleThreadScheduledExecutor(task -> DaemonThreads.of(task, "raid-renewals"));
    renewals.scheduleWithFixedDelay(this::renew, third, third, TimeUnit.MILLISECONDS);
    LOG.info("{} begins, for {} s", name, TimeUnit.MILLISECONDS.toSeconds(lifeMillis));
    try {
      List<List<TransitionKindProto>> loops = List.of(REPAIRS, CONVERSIONS);
      CompletionService<Void> running = new ExecutorCompletionService<>(threads);
      for (List<TransitionKindProto> kinds : loops) {
        running.submit(
            () -> {
              claimAndRun(kinds, end);
              return null;
            });
      }
      for (int ended = 0; ended < loops.size(); ended++) {
        // In the order of their ends: a loop that fails ends the worker at once.
        running.take().get();
      }
      LOG.info("{} ends", name);
    } catch (ExecutionException e) {
      throw new IllegalStateException(name + " stops claiming", e.getCause());
    } finally {
      threads.shutdownNow();
      renewals.shutdownNow();
    }
  }

  /** Whether the worker renews its claim of a transition. */
  boolean holds(long transitionId) {
    return !claimer.isLost(transitionId);
  }

  private void renew() {
    claimer.renewAll();
    listener.alive();
  }

  private void claimAndRun(List<TransitionKindProto> kinds, long end) throws InterruptedException {
    Semaphore places = new Semaphore(config.mapTasks());
    String trouble = "";
    while (true) {
      places.acquire();
      if (System.nanoTime() - end >= 0) {
        // Waits for the transitions that still run.
        places.acquire(config.mapTasks() - 1);
        return;
      }
      int free = 1 + places.drainPermits();
      List<ClaimedTransitionProto> claimed = List.of();
      try {
        claimed = claimer.claim(kinds, Math.min(free, config.batch()));
        trouble = "";
        if (!claimed.isEmpty()) {
          FailPoint.RAID_AFTER_CLAIM.reach();
        }
      } catch (IOException | RuntimeException e) {
        // Any executor claims these transitions again after their leases.
        claimed = List.of();
        // The same error is logged once, not at every poll.
        if (!trouble.equals(e.toString())) {
          trouble = e.toString();
          LOG.warn("{} claims nothing: {}; trying again", name, trouble);
        }
      }
      places.release(free - claimed.size());
      for (ClaimedTransitionProto one : claimed) {
        start(one, places);
      }
      if (claimed.isEmpty()) {
        Thread.sleep(config.pollMillis());
      }
    }
  }

  private void start(ClaimedTransitionProto claimed, Semaphore places) {
    long id = claimed.getTransition().getId();
    claimer.keep(id);
    try {
      threads.execute(() -> runAndRelease(claimed, places));
    } catch (RuntimeException | Error e) {
      // Nobody runs the transition: without a renewal, another worker claims it after its lease.
      claimer.release(id);
      throw e;
    }
  }

  private void runAndRelease(ClaimedTransitionProto claimed, Semaphore places) {
    long id = claimed.getTransition().getId();
    try {
      TransitionOutcome outcome = executor.run(claimed, claimer::isLost);
      if (outcome.result() != TransitionOutcome.Result.COMMITTED) {
        LOG.warn("transition {} {} {}: {}", id, outcome.kind(), outcome.result(), outcome.detail());
      }
      listener.ended(outcome);
    } catch (InterruptedException e) {
      // The worker ends, and the claim after its lease.
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      LOG.error("transition {}", id, e);
    } finally {
      claimer.release(id);
      places.release();
    }
  }
}
