package io.ebbfs.namenode.tasks.commit;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.common.failpoint.FailPoint;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.store.IdGenerators;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.OptimisticTransactions;
import io.ebbfs.namenode.store.OwnerLocks;
import io.ebbfs.namenode.store.PersistentCounters;
import io.ebbfs.namenode.store.StaleReadException;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.Transaction;
import io.ebbfs.namenode.stripes.StripeManager;
import io.ebbfs.namenode.tasks.commit.CommitWriter.Locks;
import io.ebbfs.namenode.tasks.commit.CommitWriter.Written;
import io.ebbfs.namenode.tasks.lifecycle.TransitionLifecycle;
import io.ebbfs.namenode.tasks.plan.ConversionMapper;
import io.ebbfs.protocol.proto.ChunkProtos.CombineResponseProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineStatusProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombinedTargetProto;
import io.ebbfs.protocol.proto.CodingProtos.CommitRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.CommitResponseProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionOutputProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.hdfs.protocol.QuotaExceededException;

/**
 * Publishes what a worker has written, in one transaction, and then deletes what it replaces. All
 * rows that the attempt relied on are checked under the locks. An old block is deleted only if
 * every block that replaces it was reported written with the right length. A {@link CommitWriter}
 * writes the rows of each kind of transition. Thread-safe.
 */
public final class CommitService {
  private record Outcome(TransitionRow row, Written written) {}

  private final MetadataStore store;
  private final IdGenerators ids;
  private final BlockService blocks;
  private final StripeManager stripes;
  private final TransitionLifecycle lifecycle;
  private final PersistentCounters counters;
  private final Clock clock;
  private final EncodeCommitWriter encode;
  private final ConversionCommitWriter conversion;
  private final SubtractCommitWriter subtract;
  private final ReleaseCommitWriter release;
  private final GroupReleaseCommitWriter groupRelease;
  private final RepairCommitWriter repair;

  public CommitService(
      CodeRegistry codes,
      MetadataStore store,
      IdGenerators ids,
      BlockService blocks,
      StripeManager stripes,
      ClusterView cluster,
      TransitionLifecycle lifecycle,
      PersistentCounters counters,
      Clock clock) {
    this.store = store;
    this.ids = ids;
    this.blocks = blocks;
    this.stripes = stripes;
    this.lifecycle = lifecycle;
    this.counters = counters;
    this.clock = clock;
    this.encode = new EncodeCommitWriter(codes, blocks, cluster, clock);
    this.conversion = new ConversionCommitWriter(codes, blocks, cluster, clock);
    this.subtract = new SubtractCommitWriter(codes, blocks, cluster);
    this.release = new ReleaseCommitWriter(codes, blocks, cluster, subtract, clock);
    this.groupRelease = new GroupReleaseCommitWriter(blocks, cluster, clock);
    this.repair = new RepairCommitWriter(blocks, cluster);
  }

  /** Commits an attempt. A commit that is sent again gets the same answer. */
  public CommitResponseProto commit(CommitRequestProto request) throws IOException {
    Optional<TransitionRow> before = lifecycle.read(request.getTransitionId());
    if (before.isEmpty()) {
      return refused("transition " + request.getTransitionId() + " does not exist (any more)");
    }
    Optional<CommitResponseProto> known = answerWithoutCommit(request, before.get());
    if (known.isPresent()) {
      return known.get();
    }
    Optional<String> incomplete =
        incomplete(before.get(), request.getResultsList())
            .or(() -> unverified(before.get(), request));
    if (incomplete.isPresent()) {
      return refused(incomplete.get());
    }
    int encoded =
        before.get().getBlocksList().stream().mapToInt(b -> b.getStripeIndex() + 1).max().orElse(0);
    long firstStripeId = ids.inodes().nextRun(Math.max(ConversionMapper.MAX_STRIPES, encoded));
    Outcome outcome;
    FailPoint.NAMENODE_COMMIT_BEFORE.reach();
    try {
      outcome =
          OptimisticTransactions.transact(
              store,
              request.getTransitionId(),
              transaction -> write(transaction, request, before.get(), firstStripeId));
    } catch (CommitRefusedException e) {
      lifecycle.refused(request.getTransitionId(), request.getAttempt(), e.getMessage());
      return refused(e.getMessage());
    } catch (QuotaExceededException e) {
      // Another attempt would write everything again and find no more room.
      lifecycle.cancel(request.getTransitionId(), request.getAttempt(), e.getMessage());
      return refused(e.getMessage());
    }
    FailPoint.NAMENODE_COMMIT_AFTER.reach();
    lifecycle.committed(outcome.row());
    blocks.invalidate(outcome.written().gone());
    outcome.written().stripes().forEach(stripes::check);
    count(outcome.row(), outcome.written().code());
    FailPoint.NAMENODE_COMMIT_ANSWER.reach();
    return CommitResponseProto.newBuilder().setCommitted(true).build();
  }

