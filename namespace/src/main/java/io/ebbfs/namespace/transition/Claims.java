package io.ebbfs.namespace.transition;

import io.ebbfs.coding.CannotPlanException;
import io.ebbfs.namespace.IdGenerators;
import io.ebbfs.namespace.block.ClusterView;
import io.ebbfs.namespace.store.MetadataStore;
import io.ebbfs.namespace.store.MetadataStore.Durability;
import io.ebbfs.namespace.store.RowLock;
import io.ebbfs.namespace.store.Tables;
import io.ebbfs.namespace.stripe.Wire;
import io.ebbfs.namespace.transition.AttemptPlan.Output;
import io.ebbfs.namespace.transition.AttemptPlan.Step;
import io.ebbfs.protocol.proto.CodingProtos.CheckProto;
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
import io.ebbfs.settings.FailPoint;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.random.RandomGenerator;

/**
 * Hands transitions out to workers. What is to be done is planned anew for each attempt, from the
 * cluster as it is; the plan takes no locks, since the commit checks everything it relied on.
 * Thread-safe.
 */
public final class Claims {
  private static final long MIN_LEASE_MILLIS = 1_000;

  /** A claim that takes longer returns what it has: its first leases run already. */
  private static final long BUDGET_MILLIS = 2_000;

  private final MetadataStore store;
  private final IdGenerators ids;
  private final ClusterView cluster;
  private final ServerLoad load = new ServerLoad();

  /** Those that a claim is planning now: no two workers' claims plan the same one. */
  private final Set<Long> planning = ConcurrentHashMap.newKeySet();

  private final StepMessages messages;
  private final Checks checks;
  private final TransitionIndex index;
  private final Lifecycle lifecycle;
  private final Clock clock;
  private final TransitionSettings settings;
  private final EncodeAttempts encodes;
  private final ConversionAttempts conversions;
  private final RepairAttempts repairs;
  private final MoveAttempts moves;

  public Claims(
      MetadataStore store,
      IdGenerators ids,
      ClusterView cluster,
      Wire wire,
      TransitionIndex index,
      Lifecycle lifecycle,
      Clock clock,
      RandomGenerator random,
      TransitionSettings settings) {
    this.store = store;
    this.ids = ids;
    this.cluster = cluster;
    this.messages = new StepMessages(cluster, wire, load, random);
    this.checks = new Checks(messages, settings.verification());
    this.index = index;
    this.lifecycle = lifecycle;
    this.clock = clock;
    this.settings = settings;
    DiskChoice disks = new DiskChoice(cluster, random);
    this.encodes = new EncodeAttempts(cluster, disks);
    this.conversions = new ConversionAttempts(cluster, disks);
    this.repairs = new RepairAttempts(cluster, disks);
    this.moves = new MoveAttempts(cluster, disks);
  }

  // ---- claim -----------------------------------------------------------------------------------

  /** The most urgent transitions that can run now. Nothing while the cluster is in safe mode. */
  public ClaimResponseProto claim(ClaimRequestProto request) throws IOException {
    ClaimResponseProto.Builder response = ClaimResponseProto.newBuilder();
    if (cluster.inSafeMode()) {
      return response.build();
    }
    int limit = Math.min(Math.max(0, request.getLimit()), settings.maxClaim());
    Set<TransitionKindProto> kinds = EnumSet.noneOf(TransitionKindProto.class);
    kinds.addAll(request.getKindsList());
    load.keep(index::isActive);
    // What cannot be planned leaves the front of the queue, so this ends.
    long until = clock.millis() + BUDGET_MILLIS;
    for (int round = 0; round < 3 && response.getClaimedCount() < limit; round++) {
      int missing = limit - response.getClaimedCount();
      for (long id : index.runnable(clock.millis(), kinds, missing)) {
        claim(id, request).ifPresent(response::addClaimed);
        if (clock.millis() > until) {
          return response.build();
        }
      }
    }
    return response.build();
  }

