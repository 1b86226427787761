package io.ebbfs.manager.policy;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.manager.bound.ClientStripedForecast;
import io.ebbfs.manager.bound.ConversionForecast;
import io.ebbfs.manager.bound.PackingForecast;
import io.ebbfs.manager.bound.StorageBound;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.economics.CodeCost;
import io.ebbfs.manager.economics.PairCost;
import io.ebbfs.manager.view.ClusterSnapshot;
import io.ebbfs.manager.view.FileView;
import io.ebbfs.manager.view.StripeView;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Decides the encodings and conversions that an operator orders for some files and stripes of one
 * policy, whatever their temperature is. Pure; one object makes one plan.
 */
public final class OrderedConversion {
  /**
   * What an order would do. Sizes are bytes of data unless they say otherwise.
   *
   * @param files how many were named
   * @param encodedBytes of unencoded blocks that are encoded
   * @param convertedBytes of stripes that change their code, or of blocks that become replicas
   * @param otherBytes the part of convertedBytes that belongs to files which were not named
   * @param movedBytes that are read and written, by the plans for full stripes
   * @param storedDeltaBytes by which the stored bytes grow at the end; negative if they shrink
   * @param overheadNow stored bytes per byte of the encoded data of the policy
   * @param overheadAtEnd the same once this and all that is under way are done
   * @param isWithinBound whether the policy and the cluster keep their bounds while and after this
   *     is done
   * @param busy files and stripes that are left out: being written, converted or repaired
   * @param foreign files and stripes that are left out: they belong to another policy, or to none
   * @param singleReplica files that are left out of a release: their replication is 1
   * @param unknownReplication files that are left out of a release: the namenode did not tell their
   *     replication
   * @param clientStripedFiles files that their clients have encoded and that become replicas; they
   *     are part of convertedBytes, movedBytes and storedDeltaBytes
   * @param clientStriped what these cost
   */
  public record Plan(
      PolicyRule rule,
      String toCode,
      int files,
      List<Decision> decisions,
      long encodedBytes,
      long convertedBytes,
      long otherBytes,
      double movedBytes,
      double storedDeltaBytes,
      double overheadNow,
      double overheadAtEnd,
      boolean isWithinBound,
      long busy,
      long foreign,
      long singleReplica,
      long unknownReplication,
      int clientStripedFiles,
      ClientStripedForecast clientStriped) {}

  private final PolicyView view;
  private final PolicyRule rule;
  private final ErasureCode code;
  private final boolean fast;
  private final String reason;
  private final StorageBound bound;
  private final PairCost cost;
  private final List<Decision> decisions = new ArrayList<>();
  private long encodedBytes;
  private long convertedBytes;
  private double movedBytes;
  private double storedDeltaBytes;
  private boolean fits = true;
  private long busy;
  private long foreign;

  private OrderedConversion(PolicyView view, StorageBound bound, String toCode, String reason) {
    this.view = view;
    this.rule = view.rule();
    this.code = view.codes().byName(toCode);
    this.fast = toCode.equals(rule.family().fast());
    this.reason = reason;
    this.cost = PairCost.of(rule.family());
    this.bound = bound;
  }

  /**
   * Plans an order.
   *
   * @param snapshot with the files, their stripes, whole groups of stripes, and all that is under
   *     way
   * @param toCode a code of the family of the policy
   * @param fileIds their unencoded blocks are encoded; files of other policies are left out
   * @param stripeIds those in the other code are converted; stripes of other policies are left out
   */
  public static Plan plan(
      CodeRegistry codes,
      ClusterSnapshot snapshot,
      PolicyRule rule,
      String toCode,
      String reason,
      Collection<Long> fileIds,
      Collection<Long> stripeIds) {
    PolicyView view = PolicyView.ofOrder(codes, snapshot, rule);
    ClusterBoundKeeper cluster = new ClusterBoundKeeper(snapshot);
    StorageBound bound = cluster.boundOf(view);
    double before = bound.overheadAtEnd();
    OrderedConversion order = new OrderedConversion(view, bound, toCode, reason);
    cluster.enterUnderWay(view, bound);
    order.encode(fileIds.stream().map(view.filesById()::get).filter(file -> file != null).toList());
    if (!rule.isSingle()) {
      order.convert(stripeIds);
    }
    return order.finish(before, Set.copyOf(fileIds));
  }

