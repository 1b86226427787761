package io.ebbfs.namespace.transition;

import io.ebbfs.namespace.block.BlockService;
import io.ebbfs.namespace.block.BlockService.Invalidation;
import io.ebbfs.namespace.store.Key;
import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.namespace.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.BlockOwnerRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionBlockProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionOutputProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStripeProto;
import io.ebbfs.settings.FailPoint;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * How transitions end and start again: the marks on blocks and stripes, the reserved outputs, the
 * attempts. Every change of state is one transaction together with what it means for other rows.
 * Thread-safe.
 */
public final class Lifecycle {
  /** What came of a change: the row as committed, and replicas to be deleted now. */
  record Ended(TransitionRow row, List<Invalidation> orphans) {}

  private final MetadataStore store;
  private final BlockService blocks;
  private final TransitionIndex index;
  private final Counters counters;
  private final Clock clock;
  private final TransitionSettings settings;

  public Lifecycle(
      MetadataStore store,
      BlockService blocks,
      TransitionIndex index,
      Counters counters,
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

  /** Makes a committed change known. */
  void committed(TransitionRow row) {
    if (row.getState() == TransitionStateProto.PLANNED && row.getAttempt() == 0) {
      FailPoint.NAMENODE_PLANNED.reach();
    }
    index.update(row);
    if (!TransitionIndex.isActive(row.getState())) {
      counters.add("transitions." + row.getKind() + "." + row.getState(), 1);
    }
  }

  /**
   * Ends an attempt that brought nothing: its reserved outputs are given up; it is planned again
   * after a back-off, or has failed for good after too many.
   *
   * @param attempt the attempt meant; another one is left alone
   * @return the state after it; empty if that attempt is not running any more
   */
  public Optional<TransitionStateProto> retryLater(long id, int attempt, String reason)
      throws IOException {
    return retryLater(id, attempt, reason, Optional.empty());
  }

  /** As above; where it has failed for good, it ends as what was missing says. */
  Optional<TransitionStateProto> retryLater(
      long id, int attempt, String reason, Optional<Shortage> shortage) throws IOException {
    return end(
        id,
        row -> TransitionIndex.isActive(row.getState()) && row.getAttempt() == attempt,
        row -> afterFailure(row, shortage.map(Shortage::endsAs)),
        reason,
        shortage);
  }

  private TransitionStateProto afterFailure(
      TransitionRow row, Optional<TransitionStateProto> otherEnd) {
    return isLast(row)
        ? otherEnd.orElse(TransitionStateProto.FAILED)
        : TransitionStateProto.PLANNED;
  }

  /** Whether the transition ends if it cannot be run this time. */
  boolean isLast(TransitionRow row) {
    return row.getAttempt() >= settings.maxAttempts();
  }

  /** As {@link #retryLater}, if the claim has not been renewed meanwhile. */
  public Optional<TransitionStateProto> expire(long id) throws IOException {
    return end(
        id,
        row ->
            row.getState() == TransitionStateProto.RUNNING
                && row.getLeaseEndsMillis() < clock.millis(),
        row -> afterFailure(row, Optional.empty()),
        "the worker did not renew its claim in time");
  }

  /** Ends an active transition that is not needed any more. */
  public Optional<TransitionStateProto> drop(long id, String reason) throws IOException {
    return end(
        id,
        row -> TransitionIndex.isActive(row.getState()),
        row -> TransitionStateProto.DROPPED,
        reason);
  }

  private interface Condition {
    boolean holds(TransitionRow row);
  }

  private interface Outcome {
    TransitionStateProto of(TransitionRow row);
  }

  private Optional<TransitionStateProto> end(
      long id, Condition condition, Outcome outcome, String reason) throws IOException {
    return end(id, condition, outcome, reason, Optional.empty());
  }

  private Optional<TransitionStateProto> end(
      long id, Condition condition, Outcome outcome, String reason, Optional<Shortage> shortage)
      throws IOException {
    Optional<Ended> ended =
        OwnerLocks.transact(
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
                throw new ChangedMeanwhileException("transition " + id + " changed meanwhile");
              }
              return Optional.of(
                  write(
                      transaction, locked.get(), kept, outcome.of(locked.get()), reason, shortage));
            });
    ended.ifPresent(
        e -> {
          committed(e.row());
          blocks.invalidate(e.orphans());
        });
    return ended.map(e -> e.row().getState());
  }

  private Ended write(
      Transaction transaction,
      TransitionRow row,
      Map<TransitionOutputProto, Long> keptOutputs,
      TransitionStateProto state,
      String reason,
      Optional<Shortage> shortage)
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
    List<Invalidation> orphans = giveUpOutputs(transaction, row);
    TransitionRow.Builder changed =
        row.toBuilder()
            .setState(state)
            .setUpdatedMillis(clock.millis())
            .setFailure(reason)
            .clearOutputs()
            .clearWorker()
            .clearLeaseEndsMillis();
    if (state == TransitionStateProto.PLANNED) {
      // A claim raises the attempt; what could not even be planned counts as one too.
      boolean claimed = row.getState() == TransitionStateProto.RUNNING;
      int attempt = claimed ? row.getAttempt() : row.getAttempt() + 1;
      changed
          .setAttempt(attempt)
          .setNotBeforeMillis(clock.millis() + settings.backOffMillis(attempt));
    } else {
      clearMarks(transaction, row);
      shortage.ifPresent(missing -> describe(changed, reason, missing));
    }
    TransitionRow after = changed.build();
    transaction.put(Tables.TRANSITION, key(row.getId()), after);
    return new Ended(after, orphans);
  }

  private static void describe(TransitionRow.Builder row, String reason, Shortage missing) {
    row.setFailure(reason + "; " + missing.remedy())
        .setMissingBytes(missing.missingBytes())
        .setClusterServers(missing.servers())
        .setClusterDisks(missing.disks())
        .setClusterFreeBytes(missing.freeBytes());
  }

  /**
   * Locks the transition, the owners of what it copies and rebuilds, and, if it ends for good, all
   * that it has marked.
   *
   * @return the outputs that have an owner, as {@link #keptOutputs}
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
    } else {
      stripes.retainAll(owners);
    }
    OwnerLocks.lock(transaction, files, stripes, Set.of(row.getId()));
    if (!keptOutputs(transaction, row).equals(kept)) {
      throw new ChangedMeanwhileException("blocks of transition " + row.getId() + " changed hands");
    }
    return kept;
  }

  /** The owners of outputs that have one: a copy or a rebuilt block keeps its id. */
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

  static Set<Long> files(TransitionRow row) {
    Set<Long> files = new TreeSet<>();
    row.getBlocksList().forEach(block -> files.add(block.getOwnerId()));
    return files;
  }

  static Set<Long> stripes(TransitionRow row) {
    Set<Long> stripes = new TreeSet<>();
    row.getStripesList().forEach(stripe -> stripes.add(stripe.getStripeId()));
    return stripes;
  }

  /** Deletes the reservations of the outputs; the caller holds the transition's lock. */
  static List<Invalidation> giveUpOutputs(Transaction transaction, TransitionRow row)
      throws IOException {
    List<Invalidation> orphans = new ArrayList<>();
    for (TransitionOutputProto output : row.getOutputsList()) {
      Key key = Tables.blockOwner(output.getBlockId());
      Optional<BlockOwnerRow> owner = transaction.get(Tables.BLOCK_OWNER, key);
      // A copy or a rebuilt block keeps its id: it belongs to a file or a stripe, and stays.
      if (owner.isPresent()
          && !owner.get().hasOwnerId()
          && owner.get().getTransitionId() == row.getId()) {
        transaction.delete(Tables.BLOCK_OWNER, key);
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

  /** Takes the marks off blocks and stripes; the caller holds all their locks. */
  static void clearMarks(Transaction transaction, TransitionRow row) throws IOException {
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

  static Key key(long transitionId) {
    return Tables.transition(transitionId);
  }
}
