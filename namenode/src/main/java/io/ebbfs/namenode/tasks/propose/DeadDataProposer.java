package io.ebbfs.namenode.tasks.propose;

import io.ebbfs.coding.packing.RewriteBatch;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.namenode.stripes.StripeState;
import io.ebbfs.namenode.tasks.lifecycle.TransitionContext;
import io.ebbfs.namenode.tasks.lifecycle.TransitionPriority;
import io.ebbfs.namenode.tasks.lifecycle.TransitionRegistrar;
import io.ebbfs.protocol.proto.CodingProtos.DecisionProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposedProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.words.TransitionKinds;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Creates the transitions that free the space of deleted data because a storage bound needs it: a
 * SUBTRACT for each stripe, or one REWRITE of all stripes of a decision, whose live blocks become
 * fewer stripes together. A REWRITE with another code as its target also brings live data to a code
 * to which no conversion leads.
 */
final class DeadDataProposer {
  private final TransitionContext context;

  DeadDataProposer(TransitionContext context) {
    this.context = context;
  }

  ProposedProto propose(DecisionProto decision) throws IOException {
    String what = TransitionKinds.show(decision.getKind());
    boolean rewrite = decision.getKind() == TransitionKindProto.REWRITE;
    if (decision.getStripeIdsCount() == 0) {
      return ProposalService.refusal(what + " names no stripe: give the ids of stripes");
    }
    if (rewrite && decision.getStripeIdsCount() > RewriteBatch.MOST_STRIPES) {
      return ProposalService.refusal(
          "%s of %d stripes together: send at most %d in one decision"
              .formatted(what, decision.getStripeIdsCount(), RewriteBatch.MOST_STRIPES));
    }
    List<String> refusals = new ArrayList<>();
    // Stripes that keep their code for good are placed by themselves, so they are rewritten apart.
    Map<Boolean, List<StripeRow>> bySingle = new TreeMap<>();
    for (long stripeId : new LinkedHashSet<>(decision.getStripeIdsList())) {
      find(stripeId, decision, refusals)
          .ifPresent(
              row ->
                  bySingle
                      .computeIfAbsent(isSingle(row, decision), s -> new ArrayList<>())
                      .add(row));
    }
    List<Long> transitions = new ArrayList<>();
    for (List<StripeRow> stripes : bySingle.values()) {
      for (List<StripeRow> together : rewrite ? List.of(stripes) : oneByOne(stripes)) {
        plan(decision, together, refusals).ifPresent(transitions::add);
      }
    }
    return ProposalService.result(transitions, refusals);
  }

  private static boolean isRecoded(StripeRow stripe, DecisionProto decision) {
    return !stripe.getCode().equals(decision.getToCode());
  }

  private static boolean isSingle(StripeRow stripe, DecisionProto decision) {
    return isRecoded(stripe, decision) ? decision.getSingle() : stripe.getSingle();
  }

  private static List<List<StripeRow>> oneByOne(List<StripeRow> stripes) {
    return stripes.stream().map(List::of).toList();
  }

  /** The row of a stripe that can be changed; otherwise a refusal is added. */
  private Optional<StripeRow> find(long stripeId, DecisionProto decision, List<String> refusals)
      throws IOException {
    return context
        .store()
        .transact(
            stripeId,
            transaction -> {
              Optional<StripeRow> row = transaction.get(Tables.STRIPE, Tables.stripe(stripeId));
              Optional<String> objection =
                  row.isEmpty()
                      ? Optional.of("stripe " + stripeId + " does not exist (any more)")
                      : objection(transaction, row.get(), decision);
              objection.ifPresent(refusals::add);
              return objection.isPresent() ? Optional.empty() : row;
            });
  }

  private Optional<String> objection(
      Transaction transaction, StripeRow stripe, DecisionProto decision) throws IOException {
    String name = "stripe " + stripe.getId();
    if (isRecoded(stripe, decision) && decision.getKind() == TransitionKindProto.SUBTRACT) {
      return Optional.of(
          "%s is in %s, not in %s: a %s keeps the code"
              .formatted(
                  name,
                  stripe.getCode(),
                  decision.getToCode(),
                  TransitionKinds.show(decision.getKind())));
    }
    Optional<String> busy = unavailable(context, transaction, stripe);
    if (busy.isPresent()) {
      return busy;
    }
    return decision.getKind() == TransitionKindProto.SUBTRACT
            && stripe.getMembersList().stream().noneMatch(StripeMemberProto::getTombstone)
        ? Optional.of(name + " has no deleted block: there is nothing to subtract")
        : Optional.empty();
  }

  /** Why no transition but a repair changes the stripe of a block group. */
  static String belongsToGroup(StripeRow stripe) {
    return "stripe %d is a block group of file %d, which keeps the code of its client: copy the file to a directory with another policy"
        .formatted(stripe.getId(), stripe.getGroupFileId());
  }

  /** Why no transition can change the stripe now; empty if one can. */
  static Optional<String> unavailable(
      TransitionContext context, Transaction transaction, StripeRow stripe) throws IOException {
    String name = "stripe " + stripe.getId();
    if (stripe.hasGroupFileId()) {
      return Optional.of(belongsToGroup(stripe));
    }
    if (stripe.hasTransitionId()) {
      return Optional.of(
          "%s is in transition %d already".formatted(name, stripe.getTransitionId()));
    }
    StripeState state = StripeState.read(transaction, context.codes(), context.cluster(), stripe);
    return state.lost().isEmpty()
        ? Optional.empty()
        : Optional.of(
            "%s has lost positions %s: they are repaired first".formatted(name, state.lost()));
  }

  private Optional<Long> plan(
      DecisionProto decision, List<StripeRow> stripes, List<String> refusals) throws IOException {
    TransitionRow.Builder row =
        ProposalService.newRow(context, context.ids().transitions().next(), decision)
            .setFromCode(stripes.get(0).getCode())
            // What the manager proposes takes a part of its limits until it is done.
            .setPriority(TransitionPriority.FOR_BOUND);
    if (isSingle(stripes.get(0), decision)) {
      row.setSingle(true);
    }
    Optional<TransitionRow> registered =
        TransitionRegistrar.registerUnchanged(context, row.build(), stripes);
    if (registered.isEmpty()) {
      refusals.add(
          "stripes %s changed while they were planned: propose them again"
              .formatted(stripes.stream().map(StripeRow::getId).toList()));
    }
    return registered.map(TransitionRow::getId);
  }
}