  /** Nothing if it cannot be done now, or another worker's claim is planning it. */
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
        // Finding out what is missing takes time: only where it is the last word.
        Optional<Shortage> shortage = lifecycle.isLast(row) ? e.shortage() : Optional.empty();
        lifecycle.retryLater(id, row.getAttempt(), e.getMessage(), shortage);
      }
      return Optional.empty();
    }
    try {
      return start(row, withIds(plan), request);
    } catch (CannotPlanException e) {
      lifecycle.retryLater(id, row.getAttempt(), e.getMessage());
      return Optional.empty();
    }
  }

  private AttemptPlan plan(TransitionRow row) throws IOException, NotPlannableException {
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
                  case REPAIR -> repairs.plan(transaction, row);
                  case MOVE -> moves.plan(transaction, row);
                };
              } catch (NotPlannableException e) {
                failure[0] = e;
                return null;
              } catch (CannotPlanException | IllegalStateException e) {
                // A plan that fails its check must not keep the others in the queue waiting.
                failure[0] = NotPlannableException.now(e.getMessage());
                return null;
              }
            });
    if (plan == null) {
      throw failure[0];
    }
    return plan;
  }

  /** Gives the new blocks their ids. */
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
      steps.add(new Step(step.sources(), outputs, step.coefficients()));
    }
    return new AttemptPlan(plan.row(), steps, plan.results());
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
    List<StepProto> steps = new ArrayList<>();
    for (int s = 0; s < plan.steps().size(); s++) {
      String name = "transition-%d-%d-%d".formatted(before.getId(), running.getAttempt(), s);
      Optional<StepProto> step = messages.step(name, before.getId(), plan.steps().get(s));
      if (step.isEmpty()) {
        return serverWentAway(before);
      }
      steps.add(step.get());
    }
    String name = "check-%d-%d".formatted(before.getId(), running.getAttempt());
    Optional<List<CheckProto>> planned = checks.of(name, plan);
    if (planned.isEmpty()) {
      return serverWentAway(before);
    }
    TransitionRow row = running.setChecks(planned.get().size()).build();
    FailPoint.NAMENODE_CLAIM_BEFORE_RESERVE.reach();
    if (!reserve(before, row)) {
      return Optional.empty();
    }
    FailPoint.NAMENODE_CLAIM_AFTER_RESERVE.reach();
    lifecycle.committed(row);
    return Optional.of(
        ClaimedTransitionProto.newBuilder()
            .setTransition(row)
            .addAllSteps(steps)
            .addAllChecks(planned.get())
            .build());
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

  /** Writes the claim, unless somebody else was faster. */
  private boolean reserve(TransitionRow before, TransitionRow row) throws IOException {
    return store.transact(
        row.getId(),
        transaction -> {
          transaction.lock(
              List.of(RowLock.exclusive(Tables.TRANSITION, Lifecycle.key(row.getId()))));
          if (!transaction
              .get(Tables.TRANSITION, Lifecycle.key(row.getId()))
              .equals(Optional.of(before))) {
            return false;
          }
          for (TransitionOutputProto output : row.getOutputsList()) {
            // A copy or a rebuilt block has an owner already.
            if (transaction
                .get(Tables.BLOCK_OWNER, Tables.blockOwner(output.getBlockId()))
                .isEmpty()) {
              transaction.put(
                  Tables.BLOCK_OWNER,
                  Tables.blockOwner(output.getBlockId()),
                  BlockOwnerRow.newBuilder().setTransitionId(row.getId()).build());
            }
          }
          transaction.put(Tables.TRANSITION, Lifecycle.key(row.getId()), row);
          return true;
        });
  }

  private long leaseEnd(long leaseMillis) {
    return clock.millis()
        + Math.min(Math.max(leaseMillis, MIN_LEASE_MILLIS), settings.maxLeaseMillis());
  }

  // ---- renew and expire ------------------------------------------------------------------------

  /** Prolongs the claims that the worker still holds. */
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
          transaction.lock(List.of(RowLock.exclusive(Tables.TRANSITION, Lifecycle.key(id))));
          Optional<TransitionRow> row = transaction.get(Tables.TRANSITION, Lifecycle.key(id));
          if (row.isEmpty()
              || row.get().getState() != TransitionStateProto.RUNNING
              || !row.get().getWorker().equals(request.getWorker())) {
            return Optional.empty();
          }
          TransitionRow renewed =
              row.get().toBuilder().setLeaseEndsMillis(leaseEnd(request.getLeaseMillis())).build();
          transaction.put(Tables.TRANSITION, Lifecycle.key(id), renewed);
          return Optional.of(renewed);
        });
  }

  /** Takes claims back whose workers have not renewed them. */
  public void expire() throws IOException {
    for (long id : index.expired(clock.millis())) {
      if (lifecycle.expire(id).isEmpty()) {
        lifecycle.read(id).ifPresentOrElse(index::update, () -> index.remove(id));
      }
    }
  }
}
