package io.ebbfs.namenode.tasks.propose;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.namenode.placement.Packing;
import io.ebbfs.namenode.placement.StripeBlock;
import io.ebbfs.namenode.placement.StripeGroup;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.OwnerLocks;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.namenode.stripes.BlockRows;
import io.ebbfs.namenode.stripes.FileRows;
import io.ebbfs.namenode.tasks.lifecycle.TransitionContext;
import io.ebbfs.protocol.proto.CodingProtos.DecisionProto;
import io.ebbfs.protocol.proto.CodingProtos.ProposedProto;
import io.ebbfs.protocol.proto.StoreProtos.BlockRow;
import io.ebbfs.protocol.proto.StoreProtos.BlockStateProto;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionBlockProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Packs blocks of closed files into stripes, and creates the transitions that encode them. */
final class EncodeProposer {
  private static final int MAX_BLOCKS = 100_000;

  /** A block that may be encoded, and the disks in service that hold it. */
  record Candidate(long fileId, long index, BlockRow block, List<String> live) {}

  /** The order of packing: the longest first; blocks of one length by file and index. */
  private static final Comparator<Candidate> LONGEST_FIRST =
      Comparator.comparingLong((Candidate c) -> -c.block().getLengthBytes())
          .thenComparingLong(Candidate::fileId)
          .thenComparingLong(Candidate::index);

  private final TransitionContext context;

  EncodeProposer(TransitionContext context) {
    this.context = context;
  }

  ProposedProto propose(DecisionProto decision) throws IOException {
    ErasureCode code = context.codes().byName(decision.getToCode());
    if (decision.getFileIdsCount() == 0) {
      return ProposalService.refusal("ENCODE names no file: give the ids of closed files");
    }
    List<String> refusals = new ArrayList<>();
    Map<Long, Candidate> candidates = new LinkedHashMap<>();
    gather(decision, refusals).stream()
        .sorted(LONGEST_FIRST)
        .limit(decision.hasLongestBlocks() ? decision.getLongestBlocks() : Long.MAX_VALUE)
        .forEach(candidate -> candidates.put(candidate.block().getBlockId(), candidate));
    List<Long> transitions = new ArrayList<>();
    Packing.Packed packed = pack(code, candidates, decision.getSingle());
    for (StripeGroup group : packed.groups()) {
      plan(decision, group, candidates, refusals).ifPresent(transitions::add);
    }
    if (!packed.leftOut().isEmpty()) {
      refusals.add(
          "%d blocks would take more space in a stripe of %s than their replicas do: propose them with more files"
              .formatted(packed.leftOut().size(), code));
    }
    return ProposalService.result(transitions, refusals);
  }

  // ---- which blocks ----------------------------------------------------------------------------

  private List<Candidate> gather(DecisionProto decision, List<String> refusals) throws IOException {
    List<Candidate> candidates = new ArrayList<>();
    for (long fileId : new LinkedHashSet<>(decision.getFileIdsList())) {
      if (candidates.size() >= MAX_BLOCKS) {
        refusals.add(
            "only the first %d blocks were taken: propose the rest later"
                .formatted(candidates.size()));
        break;
      }
      context
          .store()
          .transact(fileId, transaction -> blocksOf(transaction, fileId, candidates))
          .ifPresent(refusals::add);
    }
    return candidates;
  }

  private Optional<String> blocksOf(
      Transaction transaction, long fileId, List<Candidate> candidates) throws IOException {
    Optional<InodeRow> file = FileRows.find(transaction, fileId).map(Row::value);
    if (file.isEmpty()) {
      return Optional.of("no file has the id " + fileId);
    }
    if (file.get().hasUnderConstruction()) {
      return Optional.of("file " + fileId + " is open for writing");
    }
    if (file.get().hasEcPolicyId()) {
      return Optional.of(
          "file %d has the block groups of an erasure coding policy, which its client has encoded"
              .formatted(fileId));
    }
    List<Candidate> found = new ArrayList<>();
    int withoutReplica = 0;
    int busy = 0;
    for (Row<BlockRow> row : transaction.scan(Tables.BLOCK, fileId)) {
      BlockRow block = row.value();
      if (block.hasStripeId() || block.getLengthBytes() == 0) {
        continue;
      }
      if (block.getState() != BlockStateProto.COMPLETE || block.hasTransitionId()) {
        busy++;
      } else {
        List<String> live = BlockRows.liveStorages(transaction, context.cluster(), fileId, block);
        if (live.isEmpty()) {
          withoutReplica++;
        } else {
          found.add(new Candidate(fileId, row.key().firstLong(), block, live));
        }
      }
    }
    candidates.addAll(found);
    if (busy + withoutReplica > 0) {
      return Optional.of(
          "file %d: %d blocks are in a transition or not complete, %d have no live replica"
              .formatted(fileId, busy, withoutReplica));
    }
    return found.isEmpty()
        ? Optional.of("file " + fileId + " has no block outside of stripes")
        : Optional.empty();
  }

