package io.ebbfs.namespace.simulation;

import io.ebbfs.protocol.proto.ChunkProtos.BlockLocationProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineFailureProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineResponseProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombineStatusProto;
import io.ebbfs.protocol.proto.ChunkProtos.CombinedTargetProto;
import io.ebbfs.protocol.proto.ChunkProtos.SourceProto;
import io.ebbfs.protocol.proto.ChunkProtos.TargetProto;
import io.ebbfs.protocol.proto.CodingProtos.BadBlockProto;
import io.ebbfs.protocol.proto.CodingProtos.ClaimRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import io.ebbfs.protocol.proto.CodingProtos.CodingProtocolService;
import io.ebbfs.protocol.proto.CodingProtos.CommitRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.FailRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.RenewRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.StepProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.raid.AtOnce;
import io.ebbfs.raid.CombineLimits;
import io.ebbfs.raid.Throttle;
import io.ebbfs.raid.TransitionExecutor;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/** A simulated raid-node: claims transitions, has chunk servers combine, commits. */
final class SimWorker {
  private static final long LEASE_MILLIS = 8_000;

  /** A commit that was held up. */
  interface LateCommit {
    void send(CodingProtocolService.BlockingInterface namenode) throws ServiceException;
  }

  /** A transition that the worker believes to hold. */
  private static final class Job {
    private final ClaimedTransitionProto claimed;
    private final List<CombineResponseProto> results = new ArrayList<>();
    private int checksPassed;

    Job(ClaimedTransitionProto claimed) {
      this.claimed = claimed;
    }

    String nextStep() {
      return isReady()
          ? checksPassed == claimed.getChecksCount() ? "commit" : "check"
          : results.size() < 3 ? results.size() + 1 + "" : "4 or later";
    }

    boolean isReady() {
      return results.size() == claimed.getStepsCount();
    }

    boolean mayCommit() {
      return isReady() && checksPassed == claimed.getChecksCount();
    }
  }

  private final String name;
  private final SimCluster cluster;
  private final Oracle oracle;
  private final Random random;
  private final Tally tally;
  private final Bug bug;
  private final List<Job> jobs = new ArrayList<>();
  // What it once held: messages of theirs may still arrive.
  private final List<Job> ghosts = new ArrayList<>();

  SimWorker(String name, SimCluster cluster, Oracle oracle, Random random, Tally tally, Bug bug) {
    this.oracle = oracle;
    this.bug = bug;
    this.tally = tally;
    this.name = name;
    this.cluster = cluster;
    this.random = random;
  }

  boolean isBusy() {
    return !jobs.isEmpty();
  }

  /** Dies and starts again. */
  void crash() {
    jobs.forEach(job -> tally.add("fault worker crashed before step " + job.nextStep()));
    ghosts.addAll(jobs);
    jobs.clear();
  }

  int claim(CodingProtocolService.BlockingInterface namenode, int limit) throws ServiceException {
    List<ClaimedTransitionProto> claimed =
        namenode
            .claim(
                null,
                ClaimRequestProto.newBuilder()
                    .setWorker(name)
                    .setLimit(limit)
                    .setLeaseMillis(LEASE_MILLIS)
                    .build())
            .getClaimedList();
    claimed.forEach(transition -> jobs.add(new Job(transition)));
    return claimed.size();
  }

  void renew(CodingProtocolService.BlockingInterface namenode) throws ServiceException {
    List<Long> ids = jobs.stream().map(j -> j.claimed.getTransition().getId()).toList();
    List<Long> lost =
        namenode
            .renew(
                null,
                RenewRequestProto.newBuilder()
                    .setWorker(name)
                    .addAllTransitionIds(ids)
                    .setLeaseMillis(LEASE_MILLIS)
                    .build())
            .getLostTransitionIdsList();
    for (Job job : List.copyOf(jobs)) {
      if (lost.contains(job.claimed.getTransition().getId())) {
        jobs.remove(job);
        ghosts.add(job);
      }
    }
  }

  /** One step of one job. With faults, the executor may die or the answer may get lost. */
  void advance(CodingProtocolService.BlockingInterface namenode, boolean faults)
      throws ServiceException {
    if (jobs.isEmpty()) {
      return;
    }
    Job job = jobs.get(random.nextInt(jobs.size()));
    if (bug == Bug.COMMITS_WITHOUT_WRITING && random.nextInt(3) == 0) {
      pretend(job);
    }
    if (job.results.isEmpty() && random.nextInt(3) == 0) {
      runWhole(namenode, job, faults);
      return;
    }
    if (job.isReady()) {
      check(namenode, job, faults);
    } else {
      combine(namenode, job, faults);
    }
  }

