package io.ebbfs.namenode.tasks.propose;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.common.failpoint.FailPoint;
import io.ebbfs.namenode.tasks.lifecycle.CodeDefinitionGuard;
import io.ebbfs.namenode.tasks.lifecycle.TransitionContext;
import io.ebbfs.namenode.tasks.lifecycle.TransitionPriority;
import io.ebbfs.protocol.proto.CodingProtos.DecisionProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposeRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposeResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposedProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.protocol.words.TransitionKinds;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** Turns the decisions of the adaptive manager into transitions, or refuses them. Thread-safe. */
public final class ProposalService {
  private static final int MAX_DECISIONS = 1_000;

  private final TransitionContext context;
  private final CodeDefinitionGuard codes;
  private final EncodeProposer encode;
  private final ConversionProposer conversion;
  private final DeadDataProposer deadData;
  private final ReleaseProposer release;
  private final GroupReleaseProposer groupRelease;

  public ProposalService(TransitionContext context, CodeDefinitionGuard codes) {
    this.context = context;
    this.codes = codes;
    this.encode = new EncodeProposer(context);
    this.conversion = new ConversionProposer(context);
    this.deadData = new DeadDataProposer(context);
    this.release = new ReleaseProposer(context);
    this.groupRelease = new GroupReleaseProposer(context);
  }

  /**
   * Answers each decision with a result. A refused decision does not affect the other decisions.
   */
  public ProposeResponseProto propose(ProposeRequestProto request) throws IOException {
    if (request.getDecisionsCount() > MAX_DECISIONS) {
      throw new IOException(
          "%d decisions in one call: send at most %d at a time"
              .formatted(request.getDecisionsCount(), MAX_DECISIONS));
    }
    FailPoint.NAMENODE_PROPOSE_BEFORE.reach();
    ProposeResponseProto.Builder response = ProposeResponseProto.newBuilder();
    for (DecisionProto decision : request.getDecisionsList()) {
      response.addResults(decide(decision));
    }
    FailPoint.NAMENODE_PROPOSE_ANSWER.reach();
    return response.build();
  }

  private ProposedProto decide(DecisionProto decision) throws IOException {
    Optional<String> objection = objection(decision);
    if (objection.isPresent()) {
      return refusal(objection.get());
    }
    codes.remember(context.codes().byName(decision.getToCode()));
    return switch (decision.getKind()) {
      case ENCODE -> encode.propose(decision);
      case UPCODE, DOWNCODE -> conversion.propose(decision);
      case REWRITE, SUBTRACT -> deadData.propose(decision);
      case RELEASE ->
          decision.getStripeIdsCount() == 0 && decision.getFileIdsCount() > 0
              ? groupRelease.propose(decision)
              : release.propose(decision);
      case REPAIR, MOVE ->
          refusal(
              TransitionKinds.show(decision.getKind())
                  + " is planned by the namenode itself; nothing to propose");
    };
  }

  private Optional<String> objection(DecisionProto decision) {
    if (context.index().activeCount() >= context.settings().maxActive()) {
      return Optional.of(
          "%d transitions are waiting or running already: propose again when they are done"
              .formatted(context.index().activeCount()));
    }
    int items = decision.getFileIdsCount() + decision.getStripeIdsCount();
    if (items > context.settings().maxFilesPerDecision()) {
      return Optional.of(
          "%d files or stripes in one decision: send at most %d"
              .formatted(items, context.settings().maxFilesPerDecision()));
    }
    try {
      ErasureCode code = context.codes().byName(decision.getToCode());
      return code == null ? Optional.of("no code " + decision.getToCode()) : Optional.empty();
    } catch (IllegalArgumentException e) {
      return Optional.of(e.getMessage());
    }
  }

  static ProposedProto refusal(String why) {
    return ProposedProto.newBuilder().setRefusal(why).build();
  }

  static ProposedProto result(List<Long> transitionIds, List<String> refusals) {
    ProposedProto.Builder result = ProposedProto.newBuilder().addAllTransitionIds(transitionIds);
    if (!refusals.isEmpty()) {
      int shown = Math.min(5, refusals.size());
      String more = refusals.size() > shown ? "; and " + (refusals.size() - shown) + " more" : "";
      result.setRefusal(String.join("; ", refusals.subList(0, shown)) + more);
    }
    return result.build();
  }

  /** The row of a new transition that carries a decision out. */
  static TransitionRow.Builder newRow(TransitionContext context, long id, DecisionProto decision) {
    long now = context.clock().millis();
    TransitionRow.Builder row =
        TransitionRow.newBuilder()
            .setId(id)
            .setKind(decision.getKind())
            .setState(TransitionStateProto.PLANNED)
            .setPolicy(decision.getPolicy())
            .setToCode(decision.getToCode())
            .setReason(decision.getReason())
            .setCreatedMillis(now)
            .setUpdatedMillis(now)
            .setPriority(TransitionPriority.of(decision.getKind()))
            .setAttempt(0);
    return decision.getSingle() ? row.setSingle(true) : row;
  }
}
