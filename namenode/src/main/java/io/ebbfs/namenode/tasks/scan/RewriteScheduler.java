package io.ebbfs.namenode.tasks.scan;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.packing.RewriteBatch;
import io.ebbfs.namenode.stripes.StripeState;
import io.ebbfs.namenode.tasks.lifecycle.TransitionContext;
import io.ebbfs.namenode.tasks.lifecycle.TransitionPriority;
import io.ebbfs.namenode.tasks.lifecycle.TransitionRegistrar;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionKindProto;
import io.ebbfs.protocol.proto.StoreProtos.TransitionRow;
import io.ebbfs.protocol.proto.StoreProtos.TransitionStateProto;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Creates the transitions that rewrite mostly dead stripes: the live blocks of several stripes
 * become fewer new stripes, and the old parities and tombstones are deleted. {@link RepairDecider}
 * decides which stripes are rewritten. Used by one thread.
 */
final class RewriteScheduler {
  /** Rewrites at the same time, besides rescues: more would only wait for raid-nodes. */
  private static final int MAX_ACTIVE = 64;

  private static final int MAX_CANDIDATES = 1_000;

  /** Stripes with equal keys may share a new group. */
  private record Key(String code, String policy, boolean single, boolean rescue) {}

  private final TransitionContext context;
  private final Map<Long, StripeState> candidates = new LinkedHashMap<>();

  RewriteScheduler(TransitionContext context) {
    this.context = context;
  }

  /**
   * Notes a stripe whose live data is to be rewritten. The stripe is in no transition, and all its
   * live data has a replica. Beyond a limit stripes are dropped: a later scan finds them again. A
   * block group stays what it is, because its file names its stripe.
   */
  void add(StripeState stripe) {
    if (candidates.size() < MAX_CANDIDATES && !stripe.row().hasGroupFileId()) {
      candidates.put(stripe.id(), stripe);
    }
  }

  /** Creates the rewrites: as many stripes with equal keys together as fill new stripes well. */
  void flush() throws IOException {
    Map<Key, List<StripeState>> byKey = new LinkedHashMap<>();
    for (StripeState stripe : candidates.values()) {
      StripeRow row = stripe.row();
      byKey
          .computeIfAbsent(
              new Key(stripe.code().name(), row.getPolicy(), row.getSingle(), isRescue(stripe)),
              key -> new ArrayList<>())
          .add(stripe);
    }
    candidates.clear();
    for (List<StripeState> stripes : byKey.values()) {
      for (List<StripeState> batch : batches(stripes)) {
        create(batch);
      }
    }
  }

  /**
   * Splits stripes so that the live blocks of each part fill the new stripes well. A stripe whose
   * live data has no protection is rewritten by itself, because that is done soonest.
   */
  private static List<List<StripeState>> batches(List<StripeState> stripes) {
    if (isRescue(stripes.get(0))) {
      return stripes.stream().map(List::of).toList();
    }
    ErasureCode code = stripes.get(0).code();
    List<RewriteBatch.Part> parts = stripes.stream().map(RewriteScheduler::part).toList();
    List<List<StripeState>> batches = new ArrayList<>();
    for (int from = 0; from < stripes.size(); ) {
      int count = RewriteBatch.best(code, parts.subList(from, parts.size())).parts();
      batches.add(stripes.subList(from, from + count));
      from += count;
    }
    return batches;
  }

  private static boolean isRescue(StripeState stripe) {
    return !stripe.lost().isEmpty();
  }

  private static RewriteBatch.Part part(StripeState stripe) {
    List<Long> live = new ArrayList<>();
    long stored = 0;
    for (StripeMemberProto member : stripe.members().values()) {
      stored += member.getLengthBytes();
      if (StripeState.isLiveData(stripe.code(), member)) {
        live.add(member.getLengthBytes());
      }
    }
    return new RewriteBatch.Part(1, live, stored);
  }

  private void create(List<StripeState> stripes) throws IOException {
    if (context.index().activeCount() >= context.settings().maxActive()
        || !isRescue(stripes.get(0))
            && context.index().activeCount(TransitionKindProto.REWRITE) >= MAX_ACTIVE) {
      return; // a later scan finds the stripes again
    }
    TransitionRow row = row(context.ids().transitions().next(), stripes).build();
    TransitionRegistrar.registerUnchanged(
        context, row, stripes.stream().map(StripeState::row).toList());
  }

  private TransitionRow.Builder row(long id, List<StripeState> stripes) {
    StripeRow stripe = stripes.get(0).row();
    boolean rescue = isRescue(stripes.get(0));
    long now = context.clock().millis();
    TransitionRow.Builder row =
        TransitionRow.newBuilder()
            .setId(id)
            .setKind(TransitionKindProto.REWRITE)
            .setState(TransitionStateProto.PLANNED)
            .setPolicy(stripe.getPolicy())
            .setFromCode(stripe.getCode())
            .setToCode(stripe.getCode())
            .setReason(
                rescue
                    ? RepairDecider.RESCUE_REASON
                    : RepairDecider.mostlyDead(context.settings().rewriteDeadShare()))
            .setCreatedMillis(now)
            .setUpdatedMillis(now)
            .setPriority(
                rescue
                    ? TransitionPriority.RESCUE
                    : TransitionPriority.of(TransitionKindProto.REWRITE))
            .setAttempt(0);
    return stripe.getSingle() ? row.setSingle(true) : row;
  }
}
