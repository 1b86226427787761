package io.ebbfs.namespace.stripe;

import io.ebbfs.namespace.block.BlockService.Invalidation;
import io.ebbfs.namespace.store.RowLock;
import io.ebbfs.namespace.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import java.io.IOException;
import java.util.List;

/** What the rest of the namenode asks of stripes. Thread-safe. */
public interface StripeService {
  /** A member of a stripe that its file gives up: the rows' key and the row. */
  record Member(long ownerId, long index, BlockRow block) {}

  /** The locks that {@link #removeMembers} needs, to be taken together with the caller's own. */
  List<RowLock> locksToRemove(List<Member> members);

  /**
   * Turns blocks of deleted files into tombstones of their stripes: their rows change hands from
   * the file to the stripe, their bytes stay while parities cover them. A stripe without any live
   * member goes as a whole. Has no effect outside of the transaction.
   *
   * @return replicas that no row knows any more
   */
  List<Invalidation> removeMembers(Transaction transaction, List<Member> members)
      throws IOException;

  /**
   * A hint that a stripe may have lost a block or got one back. In memory, duplicates are free; a
   * slow scan of all stripes finds what hints missed.
   */
  void check(long stripeId);
}
