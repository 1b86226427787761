package io.ebbfs.namespace;

import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Waits for what other threads or processes bring about. */
final class Await {
  private Await() {}

  /** Asks until the answer is true; fails, with what was awaited, after a while. */
  static void until(String what, Callable<Boolean> asked) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(90);
    while (!asked.call()) {
      if (System.nanoTime() > end) {
        throw new AssertionError("waited 90 s in vain until " + what);
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
    }
  }
}
