package io.ebbfs.namespace.stripe;

import io.ebbfs.coding.Codes;
import io.ebbfs.coding.ErasureCode;
import io.ebbfs.namespace.block.BlockService;
import io.ebbfs.namespace.block.BlockService.Invalidation;
import io.ebbfs.namespace.store.Key;
import io.ebbfs.namespace.store.RowLock;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.namespace.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Stripes as rows: tombstones, and which stripes to look at. Thread-safe. */
public final class StripeManager implements StripeService {
  /** Hints beyond it are dropped: the slow scan finds those stripes. */
  private static final int MAX_HINTS = 100_000;

  private final BlockService blocks;
  private final Set<Long> toCheck = new LinkedHashSet<>();

  public StripeManager(BlockService blocks) {
    this.blocks = blocks;
  }

  @Override
  public List<RowLock> locksToRemove(List<Member> members) {
    return members.stream()
        .filter(member -> member.block().hasStripeId())
        .map(member -> member.block().getStripeId())
        .distinct()
        .map(id -> RowLock.exclusive(Tables.STRIPE, Tables.stripe(id)))
        .toList();
  }

  @Override
  public List<Invalidation> removeMembers(Transaction transaction, List<Member> members)
      throws IOException {
    lockStripes(transaction, members);
    Map<Long, List<Member>> byStripe = new TreeMap<>();
    for (Member member : members) {
      byStripe
          .computeIfAbsent(member.block().getStripeId(), ignored -> new ArrayList<>())
          .add(member);
    }
    List<Invalidation> gone = new ArrayList<>();
    for (Map.Entry<Long, List<Member>> entry : byStripe.entrySet()) {
      gone.addAll(removeFrom(transaction, entry.getKey(), entry.getValue()));
    }
    return gone;
  }

  /** Free if the caller has taken them; a stripe may have been converted since it looked. */
  private void lockStripes(Transaction transaction, List<Member> members) throws IOException {
    try {
      transaction.lock(locksToRemove(members));
    } catch (IllegalStateException e) {
      throw new IOException(
          "a stripe of the deleted blocks was converted meanwhile: take the locks anew and try again",
          e);
    }
  }

  private List<Invalidation> removeFrom(
      Transaction transaction, long stripeId, List<Member> members) throws IOException {
    Key key = Tables.stripe(stripeId);
    StripeRow row =
        transaction
            .get(Tables.STRIPE, key)
            .orElseThrow(
                () ->
                    new IOException(
                        "block %d says that it is in stripe %d, which does not exist: run the metadata check"
                            .formatted(members.get(0).block().getBlockId(), stripeId)));
    StripeRow.Builder changed = row.toBuilder().setGeneration(row.getGeneration() + 1);
    for (Member member : members) {
      bury(changed, member);
    }
    ErasureCode code = Codes.byName(row.getCode());
    if (changed.getMembersList().stream().noneMatch(m -> StripeState.isLiveData(code, m))) {
      return removeWhole(transaction, row, members);
    }
    for (Member member : members) {
      MemberRows.changeOwner(
          transaction,
          member.ownerId(),
          member.index(),
          stripeId,
          member.block().getStripePosition(),
          member.block().toBuilder().clearTransitionId().build());
    }
    transaction.put(Tables.STRIPE, key, changed.build());
    return List.of();
  }

  private static void bury(StripeRow.Builder stripe, Member member) throws IOException {
    BlockRow block = member.block();
    for (int i = 0; i < stripe.getMembersCount(); i++) {
      StripeMemberProto known = stripe.getMembers(i);
      if (known.getPosition() == block.getStripePosition()
          && known.getBlockId() == block.getBlockId()) {
        stripe.setMembers(
            i,
            known.toBuilder()
                .setTombstone(true)
                .setOwnerId(stripe.getId())
                .setOwnerIndex(known.getPosition()));
        return;
      }
    }
    throw new IOException(
        "stripe %d does not hold block %d at position %d, as the block's row says: run the metadata check"
            .formatted(stripe.getId(), block.getBlockId(), block.getStripePosition()));
  }

  /** Nobody's data is left: parities, tombstones and the last members go together. */
  private List<Invalidation> removeWhole(
      Transaction transaction, StripeRow row, List<Member> members) throws IOException {
    List<Invalidation> gone = new ArrayList<>();
    Map<Long, List<Long>> byFile = new TreeMap<>();
    for (Member member : members) {
      byFile.computeIfAbsent(member.ownerId(), ignored -> new ArrayList<>()).add(member.index());
    }
    for (Map.Entry<Long, List<Long>> file : byFile.entrySet()) {
      gone.addAll(blocks.release(transaction, file.getKey(), file.getValue()));
    }
    gone.addAll(blocks.release(transaction, row.getId(), ownIndices(row)));
    transaction.delete(Tables.STRIPE, Tables.stripe(row.getId()));
    return gone;
  }

  /** The blocks that the stripe itself owns: parities and tombstones. */
  public static List<Long> ownIndices(StripeRow row) {
    return row.getMembersList().stream()
        .filter(member -> member.getOwnerId() == row.getId())
        .map(member -> (long) member.getOwnerIndex())
        .toList();
  }

  @Override
  public void check(long stripeId) {
    synchronized (toCheck) {
      if (toCheck.size() < MAX_HINTS) {
        toCheck.add(stripeId);
      }
    }
  }

  /** Takes hints out, oldest first. */
  public List<Long> takeHints(int limit) {
    synchronized (toCheck) {
      List<Long> taken = new ArrayList<>();
      Iterator<Long> all = toCheck.iterator();
      while (all.hasNext() && taken.size() < limit) {
        taken.add(all.next());
        all.remove();
      }
      return taken;
    }
  }
}