  private static CommitResponseProto refused(String why) {
    return CommitResponseProto.newBuilder().setCommitted(false).setRefusal(why).build();
  }

  /** The answer if this attempt is over already; empty if it still runs. */
  private static Optional<CommitResponseProto> answerWithoutCommit(
      CommitRequestProto request, TransitionRow row) {
    if (row.getAttempt() != request.getAttempt()) {
      return Optional.of(
          refused(
              "attempt %d of transition %d is over; attempt %d is the latest"
                  .formatted(request.getAttempt(), row.getId(), row.getAttempt())));
    }
    if (row.getState() == TransitionStateProto.DONE) {
      return Optional.of(CommitResponseProto.newBuilder().setCommitted(true).build());
    }
    if (row.getState() != TransitionStateProto.RUNNING
        || !row.getWorker().equals(request.getWorker())) {
      return Optional.of(
          refused(
              "worker %s does not hold transition %d, which is %s: %s"
                  .formatted(request.getWorker(), row.getId(), row.getState(), row.getFailure())));
    }
    return Optional.empty();
  }

  /** Why the results do not show that every output was written in full; empty if they do. */
  private static Optional<String> incomplete(
      TransitionRow row, List<CombineResponseProto> results) {
    List<CombinedTargetProto> targets = new ArrayList<>();
    for (CombineResponseProto result : results) {
      if (result.getStatus() != CombineStatusProto.COMBINE_OK) {
        return Optional.of(
            "a combine ended with %s (%s): report it as failed"
                .formatted(result.getStatus(), result.getMessage()));
      }
      targets.addAll(result.getTargetsList());
    }
    if (targets.size() != row.getOutputsCount()) {
      return Optional.of(
          "%d outputs are reported written, transition %d has %d: run all its steps"
              .formatted(targets.size(), row.getId(), row.getOutputsCount()));
    }
    for (int i = 0; i < targets.size(); i++) {
      TransitionOutputProto output = row.getOutputs(i);
      if (targets.get(i).getLengthBytes() != output.getLengthBytes()) {
        return Optional.of(
            "block %d was written with %d bytes instead of %d: report it as failed"
                .formatted(
                    output.getBlockId(), targets.get(i).getLengthBytes(), output.getLengthBytes()));
      }
    }
    return Optional.empty();
  }

  /** Why the written blocks are not known to be right; empty if all checks passed. */
  private static Optional<String> unverified(TransitionRow row, CommitRequestProto request) {
    if (request.getChecksPassed() < row.getChecks()) {
      return Optional.of(
          "%d of %d checks of what transition %d has written were passed: run all of them"
              .formatted(request.getChecksPassed(), row.getChecks(), row.getId()));
    }
    if (row.hasGroupFileId() && request.getGatheredChecksPassed() != row.getOutputsCount()) {
      return Optional.of(
          "%d of %d blocks that transition %d has gathered out of block groups were compared with the cells: give chunk servers and raid-nodes the namenode's version"
              .formatted(request.getGatheredChecksPassed(), row.getOutputsCount(), row.getId()));
    }
    long checked =
        request.getResultsList().stream().filter(r -> r.getCheckedSourcesCount() > 0).count();
    return checked >= row.getCheckedCombines()
        ? Optional.empty()
        : Optional.of(
            "%d of %d combines of transition %d say that they have checked their outputs: give chunk servers and raid-nodes the namenode's version"
                .formatted(checked, row.getCheckedCombines(), row.getId()));
  }

