package io.ebbfs.raid.executor;

import io.ebbfs.common.failpoint.FailPoint;
import io.ebbfs.protocol.CodingProtocol;
import io.ebbfs.protocol.proto.ChunkProtos.CombineFailureProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineRequestProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineResponseProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineStatusProto;
import io.ebbfs.protocol.proto.ChunkProtos.SourceProto;
import io.ebbfs.protocol.proto.ChunkProtos.TargetProto;
import io.ebbfs.protocol.proto.CodingProtos.CheckProto;
import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import io.ebbfs.protocol.proto.CodingProtos.CommitRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.CommitResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.FailRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.StepProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.rpc.RemoteCall;
import io.ebbfs.protocol.words.CombineBytes;
import io.ebbfs.raid.channel.ChunkChannel;
import io.ebbfs.raid.executor.TransitionOutcome.Result;
import io.ebbfs.raid.executor.TransitionOutcome.Work;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.function.LongPredicate;
import java.util.stream.Collectors;
import org.apache.hadoop.ipc.RemoteException;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/**
 * Runs one claimed transition: its combines, some of them in parallel, then the verification of the
 * written blocks, then one commit. Nothing is committed that has not passed its checks. Knows
 * nothing of MapReduce. Thread-safe: several transitions run at once.
 *
 * <p>A failed attempt needs no undo. The blocks that it wrote belong to no stripe, and the namenode
 * deletes them. If this process dies, its claim expires.
 */
public final class TransitionExecutor {
  private static final int MAX_BUSY_RETRIES = 8;
  private static final long BUSY_PAUSE_MILLIS = 100;
  private static final int MAX_COMMIT_ATTEMPTS = 7;
  private static final long COMMIT_PAUSE_MILLIS = 200;

  private final String worker;
  private final CodingProtocol coding;
  private final ChunkChannel chunks;
  private final Throttle throttle;
  private final CombineLimiter combines;
  private final ParallelCalls threads;
  private final Throttle.Pause pause;

  /** The answer to a step, if there was one, and its failure, if it failed. */
  private record Answer(
      Optional<CombineResponseProto> response, Optional<FailRequestProto.Builder> failure) {}

  /**
   * An executor.
   *
   * @param worker the name under which the transitions were claimed
   * @param combines the limits that all callers share
   * @param threads for combines of one transition that do not read each other's outputs
   */
  public TransitionExecutor(
      String worker,
      CodingProtocol coding,
      ChunkChannel chunks,
      Throttle throttle,
      CombineLimiter combines,
      ParallelCalls threads,
      Throttle.Pause pause) {
    this.worker = worker;
    this.coding = coding;
    this.chunks = chunks;
    this.throttle = throttle;
    this.combines = combines;
    this.threads = threads;
    this.pause = pause;
  }

  /**
   * Runs a transition to its end.
   *
   * @param lost whether the worker has lost its claim of a transition, by id
   */
  public TransitionOutcome run(ClaimedTransitionProto claimed, LongPredicate lost)
      throws InterruptedException {
    TransitionRow row = claimed.getTransition();
    List<CombineResponseProto> results = new ArrayList<>();
    Work work = Work.NONE;
    for (List<StepProto> group : StepGrouper.of(claimed.getStepsList(), ParallelCalls.MOST)) {
      if (lost.test(row.getId())) {
        return outcome(row, Result.ABANDONED, "the claim ended while it ran", work);
      }
      List<Answer> answers = combineAtOnce(row, group);
      List<CombineResponseProto> responses =
          answers.stream().map(Answer::response).flatMap(Optional::stream).toList();
      for (CombineResponseProto response : responses) {
        work = work.plus(workOf(response));
      }
      List<FailRequestProto.Builder> failures =
          answers.stream().map(Answer::failure).flatMap(Optional::stream).toList();
      if (!failures.isEmpty()) {
        return fail(all(row, failures), row, work);
      }
      results.addAll(responses);
    }
    FailPoint.RAID_BEFORE_CHECKS.reach();
    OutputVerifier.Result checked =
        new OutputVerifier(chunks, threads, this::combine, results).run(claimed.getChecksList());
    work = work.plus(checked);
    if (checked.failure() != null) {
      return fail(
          failure(row, checked.failure())
              .addAllBadBlocks(checked.bad())
              .setVerificationFailed(checked.wrong()),
          row,
          work);
    }
    KeptReplicaSync.Result synced = new KeptReplicaSync(chunks, threads).run(claimed);
    if (synced.failure() != null) {
      return fail(failure(row, synced.failure()).addAllBadBlocks(synced.bad()), row, work);
    }
    if (lost.test(row.getId())) {
      return outcome(row, Result.ABANDONED, "the claim ended while it ran", work);
    }
    int gathered = (int) claimed.getChecksList().stream().filter(CheckProto::hasGathered).count();
    return commit(row, results, work, gathered);
  }