  /** The next step of a job. */
  private void combine(CodingProtocolService.BlockingInterface namenode, Job job, boolean faults)
      throws ServiceException {
    StepProto step = job.claimed.getSteps(job.results.size());
    int targets = step.getCombine().getTargetsCount();
    boolean dies = faults && random.nextInt(25) == 0;
    if (dies) {
      tally.add("fault server died in a combine");
    }
    Optional<CombineResponseProto> response =
        cluster.combine(
            step.getExecutor().getDatanodeUuid(),
            step.getCombine(),
            dies ? random.nextInt(targets + 1) : Integer.MAX_VALUE);
    if (faults && random.nextInt(20) == 0) {
      tally.add("fault answer of a combine lost");
      response = Optional.empty();
    }
    if (response.isPresent() && response.get().getStatus() == CombineStatusProto.COMBINE_OK) {
      job.results.add(response.get());
    } else {
      jobs.remove(job);
      ghosts.add(job);
      fail(
          namenode,
          job,
          response.map(r -> badBlocks(step, r)).orElse(List.of()),
          response.map(r -> fullTargets(step, r)).orElse(List.of()));
    }
  }

  private static void pretend(Job job) {
    for (StepProto step :
        job.claimed.getStepsList().subList(job.results.size(), job.claimed.getStepsCount())) {
      CombineResponseProto.Builder result =
          CombineResponseProto.newBuilder().setStatus(CombineStatusProto.COMBINE_OK);
      step.getCombine()
          .getTargetsList()
          .forEach(
              target ->
                  result.addTargets(
                      CombinedTargetProto.newBuilder()
                          .setLengthBytes(target.getBlock().getNumBytes())
                          .setCrc32C(0)));
      job.results.add(result.build());
    }
    job.checksPassed = job.claimed.getChecksCount();
  }

  /** One check, or the commit after the last one. */
  private void check(CodingProtocolService.BlockingInterface namenode, Job job, boolean faults)
      throws ServiceException {
    if (job.checksPassed == job.claimed.getChecksCount()) {
      commit(namenode, job, faults);
      return;
    }
    Optional<Boolean> holds =
        bug == Bug.SKIPS_CHECKS || bug == Bug.SWAPS_SOURCES
            ? Optional.of(true)
            : cluster.holds(job.claimed.getChecks(job.checksPassed));
    if (holds.orElse(false)) {
      job.checksPassed++;
      return;
    }
    jobs.remove(job);
    ghosts.add(job);
    if (holds.isPresent()) {
      tally.add("fault caught by a check");
    }
    namenode.fail(
        null,
        FailRequestProto.newBuilder()
            .setWorker(name)
            .setTransitionId(job.claimed.getTransition().getId())
            .setAttempt(job.claimed.getTransition().getAttempt())
            .setReason("a check was not passed")
            .setVerificationFailed(holds.isPresent())
            .build());
  }

  private static List<TargetProto> fullTargets(StepProto step, CombineResponseProto response) {
    return response.getFailedTargetsList().stream()
        .filter(CombineFailureProto::getNoSpace)
        .map(failed -> step.getCombine().getTargets(failed.getIndex()))
        .toList();
  }

  private List<BadBlockProto> badBlocks(StepProto step, CombineResponseProto response) {
    List<BadBlockProto> bad = new ArrayList<>();
    for (CombineFailureProto failed : response.getFailedSourcesList()) {
      SourceProto source = step.getCombine().getSources(failed.getIndex());
      for (BlockLocationProto location : cluster.badLocations(source)) {
        bad.add(
            BadBlockProto.newBuilder()
                .setBlock(source.getBlock())
                .setLocation(location)
                .setReason("corrupt or gone")
                .build());
      }
    }
    return bad;
  }

  /** All of a job by the raid-node's own code: nothing comes between its steps but their faults. */
  private void runWhole(CodingProtocolService.BlockingInterface namenode, Job job, boolean faults) {
    jobs.remove(job);
    ghosts.add(job);
    SimChannel channel = new SimChannel(cluster, random, faults, tally);
    TransitionExecutor executor =
        new TransitionExecutor(
            name,
            channel.overheard(namenode),
            channel,
            new Throttle(0, () -> 0, millis -> {}),
            new CombineLimits(1, 1),
            AtOnce.inTurn(),
            millis -> {});
    try {
      executor.run(job.claimed, id -> false);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    } finally {
      job.results.addAll(channel.done());
    }
  }

