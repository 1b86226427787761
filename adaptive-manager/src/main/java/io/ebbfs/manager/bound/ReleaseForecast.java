package io.ebbfs.manager.bound;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.packing.Reclaim;
import io.ebbfs.manager.view.StripeView;
import java.util.HashSet;
import java.util.Set;

/**
 * What it changes to take blocks out of a stripe: the encoded data, without the replicas that the
 * blocks become. Deleted blocks of the stripe go with them. Immutable.
 *
 * @param leavingBytes of the blocks
 * @param change of the encoded data
 * @param movedBytes bytes read and written to compute the parities without the blocks; 0 if the
 *     stripe ends
 */
public record ReleaseForecast(long leavingBytes, StorageBound.Change change, long movedBytes) {
  /**
   * The forecast for one stripe.
   *
   * @param code of the stripe
   * @param leaving positions of live blocks
   */
  public static ReleaseForecast of(StripeView stripe, ErasureCode code, Set<Integer> leaving) {
    long bytes = 0;
    long staying = 0;
    for (StripeView.Member member : stripe.members()) {
      if (member.isOwnedByFile(stripe.id())) {
        boolean leaves = leaving.contains(member.position());
        bytes += leaves ? member.lengthBytes() : 0;
        staying += leaves ? 0 : member.lengthBytes();
      }
    }
    if (staying == 0) {
      return new ReleaseForecast(
          bytes, new StorageBound.Change(-stripe.storedBytes(), -stripe.liveBytes()), 0);
    }
    Set<Integer> gone = new HashSet<>(leaving);
    gone.addAll(stripe.tombstones());
    Reclaim reclaim = Reclaim.subtract(code, stripe.dataLengths(code.dataCount()), gone);
    return new ReleaseForecast(
        bytes, new StorageBound.Change(-reclaim.freedBytes(), -bytes), reclaim.movedBytes());
  }

  /** Bytes that are read and written to bring a block of one replica to more replicas. */
  public static long copiedBytes(long lengthBytes, int replication) {
    return 2 * lengthBytes * Math.max(0, replication - 1);
  }
}
