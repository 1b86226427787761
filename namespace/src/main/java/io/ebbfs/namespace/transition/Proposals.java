package io.ebbfs.namespace.transition;

import io.ebbfs.coding.Codes;
import io.ebbfs.coding.ErasureCode;
import io.ebbfs.namespace.IdGenerators;
import io.ebbfs.namespace.block.ClusterView;
import io.ebbfs.namespace.placement.Packing;
import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.protocol.proto.CodingProtos.DecisionProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposeRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposeResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposedProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.settings.FailPoint;
import java.io.IOException;
import java.time.Clock;
import java.util.List;
import java.util.Optional;

/** Turns what the policy decided into transitions, or says why not. Thread-safe. */
public final class Proposals {
  /** What all kinds of planning need. */
  record Context(
      MetadataStore store,
      IdGenerators ids,
      ClusterView cluster,
      Lifecycle lifecycle,
      TransitionIndex index,
      Clock clock,
      TransitionSettings settings) {}

  private static final int MAX_DECISIONS = 1_000;

  private final Context context;
  private final CodeBook codes;
  private final EncodeProposals encode;
  private final ConversionProposals conversion;

  public Proposals(
      MetadataStore store,
      IdGenerators ids,
      CodeBook codes,
      ClusterView cluster,
      Lifecycle lifecycle,
      TransitionIndex index,
      Clock clock,
      TransitionSettings settings) {
    this.context = new Context(store, ids, cluster, lifecycle, index, clock, settings);
    this.codes = codes;
    this.encode = new EncodeProposals(context);
    this.conversion = new ConversionProposals(context);
  }

  /** One result per decision. A decision that makes no sense is refused, the others go on. */
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
    codes.remember(Codes.byName(decision.getToCode()));
    return switch (decision.getKind()) {
      case ENCODE -> encode.propose(decision);
      case UPCODE, DOWNCODE -> conversion.propose(decision);
      case REPAIR, REWRITE, MOVE ->
          refusal(decision.getKind() + " is planned by the namenode itself; nothing to propose");
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
      ErasureCode code = Codes.byName(decision.getToCode());
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

  /** How many stripes of this code are made, placed and converted together. */
  static int groupSize(ErasureCode code) {
    return Packing.stripesPerGroup(code);
  }

  static TransitionRow.Builder newRow(Context context, long id, DecisionProto decision) {
    long now = context.clock().millis();
    TransitionRow.Builder row =
        TransitionRow.newBuilder()
            .setId(id)
            .setKind(decision.getKind())
            .setState(io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto.PLANNED)
            .setPolicy(decision.getPolicy())
            .setToCode(decision.getToCode())
            .setReason(decision.getReason())
            .setCreatedMillis(now)
            .setUpdatedMillis(now)
            .setPriority(Priorities.of(decision.getKind()))
            .setAttempt(0);
    return decision.getSingle() ? row.setSingle(true) : row;
  }
}
