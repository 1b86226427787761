package io.ebbfs.namenode.tasks.propose;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.namenode.stripes.FileRows;
import io.ebbfs.namenode.stripes.StripeState;
import io.ebbfs.namenode.tasks.lifecycle.TransitionContext;
import io.ebbfs.namenode.tasks.lifecycle.TransitionRegistrar;
import io.ebbfs.namenode.tasks.plan.LeavingBlocks;
import io.ebbfs.protocol.proto.CodingProtos.DecisionProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposedProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStripeProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Creates the transitions that take blocks of files out of stripes, so that the files are
 * replicated again: a RELEASE for each stripe of a decision.
 */
final class ReleaseProposer {
  /** The row of a stripe, and the positions of the blocks that are to leave it. */
  private record Found(StripeRow stripe, List<Integer> positions) {}

  private final TransitionContext context;

  ReleaseProposer(TransitionContext context) {
    this.context = context;
  }

  ProposedProto propose(DecisionProto decision) throws IOException {
    if (decision.getStripeIdsCount() == 0 || decision.getFileIdsCount() == 0) {
      return ProposalService.refusal(
          "RELEASE names %d stripes and %d files: give the ids of stripes, and of the files whose blocks leave them"
              .formatted(decision.getStripeIdsCount(), decision.getFileIdsCount()));
    }
    Set<Long> files = new HashSet<>(decision.getFileIdsList());
    List<String> refusals = new ArrayList<>();
    List<Long> transitions = new ArrayList<>();
    for (long stripeId : new LinkedHashSet<>(decision.getStripeIdsList())) {
      Optional<Found> found =
          context
              .store()
              .transact(stripeId, transaction -> find(transaction, stripeId, files, refusals));
      if (found.isPresent()) {
        plan(decision, found.get(), refusals).ifPresent(transitions::add);
      }
    }
    return ProposalService.result(transitions, refusals);
  }

  private Optional<Found> find(
      Transaction transaction, long stripeId, Set<Long> files, List<String> refusals)
      throws IOException {
    Optional<StripeRow> row = transaction.get(Tables.STRIPE, Tables.stripe(stripeId));
    Optional<String> objection =
        row.isEmpty()
            ? Optional.of("stripe " + stripeId + " does not exist (any more)")
            : DeadDataProposer.unavailable(context, transaction, row.get());
    if (objection.isPresent()) {
      refusals.add(objection.get());
      return Optional.empty();
    }
    List<Integer> positions = leaving(transaction, row.get(), files, refusals);
    return positions.isEmpty() ? Optional.empty() : Optional.of(new Found(row.get(), positions));
  }

  private List<Integer> leaving(
      Transaction transaction, StripeRow stripe, Set<Long> files, List<String> refusals)
      throws IOException {
    ErasureCode code = context.codes().byName(stripe.getCode());
    List<Integer> positions = new ArrayList<>();
    Set<String> objections = new LinkedHashSet<>();
    for (StripeMemberProto member : stripe.getMembersList()) {
      if (StripeState.isLiveData(code, member) && files.contains(member.getOwnerId())) {
        Optional<Row<InodeRow>> file = FileRows.find(transaction, member.getOwnerId());
        Optional<String> objection =
            file.isEmpty()
                ? Optional.of("no file has the id " + member.getOwnerId())
                : LeavingBlocks.objection(file.get().value());
        objection.ifPresentOrElse(objections::add, () -> positions.add(member.getPosition()));
      }
    }
    if (positions.isEmpty() && objections.isEmpty()) {
      objections.add("stripe %d has no block of these files".formatted(stripe.getId()));
    }
    refusals.addAll(objections);
    return positions;
  }

  private Optional<Long> plan(DecisionProto decision, Found found, List<String> refusals)
      throws IOException {
    StripeRow stripe = found.stripe();
    TransitionRow.Builder row =
        ProposalService.newRow(context, context.ids().transitions().next(), decision)
            .setFromCode(stripe.getCode())
            .setToCode(stripe.getCode())
            .addStripes(
                TransitionStripeProto.newBuilder()
                    .setStripeId(stripe.getId())
                    .setGeneration(stripe.getGeneration())
                    .addAllPositions(found.positions()));
    if (stripe.getSingle()) {
      row.setSingle(true);
    }
    if (!TransitionRegistrar.register(context, row.build(), stripe)) {
      refusals.add(
          "stripe %d changed while its release was planned: propose it again"
              .formatted(stripe.getId()));
      return Optional.empty();
    }
    return Optional.of(row.getId());
  }
}
