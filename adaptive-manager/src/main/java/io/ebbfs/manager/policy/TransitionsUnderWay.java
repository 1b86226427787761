package io.ebbfs.manager.policy;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.packing.PackedStripe;
import io.ebbfs.coding.packing.Reclaim;
import io.ebbfs.manager.bound.ConversionForecast;
import io.ebbfs.manager.bound.PackingForecast;
import io.ebbfs.manager.bound.RecodingForecast;
import io.ebbfs.manager.bound.ReleaseForecast;
import io.ebbfs.manager.bound.StorageBound;
import io.ebbfs.manager.view.FileView;
import io.ebbfs.manager.view.StripeView;
import io.ebbfs.manager.view.TransitionView;
import io.ebbfs.manager.view.Wear;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;

/** Enters the transitions under way of a policy into its storage bound. */
final class TransitionsUnderWay {
  private final PolicyView view;
  private final StorageBound bound;
  private final ConversionForecast conversions;
  private final RecodingForecast recodings;

  TransitionsUnderWay(PolicyView view, StorageBound bound) {
    this.view = view;
    this.bound = bound;
    this.conversions = new ConversionForecast(view.rule().family());
    this.recodings = new RecodingForecast(view.codes());
  }

  /**
   * Returns the logical bytes of the transitions; of subtractions the bytes that they move. The
   * rewrites that the namenode planned by itself are left out: they come last, and would hold up
   * all that the manager proposes.
   */
  long enter() {
    long bytes = 0;
    for (TransitionView transition : view.snapshot().transitions()) {
      if (transition.active() && transition.policy().equals(view.rule().name())) {
        // What a transition to an unknown code stores is unknown, too.
        bytes +=
            view.codes().find(transition.toCode()).map(code -> enter(transition, code)).orElse(0L);
      }
    }
    return bytes;
  }

  private long enter(TransitionView transition, ErasureCode code) {
    return switch (transition.kind()) {
      case ENCODE -> enterEncoding(transition, code);
      case REWRITE -> enterRewrite(transition, code);
      case SUBTRACT -> enterSubtraction(transition, code);
      case RELEASE -> enterRelease(transition, code);
      case REPAIR, MOVE -> 0L;
      default -> enterConversion(transition, code);
    };
  }

  private long enterConversion(TransitionView transition, ErasureCode code) {
    List<StripeView> unconverted =
        stripesOf(transition).stream()
            .filter(stripe -> !stripe.code().equals(transition.toCode()))
            .toList();
    bound.enter(StorageBound.Change.ofStored(storedDelta(transition, code, unconverted)));
    return unconverted.stream().mapToLong(StripeView::liveBytes).sum();
  }

  private long enterRewrite(TransitionView transition, ErasureCode code) {
    List<StripeView> stripes = stripesOf(transition);
    List<Long> lengths = stripes.stream().flatMap(s -> s.liveLengths().stream()).toList();
    long stored = stripes.stream().mapToLong(StripeView::storedBytes).sum();
    enter(Reclaim.rewrite(code, lengths, stored));
    return transition.ofNamenode() ? 0 : stripes.stream().mapToLong(StripeView::liveBytes).sum();
  }

  private long enterSubtraction(TransitionView transition, ErasureCode code) {
    List<StripeView> stripes = stripesOf(transition);
    List<Reclaim> reclaims = stripes.stream().map(s -> Wear.subtract(s, code)).toList();
    reclaims.forEach(this::enter);
    return reclaims.stream().mapToLong(Reclaim::movedBytes).sum();
  }

  /** A release that has ended since its row was read is in the stripe: it enters nothing. */
  private long enterRelease(TransitionView transition, ErasureCode code) {
    if (transition.groupFileId() != 0) {
      // What clients have encoded, and replicas, do not count for the bound.
      return stripesOf(transition).stream().mapToLong(StripeView::liveBytes).sum();
    }
    long bytes = 0;
    for (StripeView stripe : stripesOf(transition)) {
      Set<Integer> leaving = new HashSet<>(transition.leaving());
      leaving.retainAll(stripe.livePositions());
      if (!leaving.isEmpty()) {
        ReleaseForecast forecast = ReleaseForecast.of(stripe, code, leaving);
        bound.enter(forecast.change());
        bytes += forecast.leavingBytes();
      }
    }
    return bytes;
  }

  /** A rewrite for another reason than the bound may store more, where it makes stripes short. */
  private void enter(Reclaim reclaim) {
    bound.enter(StorageBound.Change.ofStored(-reclaim.freedBytes()));
  }

  /** The stripes that still exist. */
  private List<StripeView> stripesOf(TransitionView transition) {
    return transition.stripeIds().stream()
        .map(view.snapshot().stripes()::get)
        .filter(Objects::nonNull)
        .toList();
  }

  private double storedDelta(
      TransitionView transition, ErasureCode code, List<StripeView> unconverted) {
    boolean within =
        unconverted.stream().allMatch(stripe -> view.rule().family().has(stripe.code()));
    return within
        ? conversions.parityDelta(transition.kind(), unconverted)
        : recodings.storedDelta(transition.kind(), unconverted, code);
  }

  private long enterEncoding(TransitionView transition, ErasureCode code) {
    Map<Integer, Map<Integer, Long>> lengthsByStripe = new TreeMap<>();
    for (TransitionView.Block block : transition.blocks()) {
      FileView file = view.filesById().get(block.ownerId());
      if (file != null && file.unencodedBlocks() > 0) {
        lengthsByStripe
            .computeIfAbsent(block.stripeIndex(), index -> new TreeMap<>())
            .put(block.position(), file.blockLengthBytes(block.ownerIndex()));
      }
    }
    PackingForecast packing =
        PackingForecast.sum(
            PackingForecast.stripes(
                lengthsByStripe.values().stream()
                    .map(lengths -> PackedStripe.of(code, lengths))
                    .toList()));
    bound.enter(EncodingDecider.change(packing));
    return packing.dataBytes();
  }
}