  private void encode(List<FileView> named) {
    List<FileView> free = new ArrayList<>();
    for (FileView file : named) {
      if (!view.owns(file)) {
        foreign++;
      } else if (file.underConstruction() || file.transitionId() != 0) {
        busy++;
      } else if (file.unencodedBlocks() > 0 && !file.isClientStriped()) {
        free.add(file);
      }
    }
    int unit = code.dataCount() * (fast ? rule.family().groupSize() : 1);
    for (List<FileView> batch : EncodingBatches.divide(free, unit)) {
      PackingForecast packing = PackingForecast.of(batch, code);
      CodeCost costs = fast ? cost.fast() : cost.compact();
      encodedBytes += packing.dataBytes();
      movedBytes += packing.dataBytes() * costs.stored();
      storedDeltaBytes +=
          packing.storedBytes() - batch.stream().mapToLong(FileView::replicatedStoredBytes).sum();
      enter(EncodingDecider.change(packing));
      decisions.add(
          Decision.encode(
              rule,
              code.name(),
              batch.stream().map(FileView::id).toList(),
              reason,
              packing.dataBytes(),
              0));
    }
  }

  private void convert(Collection<Long> stripeIds) {
    String from = fast ? rule.family().compact() : rule.family().fast();
    Map<Long, List<StripeView>> together = new TreeMap<>();
    Set<Long> groups = new HashSet<>();
    for (long id : stripeIds) {
      StripeView stripe = view.snapshot().stripes().get(id);
      if (stripe != null && stripe.code().equals(from)) {
        together.computeIfAbsent(groupOf(stripe), group -> new ArrayList<>());
        groups.add(groupOf(stripe));
      }
    }
    for (StripeView stripe : view.snapshot().stripes().values()) {
      if (stripe.code().equals(from) && groups.contains(groupOf(stripe))) {
        together.get(groupOf(stripe)).add(stripe);
      }
    }
    together.values().forEach(this::convertTogether);
  }

  private long groupOf(StripeView stripe) {
    boolean merges = !fast && rule.family().groupSize() > 1 && stripe.groupId() != 0;
    return merges ? stripe.groupId() : -stripe.id();
  }

  private void convertTogether(List<StripeView> stripes) {
    if (!stripes.stream().allMatch(view::owns)) {
      foreign += stripes.size();
      return;
    }
    if (!stripes.stream().allMatch(StripeView::settled)) {
      busy += stripes.size();
      return;
    }
    TransitionKindProto kind = fast ? TransitionKindProto.DOWNCODE : TransitionKindProto.UPCODE;
    List<StripeView> ordered =
        stripes.stream()
            .sorted(Comparator.comparingInt(StripeView::groupSlot).thenComparing(StripeView::id))
            .toList();
    long bytes = ordered.stream().mapToLong(StripeView::liveBytes).sum();
    double delta = new ConversionForecast(rule.family()).parityDelta(kind, ordered);
    convertedBytes += bytes;
    movedBytes += bytes * (fast ? cost.toFast() : cost.toCompact());
    storedDeltaBytes += delta;
    enter(StorageBound.Change.ofStored(delta));
    decisions.add(
        Decision.convert(
            kind, rule, code.name(), ordered.stream().map(StripeView::id).toList(), reason, bytes));
  }

  private void enter(StorageBound.Change change) {
    fits &= bound.fitsNow(change);
    bound.enter(change);
  }

  private Plan finish(double overheadNow, Set<Long> named) {
    Set<Long> converted =
        decisions.stream().flatMap(d -> d.stripeIds().stream()).collect(Collectors.toSet());
    long other =
        converted.stream()
            .map(view.snapshot().stripes()::get)
            .flatMap(stripe -> stripe.members().stream().filter(m -> m.isOwnedByFile(stripe.id())))
            .filter(member -> !named.contains(member.ownerId()))
            .mapToLong(StripeView.Member::lengthBytes)
            .sum();
    return new Plan(
        rule,
        code.name(),
        named.size(),
        List.copyOf(decisions),
        encodedBytes,
        convertedBytes,
        other,
        movedBytes,
        storedDeltaBytes,
        overheadNow,
        bound.overheadAtEnd(),
        fits,
        busy,
        foreign,
        0,
        0,
        0,
        ClientStripedForecast.NONE);
  }
}
