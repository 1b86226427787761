package io.ebbfs.namenode.tasks.lifecycle;

import io.ebbfs.common.failpoint.FailPoint;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.replicas.BlockService.Invalidation;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.OwnerLocks;
import io.ebbfs.namenode.store.PersistentCounters;
import io.ebbfs.namenode.store.StaleReadException;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockOwnerRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionBlockProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionOutputProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStripeProto;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends transitions, and plans them again after a failed attempt. One transaction changes the state
 * of a transition, the marks on its blocks and stripes, and the reservations of its output blocks.
 * Thread-safe.
 *
 * <p>A failed attempt goes back to PLANNED with a back-off ({@link #retryLater}); after too many
 * attempts the transition ends as FAILED, NO_SPACE or NO_DOMAINS.
 */
public final class TransitionLifecycle {
  private static final Logger LOG = LoggerFactory.getLogger(TransitionLifecycle.class);

  /** The row as committed, and the replicas to delete after the commit. */
  private record Ended(TransitionRow row, List<Invalidation> orphans) {}

  private final MetadataStore store;
  private final BlockService blocks;
  private final TransitionIndex index;
  private final PersistentCounters counters;
  private final Clock clock;
  private final TransitionSettings settings;

  public TransitionLifecycle(
      MetadataStore store,
      BlockService blocks,
      TransitionIndex index,
      PersistentCounters counters,
      Clock clock,
      TransitionSettings settings) {
    this.store = store;
    this.blocks = blocks;
    this.index = index;
    this.counters = counters;
    this.clock = clock;
    this.settings = settings;
  }

  public Optional<TransitionRow> read(long id) throws IOException {
    return store.transact(id, transaction -> transaction.get(Tables.TRANSITION, key(id)));
  }

  /** Tells the index and the counters of a committed change. */
  public void committed(TransitionRow row) {
    if (row.getState() == TransitionStateProto.PLANNED && row.getAttempt() == 0) {
      FailPoint.NAMENODE_PLANNED.reach();
    }
    index.update(row);
    if (!TransitionIndex.isActive(row.getState())) {
      counters.add("transitions." + row.getKind() + "." + row.getState(), 1);
    }
  }

  /**
   * Ends an attempt that failed. The reservations of its outputs are deleted. The transition is
   * planned again after a back-off; after the last attempt it has failed for good.
   *
   * @param attempt the number of the failed attempt; nothing changes if another attempt runs by now
   * @return the state afterwards; empty if nothing has changed
   */
  public Optional<TransitionStateProto> retryLater(long id, int attempt, String reason)
      throws IOException {
    return retryLater(id, attempt, reason, Optional.empty());
  }

  /**
   * Ends an attempt as {@link #retryLater(long, int, String)} does. If it was the last attempt, the
   * transition ends in the state that the shortage names.
   */
  public Optional<TransitionStateProto> retryLater(
      long id, int attempt, String reason, Optional<PlacementShortage> shortage)
      throws IOException {
    return end(
        id,
        row -> TransitionIndex.isActive(row.getState()) && row.getAttempt() == attempt,
        row -> afterFailure(row, shortage.map(PlacementShortage::endsAs)),
        reason,
        shortage,
        false);
  }

  /**
   * Ends an attempt as {@link #retryLater(long, int, String)} does, because its commit was refused.
   * A rewrite goes on with half of its stripes: the fewer there are, the less likely another
   * deletion refuses the next commit.
   */
  public void refused(long id, int attempt, String reason) throws IOException {
    end(
        id,
        row -> TransitionIndex.isActive(row.getState()) && row.getAttempt() == attempt,
        row -> afterFailure(row, Optional.empty()),
        reason,
        Optional.empty(),
        true);
  }

  private TransitionStateProto afterFailure(
      TransitionRow row, Optional<TransitionStateProto> otherEnd) {
    return isLast(row)
        ? otherEnd.orElse(TransitionStateProto.FAILED)
        : TransitionStateProto.PLANNED;
  }

  /** Whether the transition ends if this attempt fails. */
  public boolean isLast(TransitionRow row) {
    return row.getAttempt() >= settings.maxAttempts();
  }

  /** Ends an attempt as {@link #retryLater} does, if its lease has ended. */
  public Optional<TransitionStateProto> expire(long id) throws IOException {
    return end(
        id,
        row ->
            row.getState() == TransitionStateProto.RUNNING
                && row.getLeaseEndsMillis() < clock.millis(),
        row -> afterFailure(row, Optional.empty()),
        "the worker did not renew its claim in time");
  }

  /** Ends an active transition that is no longer needed. */
  public Optional<TransitionStateProto> drop(long id, String reason) throws IOException {
    return end(
        id,
        row -> TransitionIndex.isActive(row.getState()),
        row -> TransitionStateProto.DROPPED,
        reason);
  }

  /**
   * Ends an encoding, a conversion or a release by order of an operator. It ends as FAILED, so that
   * the manager leaves its data alone for a while.
   *
   * @return why nothing was cancelled; empty if the transition has ended
   */
  public Optional<String> cancel(long id, String reason) throws IOException {
    Optional<TransitionStateProto> after =
        end(
            id,
            row -> TransitionIndex.isActive(row.getState()) && isOrderedByManager(row),
            row -> TransitionStateProto.FAILED,
            reason);
    return after.isPresent() ? Optional.empty() : Optional.of(whyNotCancelled(id));
  }

  /** The same because of an attempt, if no later one has begun. */
  public void cancel(long id, int attempt, String reason) throws IOException {
    end(
        id,
        row ->
            TransitionIndex.isActive(row.getState())
                && row.getAttempt() == attempt
                && isOrderedByManager(row),
        row -> TransitionStateProto.FAILED,
        reason);
  }

  private static boolean isOrderedByManager(TransitionRow row) {
    return switch (row.getKind()) {
      case ENCODE, UPCODE, DOWNCODE, RELEASE -> true;
      case REPAIR, REWRITE, SUBTRACT, MOVE -> false;
    };
  }

  private String whyNotCancelled(long id) throws IOException {
    Optional<TransitionRow> row = read(id);
    if (row.isEmpty()) {
      return "there is no transition %d, or its row was deleted long after its end".formatted(id);
    }
    return isOrderedByManager(row.get())
        ? "transition %d has ended as %s".formatted(id, row.get().getState())
        : "transition %d is of kind %s: the namenode would plan it again at once"
            .formatted(id, row.get().getKind());
  }

  private interface Condition {
    boolean holds(TransitionRow row);
  }

  private interface Outcome {
    TransitionStateProto of(TransitionRow row);
  }

  private Optional<TransitionStateProto> end(
      long id, Condition condition, Outcome outcome, String reason) throws IOException {
    return end(id, condition, outcome, reason, Optional.empty(), false);
  }

  private Optional<TransitionStateProto> end(
      long id,
      Condition condition,
      Outcome outcome,
      String reason,
      Optional<PlacementShortage> shortage,
      boolean isRefused)
      throws IOException {
    Optional<Ended> ended =
        OptimisticTransactions.transact(
            store,
            id,
            transaction -> {
              Optional<TransitionRow> before = transaction.get(Tables.TRANSITION, key(id));
              if (before.isEmpty() || !condition.holds(before.get())) {
                return Optional.empty();
              }
              boolean forGood = !TransitionIndex.isActive(outcome.of(before.get()));
              Map<TransitionOutputProto, Long> kept = lockFor(transaction, before.get(), forGood);
              Optional<TransitionRow> locked = transaction.get(Tables.TRANSITION, key(id));
              if (!locked.equals(before)) {
                throw new StaleReadException("transition " + id + " changed meanwhile");
              }
              return Optional.of(
                  write(
                      transaction,
                      locked.get(),
                      kept,
                      outcome.of(locked.get()),
                      reason,
                      shortage,
                      isRefused));
            });
    ended.ifPresent(
        e -> {
          committed(e.row());
          blocks.invalidate(e.orphans());
          log(e.row());
        });
    return ended.map(e -> e.row().getState());
  }

  /** The row keeps the reason of its latest failure alone, so the log tells each of them. */
  private void log(TransitionRow row) {
    if (row.getState() == TransitionStateProto.PLANNED) {
      LOG.info(
          "transition {} ({}) failed in attempt {} of {} and is planned again: {}",
          row.getId(),
          row.getKind(),
          row.getAttempt(),
          settings.maxAttempts(),
          row.getFailure());
    } else if (row.getState() != TransitionStateProto.DROPPED) {
      LOG.warn(
          "transition {} ({}) has ended as {} after {} attempts: {}",
          row.getId(),
          row.getKind(),
          row.getState(),
          row.getAttempt(),
          row.getFailure());
    }
  }

  private Ended write(
      Transaction transaction,
      TransitionRow row,
      Map<TransitionOutputProto, Long> keptOutputs,
      TransitionStateProto state,
      String reason,
      Optional<PlacementShortage> shortage,
      boolean isRefused)
      throws IOException {
    for (Map.Entry<TransitionOutputProto, Long> kept : keptOutputs.entrySet()) {
      TransitionOutputProto output = kept.getKey();
      blocks.distrust(
          transaction,
          kept.getValue(),
          output.getBlockId(),
          output.getGenerationStamp(),
          output.getStorageUuid());
    }
    List<Invalidation> orphans = deleteReservations(transaction, row);
    TransitionRow.Builder changed =
        row.toBuilder()
            .setState(state)
            .setUpdatedMillis(clock.millis())
            .setFailure(reason)
            .clearOutputs()
            .clearWorker()
            .clearLeaseEndsMillis();
    if (state == TransitionStateProto.PLANNED) {
      // A claim counts the attempt. An attempt that could not be planned is counted here.
      boolean claimed = row.getState() == TransitionStateProto.RUNNING;
      int attempt = claimed ? row.getAttempt() : row.getAttempt() + 1;
      changed
          .setAttempt(attempt)
          .setNotBeforeMillis(clock.millis() + settings.backOffMillis(attempt));
      if (isRefused
          && row.getKind() == TransitionKindProto.REWRITE
          && row.getFromCode().equals(row.getToCode())) {
        giveUpHalf(transaction, changed);
      }
    } else {
      clearMarks(transaction, row);
      shortage.ifPresent(missing -> describe(changed, reason, missing));
    }
    TransitionRow after = changed.build();
    transaction.put(Tables.TRANSITION, key(row.getId()), after);
    return new Ended(after, orphans);
  }

  /**
   * Leaves the second half of the stripes of a rewrite to later rewrites, unless only one is left.
   * A rewrite in another code keeps its stripes, which were chosen to fill stripes of that code.
   */
  private static void giveUpHalf(Transaction transaction, TransitionRow.Builder row)
      throws IOException {
    List<TransitionStripeProto> stripes = List.copyOf(row.getStripesList());
    int half = (stripes.size() + 1) / 2;
    TransitionRow rest =
        TransitionRow.newBuilder()
            .setId(row.getId())
            .addAllStripes(stripes.subList(half, stripes.size()))
            .buildPartial();
    clearMarks(transaction, rest);
    row.clearStripes().addAllStripes(stripes.subList(0, half));
  }

  private static void describe(
      TransitionRow.Builder row, String reason, PlacementShortage missing) {
    row.setFailure(reason + "; " + missing.remedy())
        .setMissingBytes(missing.missingBytes())
        .setClusterServers(missing.servers())
        .setClusterDisks(missing.disks())
        .setClusterFreeBytes(missing.freeBytes());
  }

  /**
   * Locks the transition and the owners of the blocks that it copies or rebuilds. If the transition
   * ends for good, it also locks all blocks and stripes with its mark. A rewrite gives up stripes
   * when it fails, so it locks all its stripes.
   *
   * @return {@link #keptOutputs}
   */
  private static Map<TransitionOutputProto, Long> lockFor(
      Transaction transaction, TransitionRow row, boolean forGood) throws IOException {
    Map<TransitionOutputProto, Long> kept = keptOutputs(transaction, row);
    Set<Long> owners = new TreeSet<>(kept.values());
    Set<Long> stripes = stripes(row);
    Set<Long> files = new TreeSet<>(owners);
    files.removeAll(stripes);
    if (forGood) {
      files.addAll(files(row));
    } else if (row.getKind() != TransitionKindProto.REWRITE) {
      stripes.retainAll(owners);
    }
    OwnerLocks.lock(transaction, files, stripes, Set.of(row.getId()));
    if (!keptOutputs(transaction, row).equals(kept)) {
      throw new StaleReadException("blocks of transition " + row.getId() + " changed hands");
    }
    return kept;
  }

  /**
   * The owners of the outputs that have one. A copied or rebuilt block keeps its id and its owner;
   * a new parity has none until the commit.
   */
  private static Map<TransitionOutputProto, Long> keptOutputs(
      Transaction transaction, TransitionRow row) throws IOException {
    Map<TransitionOutputProto, Long> owners = new LinkedHashMap<>();
    for (TransitionOutputProto output : row.getOutputsList()) {
      transaction
          .get(Tables.BLOCK_OWNER, Tables.blockOwner(output.getBlockId()))
          .filter(BlockOwnerRow::hasOwnerId)
          .ifPresent(owner -> owners.put(output, owner.getOwnerId()));
    }
    return owners;
  }

  /** The files whose blocks the transition names. */
  public static Set<Long> files(TransitionRow row) {
    Set<Long> files = new TreeSet<>();
    row.getBlocksList().forEach(block -> files.add(block.getOwnerId()));
    return files;
  }

  /** The stripes that the transition names. */
  public static Set<Long> stripes(TransitionRow row) {
    Set<Long> stripes = new TreeSet<>();
    row.getStripesList().forEach(stripe -> stripes.add(stripe.getStripeId()));
    return stripes;
  }

  /** Deletes the reservations of the outputs. The caller holds the lock of the transition. */
  private static List<Invalidation> deleteReservations(Transaction transaction, TransitionRow row)
      throws IOException {
    List<Invalidation> orphans = new ArrayList<>();
    Set<Long> deleted = new HashSet<>(); // a new block may have several replicas
    for (TransitionOutputProto output : row.getOutputsList()) {
      Key key = Tables.blockOwner(output.getBlockId());
      Optional<BlockOwnerRow> owner = transaction.get(Tables.BLOCK_OWNER, key);
      // A copied or rebuilt block belongs to a file or a stripe: its blockOwner row stays.
      boolean isReserved =
          owner.isPresent()
              && !owner.get().hasOwnerId()
              && owner.get().getTransitionId() == row.getId();
      if (isReserved || deleted.contains(output.getBlockId())) {
        transaction.delete(Tables.BLOCK_OWNER, key);
        deleted.add(output.getBlockId());
        orphans.add(
            new Invalidation(
                output.getStorageUuid(),
                output.getBlockId(),
                output.getGenerationStamp(),
                output.getLengthBytes()));
      }
    }
    return orphans;
  }

  /** Clears the marks of a transition on blocks and stripes. The caller holds all their locks. */
  public static void clearMarks(Transaction transaction, TransitionRow row) throws IOException {
    for (TransitionBlockProto block : row.getBlocksList()) {
      Key key = Tables.block(block.getOwnerId(), block.getOwnerIndex());
      Optional<BlockRow> known = transaction.get(Tables.BLOCK, key);
      if (known.isPresent()
          && known.get().getBlockId() == block.getBlockId()
          && known.get().getTransitionId() == row.getId()) {
        transaction.put(Tables.BLOCK, key, known.get().toBuilder().clearTransitionId().build());
      }
    }
    for (TransitionStripeProto stripe : row.getStripesList()) {
      Key key = Tables.stripe(stripe.getStripeId());
      Optional<StripeRow> known = transaction.get(Tables.STRIPE, key);
      if (known.isPresent() && known.get().getTransitionId() == row.getId()) {
        transaction.put(Tables.STRIPE, key, known.get().toBuilder().clearTransitionId().build());
      }
    }
  }

  public static Key key(long transitionId) {
    return Tables.transition(transitionId);
  }
}
