package io.ebbfs.namenode.tasks.scan;

import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.namenode.stripes.BlockRows;
import io.ebbfs.namenode.stripes.StripeState;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaRow;
import io.ebbfs.protocol.proto.StoreProtos.ReplicaStateProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import java.io.IOException;
import java.util.Collection;
import java.util.List;

/**
 * The stripes of block groups that were not whole when last seen, by the counts of HDFS. A group
 * may be in several of them. Thread-safe.
 */
public final class GroupDamage {
  private final StripeTally damaged = new StripeTally();
  private final StripeTally urgent = new StripeTally();
  private final StripeTally missing = new StripeTally();
  private final StripeTally corrupt = new StripeTally();
  private final StripeTally misplaced = new StripeTally();

  /** Groups with fewer live blocks than they are to have, those that are missing included. */
  public int damaged() {
    return damaged.stripes();
  }

  /** Those of them that lose data with the next block. */
  public int urgent() {
    return urgent.stripes();
  }

  /** Groups whose data cannot be read. */
  public int missing() {
    return missing.stripes();
  }

  /** Groups with a bad replica in the place of a block. */
  public int corrupt() {
    return corrupt.stripes();
  }

  /** Groups that are placed worse than the cluster allows. */
  public int misplaced() {
    return misplaced.stripes();
  }

  /** Whether a block that the stripe has lost is on some disk, and bad. */
  static boolean hasCorrupt(Transaction transaction, StripeState stripe) throws IOException {
    for (int position : stripe.lost()) {
      StripeMemberProto member = stripe.members().get(position);
      for (Row<ReplicaRow> replica :
          BlockRows.replicas(transaction, member.getOwnerId(), member.getBlockId())) {
        if (replica.value().getState() == ReplicaStateProto.CORRUPT) {
          return true;
        }
      }
    }
    return false;
  }

  /** Notes whether a stripe breaks rules of placement that it could keep. */
  void noteMisplaced(StripeState stripe, boolean isMisplaced) {
    note(misplaced, stripe.id(), 1, isMisplaced && stripe.row().hasGroupFileId());
  }

  /**
   * Notes what was seen of a stripe.
   *
   * @param hasCorrupt as {@link #hasCorrupt} says
   */
  void note(StripeState stripe, boolean hasCorrupt) {
    int lost = stripe.row().hasGroupFileId() ? stripe.lost().size() : 0;
    boolean decodes = stripe.code().decodes(stripe.lost());
    note(damaged, stripe.id(), lost, lost > 0);
    note(missing, stripe.id(), lost, lost > 0 && !decodes);
    note(urgent, stripe.id(), lost, lost > 0 && decodes && losesDataNext(stripe));
    note(corrupt, stripe.id(), lost, lost > 0 && hasCorrupt);
  }

  private static void note(StripeTally tally, long stripeId, int lost, boolean holds) {
    if (holds) {
      tally.put(stripeId, lost);
    } else {
      tally.remove(stripeId);
    }
  }

  /** The codes of HDFS need as many blocks as have data, whichever they are. */
  private static boolean losesDataNext(StripeState stripe) {
    long data = stripe.occupied().stream().filter(p -> stripe.code().position(p).isData()).count();
    return stripe.occupied().size() - stripe.lost().size() == data;
  }

  void remove(long stripeId) {
    tallies().forEach(tally -> tally.remove(stripeId));
  }

  /** See {@link StripeTally#retain}. */
  void retain(long after, long upTo, Collection<Long> named) {
    tallies().forEach(tally -> tally.retain(after, upTo, named));
  }

  private List<StripeTally> tallies() {
    return List.of(damaged, urgent, missing, corrupt, misplaced);
  }
}
