package io.ebbfs.namenode;

import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Waits for a condition that other threads or processes make true. */
public final class Await {
  private Await() {}

  /** Polls until the condition is true; after a while, fails with the name of the condition. */
  public static void until(String what, Callable<Boolean> asked) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(90);
    while (!asked.call()) {
      if (System.nanoTime() > end) {
        throw new AssertionError("waited 90 s in vain until " + what);
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
    }
  }
}