  private Outcome write(
      Transaction transaction, CommitRequestProto request, TransitionRow before, long firstStripeId)
      throws IOException {
    CommitWriter writer = writer(before);
    Locks locks = writer.locks(transaction, before);
    OwnerLocks.lock(transaction, locks.fileIds(), locks.stripeIds(), Set.of(before.getId()));
    Optional<TransitionRow> now =
        transaction.get(Tables.TRANSITION, TransitionLifecycle.key(before.getId()));
    // Since it was read, the row may have changed in its lease and in nothing else.
    if (now.isEmpty()
        || now.get().getState() != TransitionStateProto.RUNNING
        || now.get().getAttempt() != before.getAttempt()
        || !now.get().getOutputsList().equals(before.getOutputsList())) {
      throw new CommitRefusedException("the claim of transition " + before.getId() + " was lost");
    }
    if (!writer.locks(transaction, before).equals(locks)) {
      throw new StaleReadException("members changed hands meanwhile");
    }
    Written written = writer.write(transaction, now.get(), firstStripeId);
    TransitionRow done = done(now.get(), request, written);
    TransitionLifecycle.clearMarks(transaction, done);
    transaction.put(Tables.TRANSITION, TransitionLifecycle.key(done.getId()), done);
    return new Outcome(done, written);
  }

  private CommitWriter writer(TransitionRow row) {
    return switch (row.getKind()) {
      case ENCODE, REWRITE -> encode;
      case UPCODE, DOWNCODE -> conversion;
      case SUBTRACT -> subtract;
      case RELEASE -> row.hasGroupFileId() ? groupRelease : release;
      // A moved block keeps its id, as a repaired block does: only its replica rows change.
      case REPAIR, MOVE -> repair;
    };
  }

  private TransitionRow done(TransitionRow row, CommitRequestProto request, Written written) {
    long bytesRead = 0;
    long bytesWritten = 0;
    long remoteBytes = request.getCheckBytesReadRemote();
    int blocksRead = 0;
    for (CombineResponseProto result : request.getResultsList()) {
      bytesRead += result.getBytesReadLocal() + result.getBytesReadRemote();
      bytesWritten += result.getBytesWrittenLocal() + result.getBytesWrittenRemote();
      remoteBytes += result.getBytesReadRemote() + result.getBytesWrittenRemote();
      blocksRead += result.getBlocksRead();
    }
    return row.toBuilder()
        .setState(TransitionStateProto.DONE)
        .setUpdatedMillis(clock.millis())
        .clearLeaseEndsMillis()
        .clearFailure()
        .setBytesRead(bytesRead)
        .setBytesWritten(bytesWritten)
        .setRemoteBytes(remoteBytes)
        .setBlocksRead(blocksRead)
        .setBlocksWritten(row.getOutputsCount())
        .setDataBytes(written.dataBytes())
        .setCheckBlocksRead(request.getCheckBlocksRead())
        .setCheckBytesRead(request.getCheckBytesRead())
        .build();
  }

  private void count(TransitionRow row, String code) {
    counters.add("bytesMoved." + row.getKind(), row.getBytesRead() + row.getBytesWritten());
    counters.add("verifications." + row.getKind(), row.getChecks());
    counters.add("verificationBlocksRead." + row.getKind(), row.getCheckBlocksRead());
    counters.add("verificationBytesRead." + row.getKind(), row.getCheckBytesRead());
    if (row.getKind() == TransitionKindProto.REPAIR) {
      counters.add("repairedBlocks." + code, row.getOutputsCount());
      counters.add("repairBlocksRead." + code, row.getBlocksRead());
    }
  }
}
