package io.ebbfs.namenode.tasks.lifecycle;

import io.ebbfs.namenode.store.OwnerLocks;
import io.ebbfs.namenode.store.StoreFormat;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStripeProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * Registers a new transition over stripes: its row is written and each of its stripes gets its
 * mark, in one transaction. A stripe with a mark is in no second transition. Stateless.
 */
public final class TransitionRegistrar {
  private TransitionRegistrar() {}

  /** Locks the new transition and its stripes. */
  public static void lock(Transaction transaction, long id, Collection<Long> stripeIds)
      throws IOException {
    OwnerLocks.lock(transaction, List.of(), stripeIds, List.of(id));
  }

  /**
   * Marks a stripe as part of a transition; the caller holds the lock of the stripe.
   *
   * @param seen the row of the stripe as the transition was planned from it
   * @return false if the row has changed since; then nothing is written
   */
  public static boolean mark(Transaction transaction, long id, StripeRow seen) throws IOException {
    boolean unchanged = isUnchanged(transaction, seen);
    if (unchanged) {
      putMark(transaction, id, seen);
    }
    return unchanged;
  }

  private static boolean isUnchanged(Transaction transaction, StripeRow seen) throws IOException {
    return transaction.get(Tables.STRIPE, Tables.stripe(seen.getId())).equals(Optional.of(seen));
  }

  private static void putMark(Transaction transaction, long id, StripeRow seen) throws IOException {
    transaction.put(
        Tables.STRIPE, Tables.stripe(seen.getId()), seen.toBuilder().setTransitionId(id).build());
  }

  /**
   * Registers a transition over those of the stripes that have not changed, and makes it known.
   *
   * @param row the transition, without stripes
   * @param seen the rows of the stripes as the transition was planned from them
   * @return the transition with its stripes; empty if all have changed: then nothing is written
   */
  public static Optional<TransitionRow> registerUnchanged(
      TransitionContext context, TransitionRow row, List<StripeRow> seen) throws IOException {
    return register(context, row, seen, 1);
  }

  /**
   * Registers a transition over all of the stripes, and makes it known.
   *
   * @param row the transition, without stripes
   * @param seen the rows of the stripes as the transition was planned from them
   * @return the transition with its stripes; empty if one has changed: then nothing is written
   */
  public static Optional<TransitionRow> registerAll(
      TransitionContext context, TransitionRow row, List<StripeRow> seen) throws IOException {
    return register(context, row, seen, seen.size());
  }

  /**
   * @param fewest how many stripes must not have changed
   */
  private static Optional<TransitionRow> register(
      TransitionContext context, TransitionRow row, List<StripeRow> seen, int fewest)
      throws IOException {
    raiseFormat(context, row);
    long id = row.getId();
    Optional<TransitionRow> registered =
        context
            .store()
            .transact(
                id,
                transaction -> {
                  lock(transaction, id, seen.stream().map(StripeRow::getId).toList());
                  List<StripeRow> unchanged = unchanged(transaction, seen);
                  // What a body has written is committed even if the body returns nothing.
                  return unchanged.size() < fewest
                      ? Optional.empty()
                      : Optional.of(write(transaction, row, unchanged));
                });
    registered.ifPresent(context.lifecycle()::committed);
    return registered;
  }

  private static List<StripeRow> unchanged(Transaction transaction, List<StripeRow> seen)
      throws IOException {
    List<StripeRow> unchanged = new ArrayList<>();
    for (StripeRow stripe : seen) {
      if (isUnchanged(transaction, stripe)) {
        unchanged.add(stripe);
      }
    }
    return unchanged;
  }

  private static TransitionRow write(
      Transaction transaction, TransitionRow row, List<StripeRow> stripes) throws IOException {
    TransitionRow.Builder built = row.toBuilder();
    for (StripeRow stripe : stripes) {
      putMark(transaction, row.getId(), stripe);
      built.addStripes(
          TransitionStripeProto.newBuilder()
              .setStripeId(stripe.getId())
              .setGeneration(stripe.getGeneration()));
    }
    transaction.put(Tables.TRANSITION, Tables.transition(row.getId()), built.build());
    return built.build();
  }

  /**
   * Registers a transition over one stripe and makes it known.
   *
   * @param seen the row of the stripe as the transition was planned from it
   * @return false if the stripe has changed since; then nothing is written
   */
  public static boolean register(TransitionContext context, TransitionRow row, StripeRow seen)
      throws IOException {
    raiseFormat(context, row);
    Optional<TransitionRow> registered =
        context
            .store()
            .transact(
                row.getId(),
                transaction -> {
                  lock(transaction, row.getId(), List.of(seen.getId()));
                  if (!mark(transaction, row.getId(), seen)) {
                    return Optional.empty();
                  }
                  transaction.put(Tables.TRANSITION, Tables.transition(row.getId()), row);
                  return Optional.of(row);
                });
    registered.ifPresent(context.lifecycle()::committed);
    return registered.isPresent();
  }

  /**
   * Has older versions refuse the store by name before it has a row that they cannot parse. They
   * read all rows of transitions when they begin to lead, those of ended ones, too.
   */
  private static void raiseFormat(TransitionContext context, TransitionRow row) throws IOException {
    switch (row.getKind()) {
      case SUBTRACT, RELEASE -> StoreFormat.raiseToReleases(context.store());
      case ENCODE, UPCODE, DOWNCODE, REPAIR, REWRITE, MOVE -> {}
    }
  }
}
