package io.ebbfs.namespace.placement;

import io.ebbfs.coding.ErasureCode;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * What is computed once of a code and used often; anew if a code of the same name becomes another.
 * Thread-safe: two threads may both compute it, and either result serves.
 */
final class PerCode<T> {
  private final Map<String, Known<T>> known = new ConcurrentHashMap<>();
  private final Function<ErasureCode, T> compute;

  PerCode(Function<ErasureCode, T> compute) {
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
