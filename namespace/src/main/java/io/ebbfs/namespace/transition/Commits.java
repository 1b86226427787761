package io.ebbfs.namespace.transition;

import io.ebbfs.namespace.IdGenerators;
import io.ebbfs.namespace.block.BlockService;
import io.ebbfs.namespace.block.BlockService.Invalidation;
import io.ebbfs.namespace.block.ClusterView;
import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.namespace.store.Transaction;
import io.ebbfs.namespace.stripe.StripeManager;
import io.ebbfs.protocol.proto.ChunkProtos.CombineResponseProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineStatusProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombinedTargetProto;
import io.ebbfs.protocol.proto.CodingProtos.CommitRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.CommitResponseProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionOutputProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.settings.FailPoint;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Publishes what a worker has written, in one transaction, and releases what it replaces after it.
 * Everything that the attempt relied on is checked under the locks: nothing is given up unless all
 * that takes its place was reported written, with the right length. Thread-safe.
 */
public final class Commits {
  /** A commit that must not be: nothing of it is written, the transition is planned anew. */
  static final class RefusedException extends IOException {
    private static final long serialVersionUID = 1;

    RefusedException(String message) {
      super(message);
    }
  }

  /**
   * What the kinds of commits write.
   *
   * @param gone replicas that no row knows any more
   * @param stripes made or changed
   * @param dataBytes of live data concerned
   * @param code for the counters of repairs
   */
  record Written(List<Invalidation> gone, Set<Long> stripes, long dataBytes, String code) {}

  /** Writes rows; the caller has locked what {@link Lifecycle#files} and stripes name. */
  interface Kind {
    /** Files and stripes to lock besides those that the transition's row names. */
    Locks locks(Transaction transaction, TransitionRow row) throws IOException;

    Written write(Transaction transaction, TransitionRow row, long firstStripeId)
        throws IOException;
  }

  /** Owners to lock. */
  record Locks(Set<Long> fileIds, Set<Long> stripeIds) {}

  private record Outcome(TransitionRow row, Written written) {}

  private final MetadataStore store;
  private final IdGenerators ids;
  private final BlockService blocks;
  private final StripeManager stripes;
  private final Lifecycle lifecycle;
  private final Counters counters;
  private final Clock clock;
  private final EncodeCommit encode;
  private final ConversionCommit conversion;
  private final RepairCommit repair;

  public Commits(
      MetadataStore store,
      IdGenerators ids,
      BlockService blocks,
      StripeManager stripes,
      ClusterView cluster,
      Lifecycle lifecycle,
      Counters counters,
      Clock clock) {
    this.store = store;
    this.ids = ids;
    this.blocks = blocks;
    this.stripes = stripes;
    this.lifecycle = lifecycle;
    this.counters = counters;
    this.clock = clock;
    this.encode = new EncodeCommit(blocks, cluster, clock);
    this.conversion = new ConversionCommit(blocks, cluster, clock);
    this.repair = new RepairCommit(blocks, cluster);
  }

  /** Commits an attempt. The same commit sent again gets the same answer. */
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
    long firstStripeId = ids.inodes().nextRun(Math.max(Conversions.MAX_STRIPES, encoded));
    Outcome outcome;
    FailPoint.NAMENODE_COMMIT_BEFORE.reach();
    try {
      outcome =
          OwnerLocks.transact(
              store,
              request.getTransitionId(),
              transaction -> write(transaction, request, before.get(), firstStripeId));
    } catch (RefusedException e) {
      lifecycle.retryLater(request.getTransitionId(), request.getAttempt(), e.getMessage());
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

  /** The answer if this attempt is over already. */
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

  /** Why the results do not show every output written in full. */
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

  /** Why the written blocks are not known to be right. */
  private static Optional<String> unverified(TransitionRow row, CommitRequestProto request) {
    return request.getChecksPassed() >= row.getChecks()
        ? Optional.empty()
        : Optional.of(
            "%d of %d checks of what transition %d has written were passed: run all of them"
                .formatted(request.getChecksPassed(), row.getChecks(), row.getId()));
  }

  private Outcome write(
      Transaction transaction, CommitRequestProto request, TransitionRow before, long firstStripeId)
      throws IOException {
    Kind kind = kind(before.getKind());
    Locks locks = kind.locks(transaction, before);
    OwnerLocks.lock(transaction, locks.fileIds(), locks.stripeIds(), Set.of(before.getId()));
    Optional<TransitionRow> now = transaction.get(Tables.TRANSITION, Lifecycle.key(before.getId()));
    // A renewed lease is the only change that does not matter.
    if (now.isEmpty()
        || now.get().getState() != TransitionStateProto.RUNNING
        || now.get().getAttempt() != before.getAttempt()
        || !now.get().getOutputsList().equals(before.getOutputsList())) {
      throw new RefusedException("the claim of transition " + before.getId() + " was lost");
    }
    if (!kind.locks(transaction, before).equals(locks)) {
      throw new ChangedMeanwhileException("members changed hands meanwhile");
    }
    Written written = kind.write(transaction, now.get(), firstStripeId);
    TransitionRow done = done(now.get(), request, written);
    Lifecycle.clearMarks(transaction, done);
    transaction.put(Tables.TRANSITION, Lifecycle.key(done.getId()), done);
    return new Outcome(done, written);
  }

  private Kind kind(TransitionKindProto kind) {
    return switch (kind) {
      case ENCODE, REWRITE -> encode;
      case UPCODE, DOWNCODE -> conversion;
      // A moved block keeps its id, as a rebuilt one does.
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
