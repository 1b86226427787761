package io.ebbfs.namenode.tasks.claim;

import io.ebbfs.coding.plan.CannotPlanException;
import io.ebbfs.common.failpoint.FailPoint;
import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.replicas.BlockService;
import io.ebbfs.namenode.store.IdGenerators;
import io.ebbfs.namenode.store.MetadataStore;
import io.ebbfs.namenode.store.MetadataStore.Durability;
import io.ebbfs.namenode.store.RowLock;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.namenode.store.WouldBlockException;
import io.ebbfs.namenode.stripes.ProtoConverter;
import io.ebbfs.namenode.tasks.lifecycle.PlacementShortage;
import io.ebbfs.namenode.tasks.lifecycle.TransitionContext;
import io.ebbfs.namenode.tasks.lifecycle.TransitionIndex;
import io.ebbfs.namenode.tasks.lifecycle.TransitionLifecycle;
import io.ebbfs.namenode.tasks.lifecycle.TransitionSettings;
import io.ebbfs.namenode.tasks.plan.AttemptPlan;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Output;
import io.ebbfs.namenode.tasks.plan.AttemptPlan.Step;
import io.ebbfs.namenode.tasks.plan.ConversionAttemptPlanner;
import io.ebbfs.namenode.tasks.plan.EncodeAttemptPlanner;
import io.ebbfs.namenode.tasks.plan.GroupReleaseAttemptPlanner;
import io.ebbfs.namenode.tasks.plan.MoveAttemptPlanner;
import io.ebbfs.namenode.tasks.plan.NotPlannableException;
import io.ebbfs.namenode.tasks.plan.ReleaseAttemptPlanner;
import io.ebbfs.namenode.tasks.plan.RepairAttemptPlanner;
import io.ebbfs.namenode.tasks.plan.SubtractAttemptPlanner;
import io.ebbfs.namenode.tasks.plan.TargetDiskChooser;
import io.ebbfs.protocol.proto.ChunkProtos.OutputCheckProto;
import io.ebbfs.protocol.proto.CodingProtos.ClaimRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.ClaimResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.ClaimedTransitionProto;
import io.ebbfs.protocol.proto.CodingProtos.RenewRequestProto;
import io.ebbfs.protocol.proto.CodingProtos.RenewResponseProto;
import io.ebbfs.protocol.proto.CodingProtos.StepProto;
import io.ebbfs.protocol.proto.StoreProtos.BlockOwnerRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionOutputProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands transitions out to workers (a claim), prolongs their leases, and takes back the transitions
 * whose lease has ended. Each attempt is planned anew from the present state of the cluster. A plan
 * takes no locks: the commit checks every row that the plan relied on. Thread-safe.
 */
public final class ClaimService {
  private static final Logger LOG = LoggerFactory.getLogger(ClaimService.class);

  private static final long MIN_LEASE_MILLIS = 1_000;

  /**
   * A claim that takes longer returns the transitions planned so far, because the leases of the
   * first of them run already.
   */
  private static final long BUDGET_MILLIS = 2_000;

  /** A transition that cannot be planned leaves the front of the queue, so more rounds can help. */
  private static final int MOST_ROUNDS = 8;

  private final MetadataStore store;
  private final IdGenerators ids;
  private final ClusterView cluster;
  private final CombineLoadTracker load = new CombineLoadTracker();

  /** Transitions that a claim is planning now: a second claim passes over them. */
  private final Set<Long> planning = ConcurrentHashMap.newKeySet();

  private final ClaimLimiter limiter;
  private final PostponedTransitions postponed;
  private final StepMessageBuilder messages;
  private final OutputCheckPlanner checks;
  private final TransitionIndex index;
  private final TransitionLifecycle lifecycle;
  private final Clock clock;
  private final TransitionSettings settings;
  private final EncodeAttemptPlanner encodes;
  private final ConversionAttemptPlanner conversions;
  private final SubtractAttemptPlanner subtractions;
  private final ReleaseAttemptPlanner releases;
  private final GroupReleaseAttemptPlanner groupReleases;
  private final RepairAttemptPlanner repairs;
  private final MoveAttemptPlanner moves;

