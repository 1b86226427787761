package io.ebbfs.manager.bound;

import java.util.OptionalDouble;

/**
 * The encoded bytes of the whole cluster, of all policies and of none. Replicated data waits to be
 * encoded and does not count.
 *
 * @param liveBytes encoded logical bytes
 * @param storedBytes of all stripes: live data, deleted data and parities
 * @param endOverhead stored bytes per logical byte once all transitions under way and proposed are
 *     done
 */
public record ClusterAccount(
    OptionalDouble bound, long liveBytes, long storedBytes, double endOverhead) {
  /** Stored bytes per logical byte; 0 if nothing is encoded. */
  public double encodedOverhead() {
    return liveBytes == 0 ? 0 : (double) storedBytes / liveBytes;
  }

  /** Whether the encoded data stores more than the bound allows now. */
  public boolean isOverBound() {
    return bound.isPresent() && encodedOverhead() > bound.getAsDouble();
  }
}
