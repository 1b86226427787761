package io.ebbfs.verify.simulator;

import io.ebbfs.protocol.proto.ChunkProtos.BlockHealthProto;
import io.ebbfs.protocol.proto.ChunkProtos.BlockLocationProto;
import io.ebbfs.protocol.proto.ChunkProtos.CheckedSourceProto;
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
import io.ebbfs.protocol.proto.StoreProtos.TransitionBlockProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionOutputProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import io.ebbfs.raid.executor.CombineLimiter;
import io.ebbfs.raid.executor.ParallelCalls;
import io.ebbfs.raid.executor.Throttle;
import io.ebbfs.raid.executor.TransitionExecutor;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.apache.hadoop.thirdparty.protobuf.ServiceException;

/** A simulated raid-node: claims transitions, runs their combines and checks, and commits. */
final class SimWorker {
  private static final long LEASE_MILLIS = 8_000;

  /** A commit that is sent late. */
  interface LateCommit {
    void send(CodingProtocolService.BlockingInterface namenode) throws ServiceException;
  }

  /** A claimed transition, as far as the worker knows. */
  private static final class Job {
    private final ClaimedTransitionProto claimed;
    private final List<CombineResponseProto> results = new ArrayList<>();
    private int checksPassed;
    private boolean synced;

    Job(ClaimedTransitionProto claimed) {
      this.claimed = claimed;
    }

    String nextStep() {
      return isReady()
          ? checksPassed < claimed.getChecksCount() ? "check" : synced ? "commit" : "sync"
          : results.size() < 3 ? results.size() + 1 + "" : "4 or later";
    }

    boolean isConversion() {
      TransitionKindProto kind = claimed.getTransition().getKind();
      return kind == TransitionKindProto.UPCODE || kind == TransitionKindProto.DOWNCODE;
    }

    /** The blocks of an encoding of which one replica stays. */
    List<TransitionBlockProto> kept() {
      TransitionRow row = claimed.getTransition();
      List<Long> written =
          row.getOutputsList().stream().map(TransitionOutputProto::getBlockId).toList();
      return row.getKind() == TransitionKindProto.ENCODE
          ? row.getBlocksList().stream().filter(b -> !written.contains(b.getBlockId())).toList()
          : List.of();
    }

    boolean isReady() {
      return results.size() == claimed.getStepsCount();
    }

    boolean mayCommit() {
      return isReady() && checksPassed == claimed.getChecksCount() && synced;
    }
  }

  private final String name;
  private final SimCluster cluster;
  private final Oracle oracle;
  private final Random random;
  private final EventCounts events;
  private final PlantedBug bug;
  private final List<Job> jobs = new ArrayList<>();
  // Transitions that were claimed once. Their messages may still arrive.
  private final List<Job> formerJobs = new ArrayList<>();

  SimWorker(
      String name,
      SimCluster cluster,
      Oracle oracle,
      Random random,
      EventCounts events,
      PlantedBug bug) {
    this.oracle = oracle;
    this.bug = bug;
    this.events = events;
    this.name = name;
    this.cluster = cluster;
    this.random = random;
  }

  String name() {
    return name;
  }

  /** Whether the worker holds a claim of a conversion to another code. */
  boolean isConverting() {
    return jobs.stream().anyMatch(Job::isConversion);
  }

  boolean isBusy() {
    return !jobs.isEmpty();
  }

