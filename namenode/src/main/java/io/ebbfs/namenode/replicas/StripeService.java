package io.ebbfs.namenode.replicas;

import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.replicas.BlockService.Invalidation;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The stripes, as seen by files and replicas. Thread-safe. */
public interface StripeService {
  /** A member of a stripe whose file is deleted: the key of its block row, and the row. */
  record Member(long ownerId, long index, BlockRow block) {
    public static Member of(Row<BlockRow> row) {
      return new Member(row.key().partition(), row.key().firstLong(), row.value());
    }
  }

  /** The locks that {@link #removeMembers} needs. The caller takes them before the call. */
  List<RowLock> locksToRemove(List<Member> members);

  /**
   * Turns blocks of deleted files into tombstones of their stripes. The rows of a block move from
   * the file to the stripe; its bytes stay as long as parities cover them. A stripe without any
   * live member is removed as a whole. The method has no effect outside of the transaction.
   *
   * @return replicas that have no row any more
   */
  List<Invalidation> removeMembers(Transaction transaction, List<Member> members)
      throws IOException;

  /** A member whose rows go to another file, and its index there. */
  record MovedMember(Member member, long newOwnerId, long newIndex) {}

  /**
   * Notes in the rows of stripes that blocks belong to other files now. The rows of the blocks
   * themselves are the business of the caller, who has taken {@link #locksToRemove}.
   */
  void changeOwners(Transaction transaction, List<MovedMember> moved) throws IOException;

  /**
   * Asks for a check of a stripe that may have lost a block or got one back. Requests are in memory
   * and bounded; a slow scan of all stripes makes up for dropped ones.
   */
  void check(long stripeId);

  /**
   * Asks for a check of a stripe that has lost a block, and says whether the request was taken.
   *
   * @param onlyAtRisk the stripe is to be repaired only if the next failure would lose it
   * @return false if there are too many requests already: ask again later
   */
  default boolean offer(long stripeId, boolean onlyAtRisk) {
    check(stripeId);
    return true;
  }

  /**
   * Asks for a check of a stripe with a block on a server that is drained. These requests are in a
   * bounded set of their own and come after all others. A later walk over the server makes up for
   * dropped ones.
   */
  default void checkLeaving(long stripeId) {
    check(stripeId);
  }

  /**
   * Asks for a move of a member that levels disks. The move is made only if it leaves the stripe as
   * safe as it is.
   *
   * @return false if too many such wishes wait, or one of the same stripe, or if the scanner has no
   *     place for one because other stripes are re-placed
   */
  default boolean level(MemberMove wish) {
    return false;
  }

  /** Whether another wish of {@link #level} would be taken now, if its stripe is in none. */
  default boolean mayLevel() {
    return false;
  }

  /** Takes back a wish of {@link #level} that waits; false if none of the stripe waits. */
  default boolean withdrawLevel(long stripeId) {
    return false;
  }

  /** Whether a wish of {@link #level} waits, or is just being made a transition or refused. */
  default boolean awaitsLevel(long stripeId) {
    return false;
  }

  /** Whether a transition that levels disks is planned or runs for the stripe. */
  default boolean isLevelling(Transaction transaction, long stripeId) throws IOException {
    return false;
  }

  /** Whether a request to check the stripe was taken and is not carried out. */
  default boolean awaitsCheck(long stripeId) {
    return false;
  }

  /** Why blocks of a stripe cannot leave a server that is drained; empty if they can. */
  default Optional<String> whyStuck(long stripeId) {
    return Optional.empty();
  }

  /**
   * Why a stripe would not survive that servers are away and one more server or disk is lost; empty
   * if it would, or if there is no such stripe. Takes no locks.
   *
   * @param awayServerUuids the servers that are away
   */
  default Optional<String> whyNotSafeWithout(
      Transaction transaction, long stripeId, Set<String> awayServerUuids) throws IOException {
    return Optional.empty();
  }

  /**
   * True if a block of a stripe can be decoded from other blocks of the stripe, on the disks that
   * the view says are in service. Takes no locks.
   */
  boolean decodes(Transaction transaction, BlockRow block, ClusterView view) throws IOException;

  /**
   * The servers of the blocks from which a block of a stripe is decoded. The block's own replicas
   * are not among them. Takes no locks.
   */
  DecodeSources decodeSources(Transaction transaction, BlockRow block) throws IOException;
}
