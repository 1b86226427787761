package io.ebbfs.namespace.block;

import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.random.RandomGenerator;

/** One handed-in source of randomness for many threads. Thread-safe. */
final class SharedRandom {
  private final RandomGenerator random;

  SharedRandom(RandomGenerator random) {
    this.random = random;
  }

  synchronized int below(int bound) {
    return random.nextInt(bound);
  }

  synchronized long nextLong() {
    return random.nextLong();
  }

  void shuffle(List<?> list) {
    Collections.shuffle(list, new Random(nextLong()));
  }
}
