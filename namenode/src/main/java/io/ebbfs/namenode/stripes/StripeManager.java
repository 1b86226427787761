package io.ebbfs.namenode.stripes;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.replicas.BlockService.Invalidation;
import io.ebbfs.namenode.replicas.DecodeSources;
import io.ebbfs.namenode.replicas.MemberMove;
import io.ebbfs.namenode.replicas.StripeService;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.StaleReadException;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Changes the rows of stripes when blocks are deleted, and keeps the hints which stripes the repair
 * scanner should look at. Thread-safe.
 *
 * <p>A block of a deleted file becomes a tombstone of its stripe: the stripe owns the block from
 * then on, because the parities still cover it. When a stripe has no live data any more, it is
 * deleted with all its blocks.
 */
public final class StripeManager implements StripeService {
  /** Hints of one kind in memory. */
  private static final int MAX_HINTS = 100_000;

  /** Stripes of which it is remembered why they cannot leave a drained server. */
  private static final int MAX_STUCK = 1_000;

  /** Wishes to level disks that wait. */
  private static final int MAX_LEVEL_WISHES = 64;

  private final CodeRegistry codes;
  private final BlockService blocks;
  private final ClusterView cluster;
  private final int maxHints;
  // The sets of hints are guarded by toCheck.
  private final Set<Long> toCheck = new LinkedHashSet<>();
  private final Set<Long> toCheckForRisk = new LinkedHashSet<>();
  private final Set<Long> toCheckForDrain = new LinkedHashSet<>();
  private final Map<Long, MemberMove> toLevel = new LinkedHashMap<>();
  private final Set<Long> levelInHand = new HashSet<>();
  // How many wishes the scanner would have taken when it last took some.
  private int levelRoom = MAX_LEVEL_WISHES;
  private final Set<Long> inHand = new HashSet<>();
  private final Map<Long, String> stuck = new ConcurrentHashMap<>();

  public StripeManager(CodeRegistry codes, BlockService blocks, ClusterView cluster) {
    this(codes, blocks, cluster, MAX_HINTS);
  }

  /** With another limit of hints. */
  public StripeManager(CodeRegistry codes, BlockService blocks, ClusterView cluster, int maxHints) {
    this.codes = codes;
    this.blocks = blocks;
    this.cluster = cluster;
    this.maxHints = maxHints;
  }

  @Override
  public DecodeSources decodeSources(Transaction transaction, BlockRow block) throws IOException {
    return DecodeSourceFinder.find(transaction, codes, cluster, block);
  }