  // ---- which stripes ---------------------------------------------------------------------------

  private Packing.Packed pack(ErasureCode code, Map<Long, Candidate> candidates, boolean single) {
    List<StripeBlock> blocks = new ArrayList<>();
    long bytes = 0;
    long storedBytes = 0;
    for (Candidate candidate : candidates.values()) {
      BlockRow block = candidate.block();
      blocks.add(
          new StripeBlock(
              block.getBlockId(),
              block.getLengthBytes(),
              candidate.fileId(),
              candidate.index(),
              candidate.live()));
      bytes += block.getLengthBytes();
      storedBytes += block.getLengthBytes() * block.getReplication();
    }
    // A stripe must take less space than the replicas of its blocks do now.
    double maxOverhead = bytes == 0 ? 1 : (double) storedBytes / bytes - 1e-9;
    Optional<ErasureCode> mergesInto = single ? Optional.empty() : context.codes().mergesInto(code);
    return Packing.pack(code, mergesInto, blocks, maxOverhead);
  }

  // ---- the transition --------------------------------------------------------------------------

  private Optional<Long> plan(
      DecisionProto decision,
      StripeGroup group,
      Map<Long, Candidate> candidates,
      List<String> refusals)
      throws IOException {
    long id = context.ids().transitions().next();
    Set<Long> files = new HashSet<>();
    group.stripes().forEach(stripe -> stripe.values().forEach(b -> files.add(b.fileId())));
    Optional<TransitionRow> row =
        OptimisticTransactions.transact(
            context.store(),
            id,
            transaction -> {
              OwnerLocks.lock(transaction, files, List.of(), List.of(id));
              lockBlocks(transaction, group, candidates);
              return mark(transaction, id, decision, group, candidates);
            });
    if (row.isEmpty()) {
      refusals.add("the blocks of a stripe changed while it was planned: propose them again");
      return Optional.empty();
    }
    context.lifecycle().committed(row.get());
    return Optional.of(id);
  }

  /** In a shared store, the row of a block may be seen older than that of its file. */
  private static void lockBlocks(
      Transaction transaction, StripeGroup group, Map<Long, Candidate> candidates)
      throws IOException {
    if (transaction.isShared()) {
      transaction.lock(
          group.stripes().stream()
              .flatMap(stripe -> stripe.values().stream())
              .map(block -> candidates.get(block.blockId()))
              .map(one -> RowLock.shared(Tables.BLOCK, Tables.block(one.fileId(), one.index())))
              .toList());
    }
  }

  private Optional<TransitionRow> mark(
      Transaction transaction,
      long id,
      DecisionProto decision,
      StripeGroup group,
      Map<Long, Candidate> candidates)
      throws IOException {
    TransitionRow.Builder row = ProposalService.newRow(context, id, decision);
    for (int s = 0; s < group.stripes().size(); s++) {
      for (Map.Entry<Integer, StripeBlock> entry : group.stripes().get(s).entrySet()) {
        Candidate candidate = candidates.get(entry.getValue().blockId());
        if (!isUnchanged(transaction, candidate)) {
          continue;
        }
        transaction.put(
            Tables.BLOCK,
            Tables.block(candidate.fileId(), candidate.index()),
            candidate.block().toBuilder().setTransitionId(id).build());
        row.addBlocks(
            TransitionBlockProto.newBuilder()
                .setStripeIndex(s)
                .setPosition(entry.getKey())
                .setOwnerId(candidate.fileId())
                .setOwnerIndex((int) candidate.index())
                .setBlockId(candidate.block().getBlockId()));
      }
    }
    if (row.getBlocksCount() == 0) {
      return Optional.empty();
    }
    TransitionRow built = row.build();
    transaction.put(Tables.TRANSITION, Tables.transition(id), built);
    return Optional.of(built);
  }

  private static boolean isUnchanged(Transaction transaction, Candidate candidate)
      throws IOException {
    Optional<InodeRow> file = FileRows.find(transaction, candidate.fileId()).map(Row::value);
    return file.isPresent()
        && !file.get().hasUnderConstruction()
        && transaction
            .get(Tables.BLOCK, Tables.block(candidate.fileId(), candidate.index()))
            .equals(Optional.of(candidate.block()));
  }
}
