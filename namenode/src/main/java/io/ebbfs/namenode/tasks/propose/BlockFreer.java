package io.ebbfs.namenode.tasks.propose;

import io.ebbfs.namenode.replicas.EncodedBlocks;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.namenode.stripes.StripeState;
import io.ebbfs.namenode.tasks.lifecycle.TransitionContext;
import io.ebbfs.namenode.tasks.lifecycle.TransitionPriority;
import io.ebbfs.namenode.tasks.lifecycle.TransitionRegistrar;
import io.ebbfs.namenode.tasks.plan.RepairAttemptPlanner;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStripeProto;
import java.io.IOException;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongConsumer;

/**
 * Frees single blocks because a client changes their file: drops the transition that is about to
 * encode a block, or plans a RELEASE of a block that is in a stripe. Thread-safe.
 */
public final class BlockFreer implements EncodedBlocks {
  private final TransitionContext context;
  private final LongConsumer repairs;

  /**
   * @param repairs has a stripe repaired now, also if its lost blocks may come back soon
   */
  public BlockFreer(TransitionContext context, LongConsumer repairs) {
    this.context = context;
    this.repairs = repairs;
  }

  @Override
  public void free(long fileId, BlockRow block) throws IOException {
    if (!block.hasStripeId()) {
      context.lifecycle().drop(block.getTransitionId(), "a client changes file " + fileId);
      return;
    }
    Optional<StripeRow> stripe = stripeOf(block);
    if (stripe.isEmpty()) {
      return; // converted meanwhile: the next call finds the block's new stripe
    }
    if (obstacle(block).isPresent()) {
      repairs.accept(block.getStripeId());
      return;
    }
    if (stripe.get().hasTransitionId()) {
      yieldToRelease(stripe.get().getTransitionId(), fileId);
      stripe = stripeOf(block);
    }
    if (stripe.isPresent() && !stripe.get().hasTransitionId()) {
      release(fileId, block, stripe.get());
    }
  }

  private Optional<StripeRow> stripeOf(BlockRow block) throws IOException {
    return context
        .store()
        .transact(
            block.getStripeId(),
            transaction -> transaction.get(Tables.STRIPE, Tables.stripe(block.getStripeId())));
  }

  /** A repair goes first, and so does the rewrite that rescues the data of a broken stripe. */
  @Override
  public Optional<Obstacle> obstacle(BlockRow block) throws IOException {
    Optional<Seen> seen = block.hasStripeId() ? stateOf(block) : Optional.empty();
    return seen.isEmpty() || seen.get().stripe().lost().isEmpty()
        ? Optional.empty()
        : Optional.of(obstacle(block, seen.get()));
  }

  private static Obstacle obstacle(BlockRow block, Seen seen) {
    StripeState state = seen.stripe();
    if (isUnreadable(state, seen.forGood())) {
      return new Obstacle(
          RepairAttemptPlanner.unrecoverable(state, state.lost())
              + ", or delete the files that have lost blocks",
          true);
    }
    boolean unreadable = isUnreadable(state, state.lost());
    String whatHelps =
        unreadable
            ? "come back, whose servers are awaited: start them, or end their hibernation"
            : "are repaired: see that chunk servers with free space run";
    return new Obstacle(
        "block %d leaves stripe %d once the lost positions %s %s"
            .formatted(block.getBlockId(), state.id(), state.lost(), whatHelps),
        false,
        unreadable && seen.starting());
  }

  /** Whether live data of a stripe is at positions that cannot be rebuilt if these are lost. */
  private static boolean isUnreadable(StripeState state, Set<Integer> lost) {
    Set<Integer> unreadable = new TreeSet<>(lost);
    unreadable.removeAll(RepairAttemptPlanner.rebuildable(state, lost));
    return unreadable.stream()
        .anyMatch(position -> StripeState.isLiveData(state.code(), state.members().get(position)));
  }

  /**
   * A stripe as read.
   *
   * @param forGood the lost positions of which nobody waits for their servers
   * @param starting whether the namenode is in safe mode
   */
  private record Seen(StripeState stripe, Set<Integer> forGood, boolean starting) {}

  private Optional<Seen> stateOf(BlockRow block) throws IOException {
    return context
        .store()
        .transact(
            block.getStripeId(),
            transaction -> {
              Optional<StripeRow> row =
                  transaction.get(Tables.STRIPE, Tables.stripe(block.getStripeId()));
              return row.isEmpty()
                  ? Optional.<Seen>empty()
                  : Optional.of(
                      see(
                          transaction,
                          StripeState.read(
                              transaction, context.codes(), context.cluster(), row.get())));
            });
  }

  /** No server is lost for good before safe mode ends: each one may register yet. */
  private Seen see(Transaction transaction, StripeState stripe) throws IOException {
    if (context.cluster().inSafeMode()) {
      return new Seen(stripe, Set.of(), true);
    }
    long since = context.settings().lostLongAgoMillis(context.clock().millis());
    return new Seen(stripe, stripe.lostForGood(transaction, context.cluster(), since), false);
  }

  /** Drops what has not begun and may begin much later. What runs ends by itself. */
  private void yieldToRelease(long transitionId, long fileId) throws IOException {
    Optional<TransitionRow> row = context.lifecycle().read(transitionId);
    boolean waits =
        row.isPresent()
            && row.get().getState() == TransitionStateProto.PLANNED
            && switch (row.get().getKind()) {
              case UPCODE, DOWNCODE, REWRITE, SUBTRACT, MOVE -> true;
              case ENCODE, REPAIR, RELEASE -> false;
            };
    if (waits) {
      context.lifecycle().drop(transitionId, "file " + fileId + " is truncated first");
    }
  }

  private void release(long fileId, BlockRow block, StripeRow stripe) throws IOException {
    long now = context.clock().millis();
    TransitionRow.Builder row =
        TransitionRow.newBuilder()
            .setId(context.ids().transitions().next())
            .setKind(TransitionKindProto.RELEASE)
            .setState(TransitionStateProto.PLANNED)
            .setPolicy(stripe.getPolicy())
            .setFromCode(stripe.getCode())
            .setToCode(stripe.getCode())
            .setReason("file %d is truncated within block %d".formatted(fileId, block.getBlockId()))
            .setCreatedMillis(now)
            .setUpdatedMillis(now)
            .setPriority(TransitionPriority.of(TransitionKindProto.DOWNCODE)) // a client waits
            .setAttempt(0)
            .addStripes(
                TransitionStripeProto.newBuilder()
                    .setStripeId(stripe.getId())
                    .setGeneration(stripe.getGeneration())
                    .addPositions(block.getStripePosition()));
    if (stripe.getSingle()) {
      row.setSingle(true);
    }
    TransitionRegistrar.register(context, row.build(), stripe);
  }
}