  @Override
  public boolean decodes(Transaction transaction, BlockRow block, ClusterView view)
      throws IOException {
    return DecodeSourceFinder.decodes(transaction, codes, view, block);
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

  /**
   * Locks the stripes of the members. The caller mostly holds these locks already; it holds the
   * wrong locks if a stripe was converted after the caller had looked it up.
   *
   * @throws StaleReadException if the locks that are held do not allow the missing ones: the caller
   *     takes all locks anew
   */
  private void lockStripes(Transaction transaction, List<Member> members) throws IOException {
    try {
      transaction.lock(locksToRemove(members));
    } catch (IllegalStateException e) {
      throw new StaleReadException(
          "a stripe of the deleted blocks was converted: " + e.getMessage());
    }
  }

  private List<Invalidation> removeFrom(
      Transaction transaction, long stripeId, List<Member> members) throws IOException {
    Key key = Tables.stripe(stripeId);
    StripeRow row = stripe(transaction, stripeId, members.get(0));
    StripeRow.Builder changed = row.toBuilder().setGeneration(row.getGeneration() + 1);
    for (Member member : members) {
      makeTombstone(changed, member);
    }
    ErasureCode code = codes.byName(row.getCode());
    if (changed.getMembersList().stream().noneMatch(m -> StripeState.isLiveData(code, m))) {
      return removeWhole(transaction, row, members);
    }
    for (Member member : members) {
      BlockRows.changeOwner(
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

  private static StripeRow stripe(Transaction transaction, long stripeId, Member member)
      throws IOException {
    return transaction
        .get(Tables.STRIPE, Tables.stripe(stripeId))
        .orElseThrow(
            () ->
                new IOException(
                    "block %d says that it is in stripe %d, which does not exist: run the metadata check"
                        .formatted(member.block().getBlockId(), stripeId)));
  }

  private static void makeTombstone(StripeRow.Builder stripe, Member member) throws IOException {
    int i = indexOf(stripe, member.block());
    StripeMemberProto known = stripe.getMembers(i);
    stripe.setMembers(
        i,
        known.toBuilder()
            .setTombstone(true)
            .setOwnerId(stripe.getId())
            .setOwnerIndex(known.getPosition()));
  }

  /** Where the row of a stripe has the member that is this block. */
  private static int indexOf(StripeRow.Builder stripe, BlockRow block) throws IOException {
    for (int i = 0; i < stripe.getMembersCount(); i++) {
      StripeMemberProto known = stripe.getMembers(i);
      if (known.getPosition() == block.getStripePosition()
          && known.getBlockId() == block.getBlockId()) {
        return i;
      }
    }
    throw new IOException(
        "stripe %d does not hold block %d at position %d, as the block's row says: run the metadata check"
            .formatted(stripe.getId(), block.getBlockId(), block.getStripePosition()));
  }

  @Override
  public void changeOwners(Transaction transaction, List<MovedMember> moved) throws IOException {
    Map<Long, List<MovedMember>> byStripe = new TreeMap<>();
    for (MovedMember one : moved) {
      byStripe
          .computeIfAbsent(one.member().block().getStripeId(), ignored -> new ArrayList<>())
          .add(one);
    }
    for (Map.Entry<Long, List<MovedMember>> entry : byStripe.entrySet()) {
      StripeRow row = stripe(transaction, entry.getKey(), entry.getValue().get(0).member());
      StripeRow.Builder changed = row.toBuilder().setGeneration(row.getGeneration() + 1);
      for (MovedMember one : entry.getValue()) {
        int i = indexOf(changed, one.member().block());
        changed.setMembers(
            i,
            changed.getMembers(i).toBuilder()
                .setOwnerId(one.newOwnerId())
                .setOwnerIndex((int) one.newIndex()));
      }
      transaction.put(Tables.STRIPE, Tables.stripe(row.getId()), changed.build());
    }
  }

  /** Deletes a stripe without live data: its parities, its tombstones and its last members. */
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

  /** The owner indices of the blocks that the stripe itself owns: parities and tombstones. */
  public static List<Long> ownIndices(StripeRow row) {
    return row.getMembersList().stream()
        .filter(member -> member.getOwnerId() == row.getId())
        .map(member -> (long) member.getOwnerIndex())
        .toList();
  }

  @Override
  public void check(long stripeId) {
    offer(stripeId, false);
  }

  @Override
  public boolean offer(long stripeId, boolean onlyAtRisk) {
    synchronized (toCheck) {
      Set<Long> hints = onlyAtRisk ? toCheckForRisk : toCheck;
      return hints.contains(stripeId) || (hints.size() < maxHints && hints.add(stripeId));
    }
  }

  @Override
  public void checkLeaving(long stripeId) {
    synchronized (toCheck) {
      if (toCheckForDrain.size() < maxHints) {
        toCheckForDrain.add(stripeId);
      }
    }
  }

  @Override
  public boolean level(MemberMove wish) {
    synchronized (toCheck) {
      return mayLevel() && toLevel.putIfAbsent(wish.stripeId(), wish) == null;
    }
  }

  @Override
  public boolean mayLevel() {
    synchronized (toCheck) {
      return toLevel.size() < Math.min(MAX_LEVEL_WISHES, levelRoom);
    }
  }

  @Override
  public boolean withdrawLevel(long stripeId) {
    synchronized (toCheck) {
      return toLevel.remove(stripeId) != null;
    }
  }

  @Override
  public boolean awaitsLevel(long stripeId) {
    synchronized (toCheck) {
      return toLevel.containsKey(stripeId) || levelInHand.contains(stripeId);
    }
  }

  @Override
  public boolean isLevelling(Transaction transaction, long stripeId) throws IOException {
    Optional<StripeRow> stripe = transaction.get(Tables.STRIPE, Tables.stripe(stripeId));
    return stripe.isPresent()
        && stripe.get().hasTransitionId()
        && transaction
            .get(Tables.TRANSITION, Tables.transition(stripe.get().getTransitionId()))
            .filter(TransitionRow::hasLevelTo)
            .isPresent();
  }

  /**
   * Takes wishes to level disks, the oldest first. The caller says with {@link #levelled} that each
   * is a transition or refused. New wishes are taken up only while this limit allows them: others
   * would wait for as long as other re-placements take.
   */
  public List<MemberMove> takeLevelWishes(int limit) {
    synchronized (toCheck) {
      levelRoom = limit;
      List<MemberMove> taken = toLevel.values().stream().limit(limit).toList();
      taken.forEach(wish -> toLevel.remove(wish.stripeId()));
      taken.forEach(wish -> levelInHand.add(wish.stripeId()));
      return taken;
    }
  }

  /** Wishes that were taken have become transitions, or are refused. */
  public void levelled(List<MemberMove> taken) {
    synchronized (toCheck) {
      taken.forEach(wish -> levelInHand.remove(wish.stripeId()));
    }
  }

  /** Takes hints of stripes with blocks on servers that are drained, the oldest first. */
  public List<Long> takeLeaving(int limit) {
    synchronized (toCheck) {
      return takeFirst(toCheckForDrain, limit);
    }
  }

  @Override
  public boolean awaitsCheck(long stripeId) {
    synchronized (toCheck) {
      return toCheck.contains(stripeId)
          || toCheckForRisk.contains(stripeId)
          || inHand.contains(stripeId);
    }
  }

  @Override
  public Optional<String> whyStuck(long stripeId) {
    return Optional.ofNullable(stuck.get(stripeId));
  }

  @Override
  public Optional<String> whyNotSafeWithout(
      Transaction transaction, long stripeId, Set<String> awayServerUuids) throws IOException {
    Optional<StripeRow> row = transaction.get(Tables.STRIPE, Tables.stripe(stripeId));
    if (row.isEmpty()) {
      return Optional.empty();
    }
    StripeState stripe = StripeState.read(transaction, codes, cluster, row.get());
    Set<Integer> away = new TreeSet<>();
    stripe
        .locations()
        .forEach(
            (position, storages) -> {
              if (awayServerUuids.containsAll(cluster.serversOf(storages))) {
                away.add(position);
              }
            });
    StripeState without = stripe.without(away);
    if (!without.code().decodes(without.lost()) || without.isLostWithNextServer(cluster)) {
      return Optional.of(
          "stripe %d in %s would lack its positions %s, and would not survive the loss of another server"
              .formatted(stripeId, row.get().getCode(), without.lost()));
    }
    return Optional.empty();
  }

  /** Notes why blocks of a stripe cannot leave a drained server. Some of the reasons are kept. */
  public void noteStuck(long stripeId, String reason) {
    if (stuck.size() < MAX_STUCK || stuck.containsKey(stripeId)) {
      stuck.put(stripeId, reason);
    }
  }

  /** Nothing keeps blocks of a stripe on a drained server, or the stripe is gone. */
  public void noteNotStuck(long stripeId) {
    stuck.remove(stripeId);
  }

  /**
   * Takes hints, the oldest first. The caller says with {@link #checked} what it has done.
   *
   * @param onlyAtRisk the hints of stripes that are to be repaired only if they are at risk
   */
  public List<Long> takeHints(boolean onlyAtRisk, int limit) {
    synchronized (toCheck) {
      List<Long> taken = takeFirst(onlyAtRisk ? toCheckForRisk : toCheck, limit);
      inHand.addAll(taken);
      return taken;
    }
  }

  private static List<Long> takeFirst(Set<Long> hints, int limit) {
    List<Long> taken = new ArrayList<>();
    Iterator<Long> all = hints.iterator();
    while (all.hasNext() && taken.size() < limit) {
      taken.add(all.next());
      all.remove();
    }
    return taken;
  }

  /** A stripe whose hint was taken was looked at, or could not be. */
  public void checked(long stripeId) {
    synchronized (toCheck) {
      inHand.remove(stripeId);
    }
  }
}
