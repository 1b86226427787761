package io.ebbfs.verify.histories;

import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.LocalCluster;
import io.ebbfs.testbed.process.ProcessNames;
import java.io.PrintStream;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/**
 * Kills and freezes namenodes and nodes of their store, one fault after the other, with pauses.
 * Runs in one thread.
 */
final class HistoryFaults implements Runnable {
  private static final int LEAST_PAUSE_MILLIS = 2_000;
  private static final int MOST_PAUSE_MILLIS = 5_000;

  /** Longer than the times after which others take over. */
  private static final int MOST_FROZEN_MILLIS = 8_000;

  private static final int WAKE_MILLIS = 1_000;

  private final LocalCluster cluster;
  private final Random random;
  private final PrintStream out;
  private final BooleanSupplier goesOn;
  private final AtomicInteger count = new AtomicInteger();
  private volatile Exception failure;

  HistoryFaults(LocalCluster cluster, Random random, PrintStream out, BooleanSupplier goesOn) {
    this.cluster = cluster;
    this.random = random;
    this.out = out;
    this.goesOn = goesOn;
  }

  @Override
  public void run() {
    try {
      while (pause()) {
        String victim = victim();
        if (random.nextBoolean()) {
          kill(victim);
        } else {
          freeze(victim);
        }
        count.incrementAndGet();
      }
    } catch (ClusterException e) {
      failure = e;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean pause() throws InterruptedException {
    long millis = between(LEAST_PAUSE_MILLIS, MOST_PAUSE_MILLIS);
    long end = System.nanoTime() + millis * 1_000_000;
    while (goesOn.getAsBoolean() && System.nanoTime() < end) {
      Thread.sleep(20);
    }
    return goesOn.getAsBoolean();
  }

  /** A namenode more often than a node of the store, which may fail only while rows have copies. */
  private String victim() {
    int stores = cluster.layout().ports().store().size();
    return random.nextInt(3) == 0 && stores > 0 && cluster.storeIsWhole()
        ? ProcessNames.store(random.nextInt(stores))
        : ProcessNames.namenode(random.nextInt(cluster.layout().namenodes()));
  }

  private void kill(String victim) throws ClusterException, InterruptedException {
    long hold = between(0, 1_500);
    out.printf("fault: %s is killed and starts again after %d ms%n", victim, hold);
    cluster.kill(victim);
    Thread.sleep(hold);
    cluster.start(victim);
  }

  private void freeze(String victim) throws ClusterException, InterruptedException {
    long hold = between(500, MOST_FROZEN_MILLIS);
    out.printf("fault: %s is stalled (SIGSTOP) for %d ms%n", victim, hold);
    cluster.stall(victim, true);
    Thread.sleep(hold);
    cluster.stall(victim, false);
    Thread.sleep(WAKE_MILLIS);
    if (!cluster.running().containsKey(victim)) {
      out.printf(
          "       %s has noticed that the others went on, and ended; it starts again%n", victim);
      cluster.start(victim);
    }
  }

  private long between(int least, int most) {
    return least + random.nextInt(most - least);
  }

  int count() {
    return count.get();
  }

  /** What stopped the faults too early, or null. */
  Exception failure() {
    return failure;
  }
}