  /** Reads the transitions that run, since their servers are not free. */
  public ClaimService(
      TransitionContext context,
      BlockService blocks,
      ProtoConverter converter,
      RandomGenerator random)
      throws IOException {
    this.store = context.store();
    this.ids = context.ids();
    this.cluster = context.cluster();
    this.messages = new StepMessageBuilder(cluster, converter, load, random);
    this.checks = new OutputCheckPlanner(messages, context.settings().verification());
    this.index = context.index();
    this.lifecycle = context.lifecycle();
    this.clock = context.clock();
    this.settings = context.settings();
    this.limiter = new ClaimLimiter(settings.limits(), clock);
    this.postponed = new PostponedTransitions(limiter, clock);
    TargetDiskChooser disks = new TargetDiskChooser(context.codes(), cluster, random);
    this.encodes = new EncodeAttemptPlanner(context.codes(), cluster, disks);
    this.conversions = new ConversionAttemptPlanner(context.codes(), cluster, disks);
    this.subtractions = new SubtractAttemptPlanner(context.codes(), cluster, disks);
    this.releases =
        new ReleaseAttemptPlanner(context.codes(), cluster, blocks, disks, subtractions);
    this.groupReleases =
        new GroupReleaseAttemptPlanner(context.codes(), cluster, blocks, disks, ids);
    this.repairs = new RepairAttemptPlanner(context.codes(), cluster, disks);
    this.moves = new MoveAttemptPlanner(context.codes(), cluster, disks);
    for (long id : index.running()) {
      lifecycle.read(id).ifPresent(limiter::hold);
    }
  }

  // ---- claim -----------------------------------------------------------------------------------

  /**
   * Claims the most urgent transitions that can run now and for which the servers have room; none
   * while the cluster is in safe mode.
   */
  public ClaimResponseProto claim(ClaimRequestProto request) throws IOException {
    ClaimResponseProto.Builder response = ClaimResponseProto.newBuilder();
    if (cluster.inSafeMode()) {
      return response.build();
    }
    int limit = Math.min(Math.max(0, request.getLimit()), settings.maxClaim());
    Set<TransitionKindProto> kinds = EnumSet.noneOf(TransitionKindProto.class);
    kinds.addAll(request.getKindsList());
    load.keep(index::isActive);
    limiter.keep(id -> planning.contains(id) || index.isRunning(id));
    postponed.refresh();
    long until = clock.millis() + BUDGET_MILLIS;
    for (int round = 0; round < MOST_ROUNDS && response.getClaimedCount() < limit; round++) {
      int missing = limit - response.getClaimedCount();
      List<Long> next = index.runnable(clock.millis(), kinds, postponed::isWorthPlanning, missing);
      if (next.isEmpty()) {
        break;
      }
      for (long id : next) {
        if (postponed.isWorthPlanning(id)) {
          claim(id, request).ifPresent(response::addClaimed);
        }
        if (clock.millis() > until) {
          return response.build();
        }
      }
    }
    return response.build();
  }

  /** Empty if the transition cannot run now, or if another claim is planning it. */
  private Optional<ClaimedTransitionProto> claim(long id, ClaimRequestProto request)
      throws IOException {
    if (!planning.add(id)) {
      return Optional.empty();
    }
    try {
      Optional<TransitionRow> row = lifecycle.read(id);
      if (row.isEmpty()) {
        index.remove(id);
        return Optional.empty();
      }
      if (row.get().getState() != TransitionStateProto.PLANNED) {
        index.update(row.get());
        return Optional.empty();
      }
      load.remove(id);
      Optional<ClaimedTransitionProto> claimed = claim(row.get(), request);
      if (claimed.isEmpty()) {
        load.remove(id);
      }
      return claimed;
    } finally {
      planning.remove(id);
    }
  }

  private Optional<ClaimedTransitionProto> claim(TransitionRow row, ClaimRequestProto request)
      throws IOException {
    long id = row.getId();
    AttemptPlan plan;
    try {
      plan = plan(row);
    } catch (NotPlannableException e) {
      if (e.forEver()) {
        lifecycle.drop(id, e.getMessage());
      } else {
        // The search for the servers or bytes that the cluster lacks takes time: last attempt only.
        Optional<PlacementShortage> shortage =
            lifecycle.isLast(row) ? e.shortage() : Optional.empty();
        lifecycle.retryLater(id, row.getAttempt(), e.getMessage(), shortage);
      }
      return Optional.empty();
    }
    try {
      return start(row, withIds(plan), request);
    } catch (CannotPlanException | IllegalStateException | IllegalArgumentException e) {
      // One transition that cannot be planned must not keep others from being claimed.
      lifecycle.retryLater(id, row.getAttempt(), String.valueOf(e.getMessage()));
      return Optional.empty();
    }
  }

