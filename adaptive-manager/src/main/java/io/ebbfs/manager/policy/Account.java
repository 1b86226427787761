package io.ebbfs.manager.policy;

import io.ebbfs.coding.PackingCost;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * The bytes of one policy. The bound is about the encoded data: what is still replicated is there
 * to be encoded, and is shown beside it.
 *
 * @param liveBytes encoded logical bytes
 * @param storedBytes what they occupy: data, tombstones and parities
 * @param fastBytes the logical bytes in the fast code; 0 with a single code
 * @param replicatedBytes logical bytes in no stripe; replicatedStoredBytes with all replicas
 * @param packing by code: what padding, unfilled positions and tombstones of its stripes cost
 * @param endOverhead of the encoded data once all transitions under way and proposed are done, and
 *     what waits for room under the bound is encoded too
 */
public record Account(
    String policy,
    OptionalDouble bound,
    long liveBytes,
    long storedBytes,
    long fastBytes,
    long replicatedBytes,
    long replicatedStoredBytes,
    Map<String, PackingCost> packing,
    double endOverhead) {

  /** Stored bytes per logical byte of the encoded data; 0 if there is none. */
  public double encodedOverhead() {
    return liveBytes == 0 ? 0 : (double) storedBytes / liveBytes;
  }

  /** Stored bytes per logical byte of everything; 0 if there is nothing. */
  public double totalOverhead() {
    long logical = liveBytes + replicatedBytes;
    return logical == 0 ? 0 : (double) (storedBytes + replicatedStoredBytes) / logical;
  }
}
