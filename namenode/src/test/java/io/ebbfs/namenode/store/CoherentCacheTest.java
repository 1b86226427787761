package io.ebbfs.namenode.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CoherentCacheTest {
  private static final int KEYS = 32;
  private static final int LARGE = 1 << 20;

  private final ExecutorService others = Executors.newCachedThreadPool();

  @AfterEach
  void stop() {
    others.shutdownNow();
  }

  private static CoherentCache<Integer, Long> cache(long values) {
    return new CoherentCache<>(values, (key, value) -> 1);
  }

  private static CoherentCache.Loader<Long> mustNotLoad() {
    return () -> {
      throw new IOException("it is cached");
    };
  }

  @Test
  void aValueIsLoadedOnce() throws IOException {
    CoherentCache<Integer, Long> cache = cache(LARGE);
    assertThat(cache.get(1, () -> 10L)).isEqualTo(10);
    assertThat(cache.get(1, mustNotLoad())).isEqualTo(10);
    assertThat(cache.getIfPresent(1)).isEqualTo(10);
    assertThat(cache.getIfPresent(2)).isNull();
  }

  @Test
  void aFailedLoadLeavesNothing() throws IOException {
    CoherentCache<Integer, Long> cache = cache(LARGE);
    assertThatThrownBy(() -> cache.get(1, mustNotLoad())).isInstanceOf(IOException.class);
    assertThat(cache.get(1, () -> 10L)).isEqualTo(10);
  }

  @Test
  void duringAChangeReadersPassTheCacheBy() throws IOException {
    CoherentCache<Integer, Long> cache = cache(LARGE);
    AtomicLong behind = new AtomicLong(1);
    cache.get(1, behind::get);
    cache.beginChange(1);
    assertThat(cache.get(1, behind::get)).isEqualTo(1);
    behind.set(2);
    assertThat(cache.get(1, behind::get)).isEqualTo(2);
    assertThat(cache.getIfPresent(1)).isNull();
    cache.endChange(1, 2L);
    assertThat(cache.get(1, mustNotLoad())).isEqualTo(2);
  }

  @Test
  void afterAFailedChangeTheValueIsLoadedAgain() throws IOException {
    CoherentCache<Integer, Long> cache = cache(LARGE);
    cache.get(1, () -> 1L);
    cache.beginChange(1);
    cache.endChange(1, null);
    assertThat(cache.get(1, () -> 7L)).isEqualTo(7);
  }

  /** The reader has the old value in its hands while the value changes. */
  @Test
  void aLoadThatIsOvertakenByAChangeIsNotKept() throws Exception {
    for (Long now : new Long[] {2L, null}) {
      CoherentCache<Integer, Long> cache = cache(LARGE);
      CountDownLatch loaded = new CountDownLatch(1);
      CountDownLatch changed = new CountDownLatch(1);
      Future<Long> reader = readerOfTheOldValue(cache, loaded, changed);
      await(loaded);
      cache.beginChange(1);
      cache.endChange(1, now);
      changed.countDown();
      assertThat(reader.get(10, TimeUnit.SECONDS)).isEqualTo(1);
      assertThat(cache.get(1, () -> 2L)).as("the change wrote %s", now).isEqualTo(2);
    }
  }

  /** As above, but the change is still under way when the load ends. */
  @Test
  void aLoadThatEndsDuringAChangeIsNotKept() throws Exception {
    CoherentCache<Integer, Long> cache = cache(LARGE);
    CountDownLatch loaded = new CountDownLatch(1);
    CountDownLatch begun = new CountDownLatch(1);
    Future<Long> reader = readerOfTheOldValue(cache, loaded, begun);
    await(loaded);
    cache.beginChange(1);
    begun.countDown();
    reader.get(10, TimeUnit.SECONDS);
    assertThat(cache.size()).isZero();
    cache.endChange(1, 2L);
    assertThat(cache.get(1, mustNotLoad())).isEqualTo(2);
  }

  /** A reader of key 1 that has loaded the value 1, and comes back with it later. */
  private Future<Long> readerOfTheOldValue(
      CoherentCache<Integer, Long> cache, CountDownLatch loaded, CountDownLatch mayEnd) {
    return others.submit(
        () ->
            cache.get(
                1,
                () -> {
                  loaded.countDown();
                  await(mayEnd);
                  return 1L;
                }));
  }

  private static void await(CountDownLatch latch) throws IOException {
    try {
      assertThat(latch.await(10, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  /**
   * Values only grow. A read must not return less than what was behind the cache when the read
   * began, nor more than what is behind it when the read ends.
   */
  @Test
  void noReadGoesBack() throws Exception {
    long seed = Long.getLong("seed", System.nanoTime());
    System.out.println("seed " + seed);
    CoherentCache<Integer, Long> cache = cache(KEYS / 2); // so that values are evicted, too
    AtomicLongArray behind = new AtomicLongArray(KEYS);
    AtomicBoolean stop = new AtomicBoolean();
    List<Future<?>> readers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      Random random = new Random(seed + i);
      readers.add(
          others.submit(
              () -> {
                while (!stop.get()) {
                  readOnce(cache, behind, random, seed);
                }
                return null;
              }));
    }
    Random random = new Random(seed - 1);
    for (int i = 0; i < 200_000; i++) {
      change(cache, behind, random);
    }
    stop.set(true);
    for (Future<?> reader : readers) {
      reader.get(10, TimeUnit.SECONDS);
    }
    for (int key = 0; key < KEYS; key++) {
      int k = key;
      assertThat(cache.get(k, () -> behind.get(k))).as("seed %d", seed).isEqualTo(behind.get(k));
    }
  }

  private static void readOnce(
      CoherentCache<Integer, Long> cache, AtomicLongArray behind, Random random, long seed)
      throws IOException {
    int key = random.nextInt(KEYS);
    boolean slow = random.nextInt(4) == 0;
    long before = behind.get(key);
    long read =
        cache.get(
            key,
            () -> {
              long value = behind.get(key);
              if (slow) {
                Thread.yield();
              }
              return value;
            });
    assertThat(read).as("seed %d", seed).isBetween(before, behind.get(key));
  }

  private static void change(
      CoherentCache<Integer, Long> cache, AtomicLongArray behind, Random random) {
    int key = random.nextInt(KEYS);
    cache.beginChange(key);
    long now = behind.incrementAndGet(key);
    cache.endChange(key, random.nextInt(4) == 0 ? null : now);
  }

  @Test
  void theCacheStaysWithinItsBound() throws IOException {
    CoherentCache<Integer, Long> cache = new CoherentCache<>(1_000, (key, value) -> 10);
    for (int key = 0; key < 10_000; key++) {
      long value = key;
      cache.get(key, () -> value);
    }
    assertThat(cache.weight()).isBetween(500L, 1_000L);
    assertThat(cache.size()).isBetween(50L, 100L);
  }
}
