package io.ebbfs.namenode.placement.search;

import io.ebbfs.coding.code.ErasureCode;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * Keeps a value that is computed from a code, by the name of the code. The value is computed again
 * if the name stands for another code by now. Thread-safe: two threads may compute the same value,
 * and either result is right.
 */
final class PerCodeCache<T> {
  private final Map<String, Known<T>> known = new ConcurrentHashMap<>();
  private final Function<ErasureCode, T> compute;

  PerCodeCache(Function<ErasureCode, T> compute) {
    this.compute = compute;
  }

  T of(ErasureCode code) {
    Known<T> found = known.get(code.name());
    if (found == null || !found.code.equals(code)) {
      found = new Known<>(code, compute.apply(code));
      known.put(code.name(), found);
    }
    return found.value;
  }

  private record Known<T>(ErasureCode code, T value) {}
}
