package io.ebbfs.verify.histories;

import io.ebbfs.testbed.ClusterException;
import io.ebbfs.testbed.cluster.LocalCluster;
import io.ebbfs.testbed.process.ProcessNames;
import java.io.PrintStream;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/** Kills and freezes the namenode, one fault after the other, with pauses. Runs in one thread. */
final class HistoryFaults implements Runnable {
  private static final int LEAST_PAUSE_MILLIS = 2_000;
  private static final int MOST_PAUSE_MILLIS = 5_000;

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
        if (random.nextBoolean()) {
          kill();
        } else {
          freeze();
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

  private void kill() throws ClusterException, InterruptedException {
    long hold = between(0, 1_500);
    out.printf("fault: the namenode is killed and starts again after %d ms%n", hold);
    cluster.killNamenode();
    Thread.sleep(hold);
    cluster.startNamenode();
  }

  private void freeze() throws ClusterException, InterruptedException {
    long hold = between(500, 3_000);
    out.printf("fault: the namenode is stalled (SIGSTOP) for %d ms%n", hold);
    cluster.stall(ProcessNames.NAMENODE, true);
    Thread.sleep(hold);
    cluster.stall(ProcessNames.NAMENODE, false);
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
