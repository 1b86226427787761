package io.ebbfs.namenode;

import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Seeds of tests that compare random calls with HDFS. With the property {@code seed}, a test draws
 * the same seeds in each run; {@code ./ebb test} sets the property by the tree of the namenode.
 * Thread-safe.
 */
final class Seeds {
  private static final Map<Class<?>, Random> OF_TESTS = new ConcurrentHashMap<>();

  private Seeds() {}

  /** The next seed of a test class, which the caller prints. */
  static long next(Class<?> test) {
    Long base = Long.getLong("seed");
    Random seeds =
        OF_TESTS.computeIfAbsent(
            test,
            name -> base == null ? new Random() : new Random(base ^ test.getName().hashCode()));
    return seeds.nextLong();
  }
}
