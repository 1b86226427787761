package io.ebbfs.namenode;

import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Seeds of tests that draw several, one for each repetition. With the property {@code seed}, a test
 * class draws the same seeds in each run; {@code ./ebb test} sets the property by the tree of the
 * namenode. Without the property another one is chosen, and printed. Thread-safe.
 */
public final class Seeds {
  private static final long BASE = Long.getLong("seed", new Random().nextLong());
  private static final Map<Class<?>, Random> OF_TESTS = new ConcurrentHashMap<>();

  private Seeds() {}

  /** The next seed of a test class, which the caller prints. */
  public static long next(Class<?> test) {
    return OF_TESTS.computeIfAbsent(test, Seeds::seedsOf).nextLong();
  }

  private static Random seedsOf(Class<?> test) {
    System.out.println(test.getSimpleName() + ": -Dseed=" + BASE);
    return new Random(BASE ^ test.getName().hashCode());
  }
}