  /** The process dies and starts again. */
  void crash() {
    jobs.forEach(job -> events.add("fault worker crashed before step " + job.nextStep()));
    formerJobs.addAll(jobs);
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
        formerJobs.add(job);
      }
    }
  }

  /** Does one step of one job. With faults, a server may die or an answer may get lost. */
  void advance(CodingProtocolService.BlockingInterface namenode, boolean faults)
      throws ServiceException {
    if (jobs.isEmpty()) {
      return;
    }
    Job job = jobs.get(random.nextInt(jobs.size()));
    if (bug == PlantedBug.COMMITS_WITHOUT_WRITING && random.nextInt(3) == 0) {
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

  /** Runs the next combine of a job. */
  private void combine(CodingProtocolService.BlockingInterface namenode, Job job, boolean faults)
      throws ServiceException {
    StepProto step = job.claimed.getSteps(job.results.size());
    int targets = step.getCombine().getTargetsCount();
    boolean dies = faults && random.nextInt(25) == 0;
    if (dies) {
      events.add("fault server died in a combine");
    }
    Optional<CombineResponseProto> response =
        cluster.combine(
            name,
            step.getExecutor().getDatanodeUuid(),
            step.getCombine(),
            dies ? random.nextInt(targets + 1) : Integer.MAX_VALUE);
    if (faults && random.nextInt(20) == 0) {
      events.add("fault answer of a combine lost");
      response = Optional.empty();
    }
    if (response.isPresent() && response.get().getStatus() == CombineStatusProto.COMBINE_OK) {
      job.results.add(response.get());
    } else {
      jobs.remove(job);
      formerJobs.add(job);
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
      if (step.getCombine().hasOutputCheck()) {
        result.addCheckedSources(CheckedSourceProto.newBuilder().setLengthBytes(0).setCrc32C(0));
      }
      job.results.add(result.build());
    }
    job.checksPassed = job.claimed.getChecksCount();
    job.synced = true;
  }

  /** Runs the next check. After the last one, the kept replicas are synced, then it commits. */
  private void check(CodingProtocolService.BlockingInterface namenode, Job job, boolean faults)
      throws ServiceException {
    if (job.mayCommit()) {
      commit(namenode, job, faults);
      return;
    }
    if (job.checksPassed == job.claimed.getChecksCount()) {
      sync(namenode, job);
      return;
    }
    Optional<Boolean> holds =
        bug == PlantedBug.SKIPS_CHECKS || bug == PlantedBug.SWAPS_SOURCES
            ? Optional.of(true)
            : cluster.holds(name, job.claimed.getChecks(job.checksPassed), job.results);
    if (holds.orElse(false)) {
      job.checksPassed++;
      return;
    }
    jobs.remove(job);
    formerJobs.add(job);
    if (holds.isPresent()) {
      events.add("fault caught by a check");
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

  /** The holders of the replicas that an encoding keeps sync and read them. */
  private void sync(CodingProtocolService.BlockingInterface namenode, Job job)
      throws ServiceException {
    List<BadBlockProto> bad = new ArrayList<>();
    boolean safe = true;
    for (TransitionBlockProto block : job.kept()) {
      for (StepProto step : job.claimed.getStepsList()) {
        for (SourceProto source : step.getCombine().getSourcesList()) {
          if (source.getBlock().getBlockId() == block.getBlockId()) {
            safe &= sync(source, block.getKeepStorageUuid(), bad);
          }
        }
      }
    }
    if (safe) {
      job.synced = true;
      return;
    }
    jobs.remove(job);
    formerJobs.add(job);
    fail(namenode, job, bad, List.of());
  }

  private boolean sync(SourceProto source, String storageUuid, List<BadBlockProto> bad) {
    for (BlockLocationProto location : source.getLocationsList()) {
      if (location.getStorageUuid().equals(storageUuid)) {
        String server = location.getServer().getDatanodeUuid();
        Optional<BlockHealthProto> health = cluster.health(name, server, source.getBlock());
        if (health.filter(BlockHealthProto.BLOCK_OK::equals).isPresent()) {
          cluster.sync(cluster.server(server), source.getBlock().getBlockId());
          return true;
        }
        health.ifPresent(
            found ->
                bad.add(
                    BadBlockProto.newBuilder()
                        .setBlock(source.getBlock())
                        .setLocation(location)
                        .setReason("kept replica")
                        .setHealth(found)
                        .build()));
      }
    }
    return false;
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
      for (BlockLocationProto location : cluster.badLocations(name, source)) {
        BadBlockProto.Builder found =
            BadBlockProto.newBuilder()
                .setBlock(source.getBlock())
                .setLocation(location)
                .setReason("corrupt or gone");
        if (bug != PlantedBug.ANSWERS_BEFORE_SCAN) {
          // Without this word the namenode believes for good that the bytes are wrong.
          cluster
              .health(name, location.getServer().getDatanodeUuid(), source.getBlock())
              .ifPresent(found::setHealth);
        }
        bad.add(found.build());
      }
    }
    return bad;
  }

  /** Runs a whole job by the raid-node's own code. No other event happens between its steps. */
  private void runWhole(CodingProtocolService.BlockingInterface namenode, Job job, boolean faults) {
    jobs.remove(job);
    formerJobs.add(job);
    SimChannel channel = new SimChannel(name, cluster, random, faults, events);
    TransitionExecutor executor =
        new TransitionExecutor(
            name,
            channel.losingAnswers(namenode),
            channel,
            new Throttle(0, () -> 0, millis -> {}),
            new CombineLimiter(1, 1),
            ParallelCalls.inTurn(),
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
    formerJobs.add(job);
    if (faults && random.nextInt(4) == 0) {
      events.add("fault commit held up");
      return;
    }
    sendCommit(namenode, job);
    if (faults && random.nextInt(10) == 0) {
      events.add("fault commit sent twice");
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
    if (bug == PlantedBug.ACCEPTS_OLD_ATTEMPTS && latest != null) {
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

  /** A random job, mostly one whose transition is active. */
  private Job any(List<Job> among) {
    List<Job> active =
        among.stream()
            .filter(former -> oracle.rows().isActive(former.claimed.getTransition().getId()))
            .toList();
    List<Job> choice = active.isEmpty() || random.nextInt(4) == 0 ? among : active;
    return choice.get(random.nextInt(choice.size()));
  }

  private boolean isRunning(Job job) {
    TransitionRow row = oracle.rows().transitions.get(job.claimed.getTransition().getId());
    return row != null && row.getState() == TransitionStateProto.RUNNING;
  }

  /**
   * Runs a job, a conversion if there is one, and hangs right before its commit.
   *
   * @return the commit that was not sent; empty if the job failed before
   */
  Optional<LateCommit> hangBeforeCommit(CodingProtocolService.BlockingInterface namenode)
      throws ServiceException {
    if (jobs.isEmpty()) {
      return Optional.empty();
    }
    Job job =
        jobs.stream()
            .filter(Job::isConversion)
            .findFirst()
            .orElse(jobs.get(random.nextInt(jobs.size())));
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

  /** A message of an old claim arrives late: a combine, a commit, or a failure. */
  void sendLateMessage(CodingProtocolService.BlockingInterface namenode) throws ServiceException {
    if (formerJobs.isEmpty()) {
      return;
    }
    Job former = any(formerJobs);
    switch (random.nextInt(4)) {
      case 0, 1 -> {
        if (former.claimed.getStepsCount() > 0) {
          events.add("fault combine of an old claim arrives late");
          StepProto step = former.claimed.getSteps(random.nextInt(former.claimed.getStepsCount()));
          cluster.withRightOutputs(
              () ->
                  cluster.combine(
                      name,
                      step.getExecutor().getDatanodeUuid(),
                      step.getCombine(),
                      Integer.MAX_VALUE));
        }
      }
      case 2 -> {
        List<Job> ready = formerJobs.stream().filter(Job::mayCommit).toList();
        List<Job> runAgain = ready.stream().filter(this::isRunning).toList();
        if (!ready.isEmpty()) {
          events.add("fault commit of an old claim arrives late");
          sendCommit(namenode, any(runAgain.isEmpty() ? ready : runAgain));
        }
      }
      default -> {
        events.add("fault failure of an old claim arrives late");
        fail(namenode, former, List.of(), List.of());
      }
    }
  }
}
