package io.ebbfs.namenode.tasks.propose;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.plan.Planner;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.namenode.stripes.StripeState;
import io.ebbfs.namenode.tasks.lifecycle.TransitionContext;
import io.ebbfs.namenode.tasks.lifecycle.TransitionRegistrar;
import io.ebbfs.namenode.tasks.plan.ConversionMapper;
import io.ebbfs.protocol.proto.CodingProtos.DecisionProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposedProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.words.TransitionKinds;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Creates the transitions that convert stripes to another code. */
final class ConversionProposer {
  /**
   * Stripes to convert together.
   *
   * @param objection why they cannot be converted; null if they can
   */
  private record Group(List<StripeRow> stripes, String objection) {}

  private final TransitionContext context;

  ConversionProposer(TransitionContext context) {
    this.context = context;
  }

  ProposedProto propose(DecisionProto decision) throws IOException {
    if (decision.getStripeIdsCount() == 0) {
      return ProposalService.refusal(
          TransitionKinds.show(decision.getKind()) + " names no stripe: give the ids of stripes");
    }
    List<String> refusals = new ArrayList<>();
    List<Long> transitions = new ArrayList<>();
    Set<Long> seen = new HashSet<>();
    for (long stripeId : decision.getStripeIdsList()) {
      if (!seen.contains(stripeId)) {
        Group group = groupOf(stripeId, decision, seen);
        group.stripes().forEach(stripe -> seen.add(stripe.getId()));
        if (group.objection() != null) {
          refusals.add(group.objection());
        } else {
          String fromCode = group.stripes().get(0).getCode();
          plan(decision, fromCode, group.stripes(), refusals).ifPresent(transitions::add);
        }
      }
    }
    return ProposalService.result(transitions, refusals);
  }

  /** The stripes that are converted together with this one, without the stripes seen before. */
  private Group groupOf(long stripeId, DecisionProto decision, Set<Long> seen) throws IOException {
    return context
        .store()
        .transact(
            stripeId,
            transaction -> {
              Optional<StripeRow> row = transaction.get(Tables.STRIPE, Tables.stripe(stripeId));
              if (row.isEmpty()) {
                return new Group(List.of(), "stripe " + stripeId + " does not exist (any more)");
              }
              Optional<String> mismatch = mismatch(row.get(), decision);
              if (mismatch.isPresent()) {
                return new Group(List.of(), mismatch.get());
              }
              int together =
                  ConversionMapper.sourcesTogether(
                      context.codes(), row.get().getCode(), decision.getToCode());
              List<StripeRow> stripes =
                  row.get().hasGroupId()
                      ? siblings(transaction, row.get(), together)
                      : others(transaction, row.get(), together, decision, seen);
              return new Group(stripes, objection(transaction, stripes, row.get().getCode()));
            });
  }

  /** Why the codes do not allow this conversion; empty if they do. */
  private Optional<String> mismatch(StripeRow stripe, DecisionProto decision) {
    ErasureCode from = context.codes().byName(stripe.getCode());
    ErasureCode to = context.codes().byName(decision.getToCode());
    Optional<int[]> counts = Planner.stripes(from, to);
    boolean up = decision.getKind() == TransitionKindProto.UPCODE;
    TransitionKindProto opposite = up ? TransitionKindProto.DOWNCODE : TransitionKindProto.UPCODE;
    String what = "stripe %d from %s to %s: ".formatted(stripe.getId(), from, to);
    if (stripe.hasGroupFileId()) {
      return Optional.of(DeadDataProposer.belongsToGroup(stripe));
    }
    if (from.equals(to)) {
      return Optional.of("stripe %d is in %s already".formatted(stripe.getId(), to));
    }
    if (counts.isEmpty()) {
      return Optional.of(
          what + "the data of neither is a multiple of the other's; choose another code");
    }
    if (Math.max(counts.get()[0], counts.get()[1]) > ConversionMapper.MAX_STRIPES) {
      return Optional.of(
          what + "more than %d stripes are concerned".formatted(ConversionMapper.MAX_STRIPES));
    }
    if (up ? to.overhead() > from.overhead() : to.overhead() < from.overhead()) {
      return Optional.of(
          what
              + "it would store %s; propose a %s (%s)"
                  .formatted(up ? "more" : "less", TransitionKinds.show(opposite), opposite));
    }
    return Optional.empty();
  }

  /** The stripes of the group that are merged with this one, as far as they still exist. */
  private static List<StripeRow> siblings(Transaction transaction, StripeRow stripe, int together)
      throws IOException {
    List<StripeRow> siblings = new ArrayList<>();
    int first = stripe.getGroupSlot() / together * together;
    for (int slot = first; slot < first + together; slot++) {
      transaction
          .get(Tables.STRIPE, Tables.stripe(stripe.getGroupId() + slot))
          .filter(s -> s.getGroupId() == stripe.getGroupId())
          .ifPresent(siblings::add);
    }
    return siblings;
  }

  /** A stripe of no group is merged with other such stripes of the same decision. */
  private static List<StripeRow> others(
      Transaction transaction,
      StripeRow stripe,
      int together,
      DecisionProto decision,
      Set<Long> seen)
      throws IOException {
    List<StripeRow> stripes = new ArrayList<>(List.of(stripe));
    for (long id : decision.getStripeIdsList()) {
      if (stripes.size() < together && id != stripe.getId() && !seen.contains(id)) {
        transaction
            .get(Tables.STRIPE, Tables.stripe(id))
            .filter(
                s -> !s.hasGroupId() && !s.hasGroupFileId() && s.getCode().equals(stripe.getCode()))
            .ifPresent(stripes::add);
      }
    }
    return stripes;
  }

  private String objection(Transaction transaction, List<StripeRow> stripes, String fromCode)
      throws IOException {
    for (StripeRow stripe : stripes) {
      if (!stripe.getCode().equals(fromCode)) {
        return "stripe %d is in %s, not in %s"
            .formatted(stripe.getId(), stripe.getCode(), fromCode);
      }
      if (stripe.hasTransitionId()) {
        return "stripe %d is in transition %d already"
            .formatted(stripe.getId(), stripe.getTransitionId());
      }
      Set<Integer> lost =
          StripeState.read(transaction, context.codes(), context.cluster(), stripe).lost();
      if (!lost.isEmpty()) {
        return "stripe %d has lost positions %s: they are repaired first"
            .formatted(stripe.getId(), lost);
      }
    }
    return null;
  }

  private Optional<Long> plan(
      DecisionProto decision, String fromCode, List<StripeRow> stripes, List<String> refusals)
      throws IOException {
    TransitionRow row =
        ProposalService.newRow(context, context.ids().transitions().next(), decision)
            .setFromCode(fromCode)
            .build();
    Optional<TransitionRow> registered = TransitionRegistrar.registerAll(context, row, stripes);
    if (registered.isEmpty()) {
      refusals.add(
          "stripes %s changed while they were planned: propose them again"
              .formatted(stripes.stream().map(StripeRow::getId).toList()));
    }
    return registered.map(TransitionRow::getId);
  }
}