  /**
   * Plans an attempt. Whatever the planning throws concerns this transition only, for example
   * because its rows are damaged: it must not keep others from being claimed.
   */
  private AttemptPlan plan(TransitionRow row) throws IOException, NotPlannableException {
    try {
      return planUnchecked(row);
    } catch (CannotPlanException | IllegalStateException | IllegalArgumentException e) {
      throw NotPlannableException.now(e.getMessage());
    } catch (WouldBlockException e) {
      throw e;
    } catch (RuntimeException e) {
      LOG.warn("Transition {} cannot be planned", row.getId(), e);
      throw NotPlannableException.now("its planning fails: " + e);
    }
  }

  private AttemptPlan planUnchecked(TransitionRow row) throws IOException, NotPlannableException {
    NotPlannableException[] failure = new NotPlannableException[1];
    AttemptPlan plan =
        store.transact(
            row.getId(),
            Durability.RELAXED,
            transaction -> {
              try {
                return switch (row.getKind()) {
                  case ENCODE, REWRITE -> encodes.plan(transaction, row);
                  case UPCODE, DOWNCODE -> conversions.plan(transaction, row);
                  case SUBTRACT -> subtractions.plan(transaction, row);
                  case RELEASE ->
                      row.hasGroupFileId()
                          ? groupReleases.plan(transaction, row)
                          : releases.plan(transaction, row);
                  case REPAIR -> repairs.plan(transaction, row);
                  case MOVE -> moves.plan(transaction, row);
                };
              } catch (NotPlannableException e) {
                failure[0] = e;
                return null;
              }
            });
    if (plan == null) {
      throw failure[0];
    }
    return plan;
  }

  /** The plan with ids and generation stamps for its new blocks. */
  private AttemptPlan withIds(AttemptPlan plan) throws IOException {
    List<Step> steps = new ArrayList<>();
    for (Step step : plan.steps()) {
      List<Output> outputs = new ArrayList<>();
      for (Output output : step.outputs()) {
        outputs.add(
            !output.isNew()
                ? output
                : new Output(
                    output.stripeIndex(),
                    output.position(),
                    ids.blocks().next(),
                    ids.generationStamps().next(),
                    output.lengthBytes(),
                    output.storageUuid()));
      }
      steps.add(step.writing(outputs));
    }
    return new AttemptPlan(plan.row(), steps, plan.results(), plan.dead());
  }

  private Optional<ClaimedTransitionProto> start(
      TransitionRow before, AttemptPlan plan, ClaimRequestProto request) throws IOException {
    TransitionRow.Builder running =
        plan.row().toBuilder()
            .setState(TransitionStateProto.RUNNING)
            .setAttempt(before.getAttempt() + 1)
            .setWorker(request.getWorker())
            .setUpdatedMillis(clock.millis())
            .setClaimedMillis(clock.millis())
            .setLeaseEndsMillis(leaseEnd(request.getLeaseMillis()))
            .clearNotBeforeMillis()
            .clearOutputs();
    plan.steps().forEach(step -> step.outputs().forEach(output -> running.addOutputs(row(output))));
    String name = "check-%d-%d".formatted(before.getId(), running.getAttempt());
    Optional<List<StepProto>> messages = messages(plan, before.getId(), running.getAttempt());
    Optional<OutputCheckPlanner.Checks> planned =
        messages.isEmpty() ? Optional.empty() : checks.of(name, plan);
    if (planned.isEmpty()) {
      return serverWentAway(before);
    }
    List<StepProto> steps = withChecks(messages.get(), planned.get().inSteps());
    Footprint footprint = Footprint.of(steps, planned.get().checks());
    TransitionRow row =
        running
            .setChecks(planned.get().checks().size())
            .setCheckedCombines(planned.get().inSteps().size())
            .clearServerUses()
            .addAllServerUses(footprint.uses())
            .build();
    if (!limiter.admit(row, footprint)) {
      postponed.add(row, footprint);
      return Optional.empty();
    }
    postponed.remove(row.getId());
    boolean started = false;
    try {
      FailPoint.NAMENODE_CLAIM_BEFORE_RESERVE.reach();
      started = reserve(before, row);
      FailPoint.NAMENODE_CLAIM_AFTER_RESERVE.reach();
    } finally {
      if (!started) {
        limiter.giveBack(row, footprint);
      }
    }
    if (!started) {
      return Optional.empty();
    }
    lifecycle.committed(row);
    return Optional.of(
        ClaimedTransitionProto.newBuilder()
            .setTransition(row)
            .addAllSteps(steps)
            .addAllChecks(planned.get().checks())
            .build());
  }

