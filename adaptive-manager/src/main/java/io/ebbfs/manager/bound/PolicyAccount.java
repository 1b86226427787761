package io.ebbfs.manager.bound;

import io.ebbfs.coding.packing.PackingCost;
import io.ebbfs.manager.heat.ReadShares;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * The bytes of one policy. The bound limits the encoded data. Replicated data waits to be encoded
 * and is counted beside it.
 *
 * @param liveBytes encoded logical bytes
 * @param storedBytes of the stripes: live data, deleted data and parities
 * @param fastBytes the logical bytes in the fast code; 0 with a single code
 * @param replicatedBytes logical bytes in no stripe
 * @param replicatedStoredBytes stored bytes of all replicas of these bytes
 * @param packing by code: the bytes for padding, unfilled positions and deleted data
 * @param endOverhead of the encoded data, once all transitions under way and proposed are done and
 *     the files that wait for room under the bound are encoded too
 * @param reads which of these bytes the recent reads fall on
 */
public record PolicyAccount(
    String policy,
    OptionalDouble bound,
    long liveBytes,
    long storedBytes,
    long fastBytes,
    long replicatedBytes,
    long replicatedStoredBytes,
    Map<String, PackingCost> packing,
    double endOverhead,
    ReadShares reads) {

  /** Stored bytes per logical byte of the encoded data; 0 if nothing is encoded. */
  public double encodedOverhead() {
    return liveBytes == 0 ? 0 : (double) storedBytes / liveBytes;
  }

  /** Stored bytes per logical byte of encoded and replicated data; 0 if there is no data. */
  public double totalOverhead() {
    long logical = liveBytes + replicatedBytes;
    return logical == 0 ? 0 : (double) (storedBytes + replicatedStoredBytes) / logical;
  }

  /** Whether the encoded data stores more than the bound allows now. */
  public boolean isOverBound() {
    return bound.isPresent() && encodedOverhead() > bound.getAsDouble();
  }
}