  private void commit(CodingProtocolService.BlockingInterface namenode, Job job, boolean faults)
      throws ServiceException {
    jobs.remove(job);
    ghosts.add(job);
    if (faults && random.nextInt(4) == 0) {
      tally.add("fault commit held up");
      return;
    }
    sendCommit(namenode, job);
    if (faults && random.nextInt(10) == 0) {
      tally.add("fault commit sent twice");
      sendCommit(namenode, job);
    }
  }

  private void sendCommit(CodingProtocolService.BlockingInterface namenode, Job job)
      throws ServiceException {
    TransitionRow claimed = job.claimed.getTransition();
    CommitRequestProto.Builder request =
        CommitRequestProto.newBuilder()
            .setWorker(name)
            .setTransitionId(claimed.getId())
            .setAttempt(claimed.getAttempt())
            .addAllResults(job.results)
            .setChecksPassed(job.checksPassed);
    TransitionRow latest = oracle.rows().transitions.get(claimed.getId());
    if (bug == Bug.ACCEPTS_OLD_ATTEMPTS && latest != null) {
      request.setWorker(latest.getWorker()).setAttempt(latest.getAttempt());
    }
    namenode.commit(null, request.build());
  }

  private void fail(
      CodingProtocolService.BlockingInterface namenode,
      Job job,
      List<BadBlockProto> bad,
      List<TargetProto> full)
      throws ServiceException {
    namenode.fail(
        null,
        FailRequestProto.newBuilder()
            .setWorker(name)
            .setTransitionId(job.claimed.getTransition().getId())
            .setAttempt(job.claimed.getTransition().getAttempt())
            .setReason("a combine did not work")
            .addAllBadBlocks(bad)
            .addAllFullTargets(full)
            .build());
  }

  /** Mostly one whose transition is running again. */
  private Job any(List<Job> among) {
    List<Job> active =
        among.stream()
            .filter(ghost -> oracle.rows().isActive(ghost.claimed.getTransition().getId()))
            .toList();
    List<Job> choice = active.isEmpty() || random.nextInt(4) == 0 ? among : active;
    return choice.get(random.nextInt(choice.size()));
  }

  private boolean isRunning(Job job) {
    TransitionRow row = oracle.rows().transitions.get(job.claimed.getTransition().getId());
    return row != null && row.getState() == TransitionStateProto.RUNNING;
  }

  /**
   * Gets on with a job and hangs right before its commit.
   *
   * @return what it would have sent, if the job came that far
   */
  Optional<LateCommit> hangBeforeCommit(CodingProtocolService.BlockingInterface namenode)
      throws ServiceException {
    if (jobs.isEmpty()) {
      return Optional.empty();
    }
    Job job = jobs.get(random.nextInt(jobs.size()));
    while (jobs.contains(job) && !job.mayCommit()) {
      if (job.isReady()) {
        check(namenode, job, false);
      } else {
        combine(namenode, job, false);
      }
    }
    crash();
    return job.mayCommit() ? Optional.of(late -> sendCommit(late, job)) : Optional.empty();
  }

  /** A message of a claim that is long over arrives: a combine, a commit, or a failure. */
  void haunt(CodingProtocolService.BlockingInterface namenode) throws ServiceException {
    if (ghosts.isEmpty()) {
      return;
    }
    Job ghost = any(ghosts);
    switch (random.nextInt(4)) {
      case 0, 1 -> {
        if (ghost.claimed.getStepsCount() > 0) {
          tally.add("fault combine of an old claim arrives late");
          StepProto step = ghost.claimed.getSteps(random.nextInt(ghost.claimed.getStepsCount()));
          cluster.withRightOutputs(
              () ->
                  cluster.combine(
                      step.getExecutor().getDatanodeUuid(), step.getCombine(), Integer.MAX_VALUE));
        }
      }
      case 2 -> {
        List<Job> ready = ghosts.stream().filter(Job::mayCommit).toList();
        List<Job> runAgain = ready.stream().filter(this::isRunning).toList();
        if (!ready.isEmpty()) {
          tally.add("fault commit of an old claim arrives late");
          sendCommit(namenode, any(runAgain.isEmpty() ? ready : runAgain));
        }
      }
      default -> {
        tally.add("fault failure of an old claim arrives late");
        fail(namenode, ghost, List.of(), List.of());
      }
    }
  }
}
