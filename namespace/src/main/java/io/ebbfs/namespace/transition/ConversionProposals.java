package io.ebbfs.namespace.transition;

import io.ebbfs.coding.CodeFamily;
import io.ebbfs.coding.Codes;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.namespace.store.Transaction;
import io.ebbfs.namespace.stripe.StripeState;
import io.ebbfs.namespace.transition.Proposals.Context;
import io.ebbfs.protocol.proto.CodingProtos.DecisionProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposedProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStripeProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Plans that stripes change their code. */
final class ConversionProposals {
  /** A group of stripes to convert together, or why not. */
  private record Group(List<StripeRow> stripes, String objection) {}

  private final Context context;

  ConversionProposals(Context context) {
    this.context = context;
  }

  ProposedProto propose(DecisionProto decision) throws IOException {
    if (decision.getStripeIdsCount() == 0) {
      return Proposals.refusal(decision.getKind() + " names no stripe: give the ids of stripes");
    }
    Optional<CodeFamily> family = Codes.familyOf(decision.getToCode());
    boolean up = decision.getKind() == TransitionKindProto.UPCODE;
    if (family.isEmpty()
        || !decision.getToCode().equals(up ? family.get().compact() : family.get().fast())) {
      return Proposals.refusal(
          "%s to %s: it is not the %s code of a family"
              .formatted(decision.getKind(), decision.getToCode(), up ? "compact" : "fast"));
    }
    String fromCode = up ? family.get().fast() : family.get().compact();
    List<String> refusals = new ArrayList<>();
    List<Long> transitions = new ArrayList<>();
    Set<Long> seen = new HashSet<>();
    for (long stripeId : decision.getStripeIdsList()) {
      if (!seen.contains(stripeId)) {
        Group group = groupOf(stripeId, fromCode, up ? family.get().groupSize() : 1);
        group.stripes().forEach(stripe -> seen.add(stripe.getId()));
        if (group.objection() != null) {
          refusals.add(group.objection());
        } else {
          plan(decision, fromCode, group.stripes(), refusals).ifPresent(transitions::add);
        }
      }
    }
    return Proposals.result(transitions, refusals);
  }

  private Group groupOf(long stripeId, String fromCode, int groupSize) throws IOException {
    return context
        .store()
        .transact(
            stripeId,
            transaction -> {
              Optional<StripeRow> row = transaction.get(Tables.STRIPE, Tables.stripe(stripeId));
              if (row.isEmpty()) {
                return new Group(List.of(), "stripe " + stripeId + " does not exist (any more)");
              }
              List<StripeRow> stripes = siblings(transaction, row.get(), groupSize);
              return new Group(stripes, objection(transaction, stripes, fromCode));
            });
  }

  /** The stripes that were placed with this one and are still there. */
  private static List<StripeRow> siblings(Transaction transaction, StripeRow stripe, int groupSize)
      throws IOException {
    if (groupSize == 1 || !stripe.hasGroupId()) {
      return List.of(stripe);
    }
    List<StripeRow> siblings = new ArrayList<>();
    for (int slot = 0; slot < groupSize; slot++) {
      transaction
          .get(Tables.STRIPE, Tables.stripe(stripe.getGroupId() + slot))
          .filter(s -> s.getGroupId() == stripe.getGroupId())
          .ifPresent(siblings::add);
    }
    return siblings;
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
      Set<Integer> lost = StripeState.read(transaction, context.cluster(), stripe).lost();
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
    long id = context.ids().transitions().next();
    List<Long> stripeIds = stripes.stream().map(StripeRow::getId).toList();
    Optional<TransitionRow> row =
        OwnerLocks.transact(
            context.store(),
            id,
            transaction -> {
              OwnerLocks.lock(transaction, List.of(), stripeIds, List.of(id));
              TransitionRow.Builder built =
                  Proposals.newRow(context, id, decision).setFromCode(fromCode);
              for (StripeRow stripe : stripes) {
                Optional<StripeRow> now =
                    transaction.get(Tables.STRIPE, Tables.stripe(stripe.getId()));
                if (!now.equals(Optional.of(stripe))) {
                  return Optional.empty();
                }
                transaction.put(
                    Tables.STRIPE,
                    Tables.stripe(stripe.getId()),
                    stripe.toBuilder().setTransitionId(id).build());
                built.addStripes(
                    TransitionStripeProto.newBuilder()
                        .setStripeId(stripe.getId())
                        .setGeneration(stripe.getGeneration()));
              }
              transaction.put(Tables.TRANSITION, Tables.transition(id), built.build());
              return Optional.of(built.build());
            });
    if (row.isEmpty()) {
      refusals.add(
          "stripes %s changed while they were planned: propose them again".formatted(stripeIds));
      return Optional.empty();
    }
    context.lifecycle().committed(row.get());
    return Optional.of(id);
  }
}
