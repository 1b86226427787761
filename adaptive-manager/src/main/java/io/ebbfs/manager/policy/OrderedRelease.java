package io.ebbfs.manager.policy;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.manager.bound.ClientStripedForecast;
import io.ebbfs.manager.bound.ReleaseForecast;
import io.ebbfs.manager.bound.StorageBound;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.view.ClusterSnapshot;
import io.ebbfs.manager.view.FileView;
import io.ebbfs.manager.view.StripeView;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Decides the releases that an operator orders: encoded files of one policy become replicas, be it
 * that the policy has encoded them or their clients. Pure; one object makes one plan.
 */
public final class OrderedRelease {
  /** The word for replicas where an order names a code. */
  public static final String REPLICAS = "replicas";

  private final PolicyView view;
  private final String reason;
  private final StorageBound bound;
  private final Map<Long, FileView> leaving = new HashMap<>();
  private final List<Decision> decisions = new ArrayList<>();
  private long leavingBytes;
  private double movedBytes;
  private double storedDeltaBytes;
  private boolean fits = true;
  private long busy;
  private long foreign;
  private long singleReplica;
  private long unknownReplication;
  private int clientStripedFiles;
  private ClientStripedForecast clientStriped = ClientStripedForecast.NONE;

  private OrderedRelease(PolicyView view, StorageBound bound, String reason) {
    this.view = view;
    this.bound = bound;
    this.reason = reason;
  }

  /**
   * Plans an order.
   *
   * @param snapshot with the files, their stripes, and all that is under way
   * @param fileIds the files that become replicas
   * @param stripeIds stripes with blocks of these files; stripes of other policies are left out
   */
  public static OrderedConversion.Plan plan(
      CodeRegistry codes,
      ClusterSnapshot snapshot,
      PolicyRule rule,
      String reason,
      Collection<Long> fileIds,
      Collection<Long> stripeIds) {
    PolicyView view = PolicyView.ofOrder(codes, snapshot, rule);
    ClusterBoundKeeper cluster = new ClusterBoundKeeper(snapshot);
    StorageBound bound = cluster.boundOf(view);
    double before = bound.overheadAtEnd();
    OrderedRelease order = new OrderedRelease(view, bound, reason);
    cluster.enterUnderWay(view, bound);
    order.choose(fileIds.stream().map(view.filesById()::get).filter(file -> file != null).toList());
    new TreeSet<>(stripeIds).forEach(order::release);
    return order.finish(before, Set.copyOf(fileIds).size());
  }

  private void choose(List<FileView> named) {
    for (FileView file : named) {
      if (file.isClientStriped()) {
        releaseClientStriped(file);
      } else if (file.hasReplicasToLeave()) {
        leaving.put(file.id(), file);
      } else if (file.stripedBlocks() > 0 && file.isReplicationKnown()) {
        singleReplica++;
      } else if (file.stripedBlocks() > 0) {
        unknownReplication++;
      }
    }
  }

  private void releaseClientStriped(FileView file) {
    if (!view.owns(file)) {
      foreign++;
    } else if (file.underConstruction() || isUnderWay(file)) {
      busy++;
    } else if (!file.hasReplicasToLeave()) {
      singleReplica++;
    } else {
      ClientStripedForecast cost = ClientStripedForecast.of(file);
      clientStripedFiles++;
      clientStriped = clientStriped.plus(cost);
      leavingBytes += cost.dataBytes();
      movedBytes += cost.movedBytes();
      storedDeltaBytes += cost.storedDeltaBytes();
      decisions.add(
          Decision.releaseClientStriped(
              view.rule(), file.id(), reason, cost.dataBytes(), cost.movedBytes()));
    }
  }

  private boolean isUnderWay(FileView file) {
    return view.snapshot().transitions().stream()
        .anyMatch(transition -> transition.active() && transition.groupFileId() == file.id());
  }

  private void release(long stripeId) {
    StripeView stripe = view.snapshot().stripes().get(stripeId);
    Set<Integer> positions = stripe == null ? Set.of() : stripe.positionsOf(leaving.keySet());
    if (positions.isEmpty()) {
      return;
    }
    Optional<ErasureCode> code = view.codes().find(stripe.code());
    if (!view.owns(stripe)) {
      foreign++;
    } else if (!stripe.settled() || code.isEmpty()) {
      busy++;
    } else {
      release(stripe, ReleaseForecast.of(stripe, code.get(), positions), positions);
    }
  }

  private void release(StripeView stripe, ReleaseForecast forecast, Set<Integer> positions) {
    long copied = 0;
    long replicas = 0;
    for (StripeView.Member member : stripe.members()) {
      if (positions.contains(member.position())) {
        int replication = leaving.get(member.ownerId()).replication();
        copied += ReleaseForecast.copiedBytes(member.lengthBytes(), replication);
        replicas += member.lengthBytes() * replication;
      }
    }
    leavingBytes += forecast.leavingBytes();
    movedBytes += forecast.movedBytes() + copied;
    storedDeltaBytes += forecast.change().storedBytes() + replicas;
    fits &= bound.fitsNow(forecast.change());
    bound.enter(forecast.change());
    decisions.add(
        decision(
            view.rule(),
            stripe,
            leaving.keySet(),
            reason,
            forecast.leavingBytes(),
            forecast.movedBytes() + copied));
  }

  /** A decision that takes the blocks of files out of one stripe. */
  static Decision decision(
      PolicyRule rule,
      StripeView stripe,
      Collection<Long> files,
      String reason,
      long leavingBytes,
      long movedBytes) {
    return Decision.release(
        rule,
        stripe.code(),
        stripe.fileIds().stream().filter(files::contains).sorted().toList(),
        stripe.id(),
        reason,
        leavingBytes,
        movedBytes);
  }

  private OrderedConversion.Plan finish(double overheadNow, int files) {
    return new OrderedConversion.Plan(
        view.rule(),
        REPLICAS,
        files,
        List.copyOf(decisions),
        0,
        leavingBytes,
        0,
        movedBytes,
        storedDeltaBytes,
        overheadNow,
        bound.overheadAtEnd(),
        fits,
        busy,
        foreign,
        singleReplica,
        unknownReplication,
        clientStripedFiles,
        clientStriped);
  }
}