  /** Runs the steps of a group in parallel. A step that fails does not end the other steps. */
  private List<Answer> combineAtOnce(TransitionRow row, List<StepProto> group)
      throws InterruptedException {
    return threads.all(
        group.stream().map(step -> (Callable<Answer>) () -> answer(row, step)).toList());
  }

  private Answer answer(TransitionRow row, StepProto step) throws InterruptedException {
    try {
      FailPoint.RAID_BEFORE_COMBINE.reach();
      CombineResponseProto response = combine(step);
      FailPoint.RAID_AFTER_COMBINE.reach();
      return new Answer(Optional.of(response), failure(row, step, response));
    } catch (IOException e) {
      return new Answer(
          Optional.empty(), Optional.of(failure(row, describe(step) + ": no answer: " + e)));
    }
  }

  private CombineResponseProto combine(StepProto step) throws IOException, InterruptedException {
    CombineRequestProto request = step.getCombine();
    throttle.acquire(bytesMoved(request));
    Runnable end = combines.acquire(step.getExecutor().getDatanodeUuid());
    try {
      CombineResponseProto response = chunks.combine(step.getExecutor(), request);
      for (int retry = 0;
          response.getStatus() == CombineStatusProto.COMBINE_BUSY && retry < MAX_BUSY_RETRIES;
          retry++) {
        pause.millis(BUSY_PAUSE_MILLIS << Math.min(retry, 4));
        response = chunks.combine(step.getExecutor(), request);
      }
      return response;
    } finally {
      end.run();
    }
  }

  private static long bytesMoved(CombineRequestProto request) {
    long bytes = 0;
    long longest = CombineBytes.longestTarget(request);
    for (SourceProto source : request.getSourcesList()) {
      bytes += CombineBytes.ofSource(source, longest);
    }
    for (TargetProto target : request.getTargetsList()) {
      bytes += target.getBlock().getNumBytes();
    }
    return bytes;
  }

  // ---- commit -----------------------------------------------------------------------------------

  /**
   * A commit without an answer is sent again. The attempt number makes that harmless.
   *
   * @param gathered how many of the passed checks are of blocks that were gathered out of groups
   */
  private TransitionOutcome commit(
      TransitionRow row, List<CombineResponseProto> results, Work work, int gathered)
      throws InterruptedException {
    CommitRequestProto request =
        CommitRequestProto.newBuilder()
            .setWorker(worker)
            .setTransitionId(row.getId())
            .setAttempt(row.getAttempt())
            .addAllResults(results)
            .setChecksPassed(work.checks())
            .setCheckBlocksRead((int) work.checkBlocksRead())
            .setCheckBytesRead(work.checkBytesRead())
            .setCheckBytesReadRemote(work.checkBytesReadRemote())
            .setGatheredChecksPassed(gathered)
            .build();
    String failure = "";
    FailPoint.RAID_BEFORE_COMMIT.reach();
    for (int attempt = 0; attempt < MAX_COMMIT_ATTEMPTS; attempt++) {
      if (attempt > 0) {
        pause.millis(COMMIT_PAUSE_MILLIS << attempt);
      }
      try {
        CommitResponseProto response = coding.commit(null, request);
        FailPoint.RAID_AFTER_COMMIT.reach();
        return response.getCommitted()
            ? outcome(row, Result.COMMITTED, "", work)
            : outcome(row, Result.REFUSED, response.getRefusal(), work);
      } catch (ServiceException e) {
        failure = "commit: " + RemoteCall.cause(e);
        if (e.getCause() instanceof RemoteException) {
          return outcome(row, Result.ABANDONED, failure, work);
        }
      }
    }
    return outcome(row, Result.ABANDONED, failure, work);
  }

  // ---- failure ----------------------------------------------------------------------------------

  /** Why an answer may not be committed; empty if it may. */
  private Optional<FailRequestProto.Builder> failure(
      TransitionRow row, StepProto step, CombineResponseProto response) {
    return response.getStatus() == CombineStatusProto.COMBINE_OK
        ? mismatch(step.getCombine(), response)
            .map(wrong -> failure(row, describe(step) + ": " + wrong))
        : Optional.of(notDone(row, step, response));
  }

