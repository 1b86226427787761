package io.ebbfs.namenode.store;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Weigher;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A cache, bounded in bytes, in front of values that change while they are read. It never returns a
 * value that is older than what the values behind it would have returned.
 *
 * <p>Whoever changes a value calls {@link #beginChange} before, and {@link #endChange} after the
 * change can be read. Meanwhile readers of the key pass the cache by: they see the change exactly
 * when it happens. A reader that loads a value keeps it only if no change of its key has begun
 * since. Both are told by a word per stripe of keys: the number of changes that have begun, and how
 * many of them have not ended.
 *
 * <p>Thread-safe. No reader waits for another one.
 */
final class CoherentCache<K, V> {
  private static final int STRIPES = 1 << 14;
  private static final long BEGUN = 1L << 20;
  private static final long UNDER_WAY = BEGUN - 1;
  private static final int MAINTAIN_EVERY = 64;

  /** Reads a value from behind the cache. */
  @FunctionalInterface
  interface Loader<V> {
    /** Never returns null. */
    V load() throws IOException;
  }

  private final Cache<K, V> values;
  private final AtomicLongArray changes = new AtomicLongArray(STRIPES);
  private int insertions;

  CoherentCache(long bytes, Weigher<K, V> weigher) {
    values =
        Caffeine.newBuilder()
            .maximumWeight(bytes)
            .weigher(weigher)
            .executor(task -> {}) // see maintain()
            .build();
  }

  /** The value of a key: from the cache, or from behind it. */
  V get(K key, Loader<V> loader) throws IOException {
    int stripe = stripe(key);
    long seen = changes.get(stripe);
    if ((seen & UNDER_WAY) != 0) {
      return loader.load();
    }
    V value = values.getIfPresent(key);
    if (value == null) {
      value = loader.load();
      keep(key, value, stripe, seen);
    }
    return value;
  }

  /** The cached value, or null. */
  V getIfPresent(K key) {
    return (changes.get(stripe(key)) & UNDER_WAY) != 0 ? null : values.getIfPresent(key);
  }

  /**
   * Keeps a loaded value unless a change has begun. A change that begins after the check ends after
   * it too, and then replaces the value, because both hold the lock of the key's entry.
   */
  private void keep(K key, V value, int stripe, long seen) {
    values.asMap().computeIfAbsent(key, k -> changes.get(stripe) == seen ? value : null);
    maintain();
  }

  /**
   * Evicts, after some insertions: the cache's own way is a task per insertion. The count may miss
   * insertions, because the cache itself evicts when more of them wait than its buffer holds.
   */
  private void maintain() {
    if (++insertions % MAINTAIN_EVERY == 0) {
      values.cleanUp();
    }
  }

  /** To be called before the value of a key changes. */
  void beginChange(K key) {
    changes.addAndGet(stripe(key), BEGUN + 1);
  }

  /**
   * To be called once the change can be read, or has failed.
   *
   * @param now the new value; null if it shall be loaded
   */
  void endChange(K key, V now) {
    if (now == null) {
      values.invalidate(key);
    } else {
      values.put(key, now);
      maintain();
    }
    changes.decrementAndGet(stripe(key));
  }

  private static int stripe(Object key) {
    int hash = key.hashCode() * 0x9e3779b9;
    return (hash >>> 16) & (STRIPES - 1);
  }

  /** The sum of the weights of all values. Evictions that are due happen first. */
  long weight() {
    values.cleanUp();
    return values.policy().eviction().orElseThrow().weightedSize().orElseThrow();
  }

  /** How many values are cached. */
  long size() {
    return values.estimatedSize();
  }
}
