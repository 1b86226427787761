package io.ebbfs.namenode.datanodes;

import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.random.RandomGenerator;

/** One handed-in source of randomness for many threads. Thread-safe. */
public final class SharedRandom {
  private final RandomGenerator random;

  public SharedRandom(RandomGenerator random) {
    this.random = random;
  }

  public synchronized int below(int bound) {
    return random.nextInt(bound);
  }

  synchronized long nextLong() {
    return random.nextLong();
  }

  public void shuffle(List<?> list) {
    Collections.shuffle(list, new Random(nextLong()));
  }
}