  /** The failure of a combine that the server has answered. */
  private FailRequestProto.Builder notDone(
      TransitionRow row, StepProto step, CombineResponseProto response) {
    CombineRequestProto request = step.getCombine();
    if (response.getStatus() == CombineStatusProto.COMBINE_OUTPUTS_WRONG) {
      return failure(
              row,
              "check of the outputs of %s failed: %s"
                  .formatted(describe(step), response.getMessage()))
          .setVerificationFailed(true);
    }
    FailRequestProto.Builder failure =
        failure(row, describe(step) + ": " + reason(response))
            .addAllBadBlocks(new BadSourceFinder(chunks).among(request, response));
    for (CombineFailureProto target : response.getFailedTargetsList()) {
      if (target.getNoSpace() && target.getIndex() < request.getTargetsCount()) {
        failure.addFullTargets(request.getTargets(target.getIndex()));
      }
    }
    return failure;
  }

  private FailRequestProto.Builder failure(TransitionRow row, String reason) {
    return FailRequestProto.newBuilder()
        .setWorker(worker)
        .setTransitionId(row.getId())
        .setAttempt(row.getAttempt())
        .setReason(reason);
  }

  /** Joins the failures of steps, so that the next attempt avoids every bad block and full disk. */
  private FailRequestProto.Builder all(TransitionRow row, List<FailRequestProto.Builder> failures) {
    return failure(
            row,
            failures.stream()
                .map(FailRequestProto.Builder::getReason)
                .collect(Collectors.joining("; ")))
        .setVerificationFailed(
            failures.stream().anyMatch(FailRequestProto.Builder::getVerificationFailed))
        .addAllBadBlocks(distinct(failures, FailRequestProto.Builder::getBadBlocksList))
        .addAllFullTargets(distinct(failures, FailRequestProto.Builder::getFullTargetsList));
  }

  private static <T> List<T> distinct(
      List<FailRequestProto.Builder> failures, Function<FailRequestProto.Builder, List<T>> of) {
    return failures.stream().map(of).flatMap(List::stream).distinct().toList();
  }

  private TransitionOutcome fail(FailRequestProto.Builder failure, TransitionRow row, Work work) {
    try {
      coding.fail(null, failure.build());
      return outcome(row, Result.FAILED, failure.getReason(), work);
    } catch (ServiceException e) {
      return outcome(
          row, Result.ABANDONED, failure.getReason() + "; the namenode was not told: " + e, work);
    }
  }

  static String reason(CombineResponseProto response) {
    StringBuilder text = new StringBuilder(response.getStatus().name());
    if (response.hasMessage()) {
      text.append(": ").append(response.getMessage());
    }
    response
        .getFailedSourcesList()
        .forEach(
            f -> text.append("; source ").append(f.getIndex()).append(' ').append(f.getMessage()));
    response
        .getFailedTargetsList()
        .forEach(
            f -> text.append("; target ").append(f.getIndex()).append(' ').append(f.getMessage()));
    return text.toString();
  }

  /** Why an answer of OK does not fit the request; empty if it fits. */
  private static Optional<String> mismatch(
      CombineRequestProto request, CombineResponseProto response) {
    if (response.getTargetsCount() != request.getTargetsCount()) {
      return Optional.of(
          "%d results for %d targets"
              .formatted(response.getTargetsCount(), request.getTargetsCount()));
    }
    if (request.hasOutputCheck()
        && response.getCheckedSourcesCount() != request.getSourcesCount()) {
      return Optional.of("the server did not check its outputs: give it the namenode's version");
    }
    for (int i = 0; i < request.getTargetsCount(); i++) {
      long wanted = request.getTargets(i).getBlock().getNumBytes();
      long written = response.getTargets(i).getLengthBytes();
      if (wanted != written) {
        return Optional.of("target %d has %d bytes, wanted %d".formatted(i, written, wanted));
      }
    }
    return Optional.empty();
  }

  private static String describe(StepProto step) {
    return "combine %s at %s:%d"
        .formatted(
            step.getCombine().getId(),
            step.getExecutor().getIpAddr(),
            step.getExecutor().getIpcPort());
  }

  private static Work workOf(CombineResponseProto response) {
    return new Work(
        response.getBlocksRead(),
        response.getBytesReadLocal() + response.getBytesReadRemote(),
        response.getBytesWrittenLocal() + response.getBytesWrittenRemote(),
        response.getElapsedMicros(),
        0,
        0,
        0,
        0);
  }

  private static TransitionOutcome outcome(
      TransitionRow row, Result result, String detail, Work work) {
    return new TransitionOutcome(row.getId(), row.getKind(), result, detail, work);
  }
}