  /** The steps of a plan as messages; empty if a server that they need is not in service. */
  private Optional<List<StepProto>> messages(AttemptPlan plan, long id, int attempt) {
    List<StepProto> steps = new ArrayList<>();
    for (int s = 0; s < plan.steps().size(); s++) {
      String name = "transition-%d-%d-%d".formatted(id, attempt, s);
      Optional<StepProto> step = messages.step(name, id, plan.steps().get(s));
      if (step.isEmpty()) {
        return Optional.empty();
      }
      steps.add(step.get());
    }
    return Optional.of(steps);
  }

  private static List<StepProto> withChecks(
      List<StepProto> steps, Map<Integer, OutputCheckProto> checks) {
    List<StepProto> checked = new ArrayList<>(steps);
    checks.forEach(
        (index, check) -> {
          StepProto.Builder step = steps.get(index).toBuilder();
          step.getCombineBuilder().setOutputCheck(check);
          checked.set(index, step.build());
        });
    return checked;
  }

  private Optional<ClaimedTransitionProto> serverWentAway(TransitionRow before) throws IOException {
    lifecycle.retryLater(
        before.getId(), before.getAttempt(), "a server went away while this was planned");
    return Optional.empty();
  }

  private static TransitionOutputProto row(Output output) {
    return TransitionOutputProto.newBuilder()
        .setStripeIndex(output.stripeIndex())
        .setPosition(output.position())
        .setBlockId(output.blockId())
        .setGenerationStamp(output.generationStamp())
        .setLengthBytes(output.lengthBytes())
        .setStorageUuid(output.storageUuid())
        .build();
  }

  /**
   * Writes the claim and reserves the ids of the new blocks.
   *
   * @return false if the row has changed since it was planned from
   */
  private boolean reserve(TransitionRow before, TransitionRow row) throws IOException {
    return store.transact(
        row.getId(),
        transaction -> {
          transaction.lock(
              List.of(RowLock.exclusive(Tables.TRANSITION, TransitionLifecycle.key(row.getId()))));
          if (!transaction
              .get(Tables.TRANSITION, TransitionLifecycle.key(row.getId()))
              .equals(Optional.of(before))) {
            return false;
          }
          for (TransitionOutputProto output : row.getOutputsList()) {
            // A copied or rebuilt block has an owner already; a new parity is reserved.
            if (transaction
                .get(Tables.BLOCK_OWNER, Tables.blockOwner(output.getBlockId()))
                .isEmpty()) {
              transaction.put(
                  Tables.BLOCK_OWNER,
                  Tables.blockOwner(output.getBlockId()),
                  BlockOwnerRow.newBuilder().setTransitionId(row.getId()).build());
            }
          }
          transaction.put(Tables.TRANSITION, TransitionLifecycle.key(row.getId()), row);
          return true;
        });
  }

  private long leaseEnd(long leaseMillis) {
    return clock.millis()
        + Math.min(Math.max(leaseMillis, MIN_LEASE_MILLIS), settings.maxLeaseMillis());
  }

  // ---- renew and expire ------------------------------------------------------------------------

  /** Prolongs the leases of the transitions that the worker still holds, and names the others. */
  public RenewResponseProto renew(RenewRequestProto request) throws IOException {
    RenewResponseProto.Builder response = RenewResponseProto.newBuilder();
    for (long id : request.getTransitionIdsList()) {
      Optional<TransitionRow> renewed = renew(id, request);
      if (renewed.isPresent()) {
        lifecycle.committed(renewed.get());
      } else {
        response.addLostTransitionIds(id);
      }
    }
    return response.build();
  }

  private Optional<TransitionRow> renew(long id, RenewRequestProto request) throws IOException {
    return store.transact(
        id,
        Durability.RELAXED,
        transaction -> {
          transaction.lock(
              List.of(RowLock.exclusive(Tables.TRANSITION, TransitionLifecycle.key(id))));
          Optional<TransitionRow> row =
              transaction.get(Tables.TRANSITION, TransitionLifecycle.key(id));
          if (row.isEmpty()
              || row.get().getState() != TransitionStateProto.RUNNING
              || !row.get().getWorker().equals(request.getWorker())) {
            return Optional.empty();
          }
          TransitionRow renewed =
              row.get().toBuilder().setLeaseEndsMillis(leaseEnd(request.getLeaseMillis())).build();
          transaction.put(Tables.TRANSITION, TransitionLifecycle.key(id), renewed);
          return Optional.of(renewed);
        });
  }

  /** Takes back the transitions whose workers have not renewed their lease. */
  public void expire() throws IOException {
    for (long id : index.expired(clock.millis())) {
      if (lifecycle.expire(id).isEmpty()) {
        lifecycle.read(id).ifPresentOrElse(index::update, () -> index.remove(id));
      }
    }
  }
}
