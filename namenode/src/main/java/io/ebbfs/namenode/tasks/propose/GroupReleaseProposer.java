package io.ebbfs.namenode.tasks.propose;

import io.ebbfs.namenode.store.QuotaRows;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.namenode.stripes.StripeState;
import io.ebbfs.namenode.tasks.lifecycle.TransitionContext;
import io.ebbfs.namenode.tasks.lifecycle.TransitionRegistrar;
import io.ebbfs.namenode.tasks.plan.GroupFile;
import io.ebbfs.namenode.tasks.plan.LeavingBlocks;
import io.ebbfs.namenode.tasks.plan.NotPlannableException;
import io.ebbfs.protocol.proto.CodingProtos.DecisionProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposedProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;

/**
 * Creates the transitions that make replicated files of files that their clients have encoded: a
 * RELEASE for each file of a decision.
 */
final class GroupReleaseProposer {
  private final TransitionContext context;

  GroupReleaseProposer(TransitionContext context) {
    this.context = context;
  }

  ProposedProto propose(DecisionProto decision) throws IOException {
    int replication = context.settings().replication();
    if (replication < LeavingBlocks.FEWEST_REPLICAS) {
      return ProposalService.refusal(
          "the replication of the namenode is %d, and blocks without their groups would have no protection: set replication in namenode.yaml to %d or more"
              .formatted(replication, LeavingBlocks.FEWEST_REPLICAS));
    }
    List<Long> transitions = new ArrayList<>();
    List<String> refusals = new ArrayList<>();
    for (long fileId : new LinkedHashSet<>(decision.getFileIdsList())) {
      Optional<GroupFile> file =
          context
              .store()
              .transact(fileId, transaction -> find(transaction, fileId, replication, refusals));
      if (file.isPresent()) {
        register(decision, file.get(), replication, refusals).ifPresent(transitions::add);
      }
    }
    return ProposalService.result(transitions, refusals);
  }

  /** The file, if it can be converted now; otherwise a refusal is added. */
  private Optional<GroupFile> find(
      Transaction transaction, long fileId, int replication, List<String> refusals)
      throws IOException {
    try {
      GroupFile file = GroupFile.readWhole(transaction, fileId);
      Optional<String> objection = objection(transaction, file, replication);
      objection.ifPresent(refusals::add);
      return objection.isPresent() ? Optional.empty() : Optional.of(file);
    } catch (NotPlannableException e) {
      refusals.add(e.getMessage());
      return Optional.empty();
    }
  }

  private Optional<String> objection(Transaction transaction, GroupFile file, int replication)
      throws IOException {
    for (StripeRow stripe : file.stripes()) {
      if (stripe.hasTransitionId()) {
        return Optional.of(
            "file %d: block group %d is in transition %d already"
                .formatted(file.id(), stripe.getId(), stripe.getTransitionId()));
      }
      StripeState state = StripeState.read(transaction, context.codes(), context.cluster(), stripe);
      if (!state.lost().isEmpty()) {
        return Optional.of(
            "file %d: block group %d has lost blocks %s: they are repaired first"
                .formatted(file.id(), stripe.getId(), state.lost()));
      }
    }
    return lacksQuota(transaction, file, replication);
  }

  /** The commit asks again. What is asked here spares work that would be in vain. */
  private Optional<String> lacksQuota(Transaction transaction, GroupFile file, int replication)
      throws IOException {
    InodeRow before = file.inode().row();
    InodeRow after = file.replicated(transaction, replication, context.clock().millis());
    long more = after.getCountedBytes() - before.getCountedBytes();
    return QuotaRows.lacking(transaction, before, after)
        .map(
            lack ->
                "file %d counts with %d bytes more as a replicated file, and %s: raise the quota, or delete data"
                    .formatted(file.id(), more, lack));
  }

  private Optional<Long> register(
      DecisionProto decision, GroupFile file, int replication, List<String> refusals)
      throws IOException {
    String code = file.stripes().get(0).getCode();
    TransitionRow row =
        ProposalService.newRow(context, context.ids().transitions().next(), decision)
            .setFromCode(code)
            .setToCode(code)
            .setGroupFileId(file.id())
            .setGroupReplication(replication)
            .build();
    Optional<TransitionRow> registered =
        TransitionRegistrar.registerAll(context, row, file.stripes());
    if (registered.isEmpty()) {
      refusals.add(
          "file %d changed while its conversion was planned: propose it again"
              .formatted(file.id()));
    }
    return registered.map(TransitionRow::getId);
  }
}
