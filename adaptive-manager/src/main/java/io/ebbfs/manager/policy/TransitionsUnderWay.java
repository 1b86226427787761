package io.ebbfs.manager.policy;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.packing.PackedStripe;
import io.ebbfs.manager.bound.ConversionForecast;
import io.ebbfs.manager.bound.PackingForecast;
import io.ebbfs.manager.bound.StorageBound;
import io.ebbfs.manager.view.FileView;
import io.ebbfs.manager.view.StripeView;
import io.ebbfs.manager.view.TransitionView;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Enters the encodings and conversions under way of a policy into its storage bound. */
final class TransitionsUnderWay {
  private final PolicyView view;
  private final StorageBound bound;
  private final ConversionForecast conversions;

  TransitionsUnderWay(PolicyView view, StorageBound bound) {
    this.view = view;
    this.bound = bound;
    this.conversions = new ConversionForecast(view.rule().family());
  }

  /** Returns the logical bytes of the transitions. */
  long enter() {
    long bytes = 0;
    for (TransitionView transition : view.snapshot().transitions()) {
      if (transition.active() && transition.policy().equals(view.rule().name())) {
        bytes +=
            switch (transition.kind()) {
              case ENCODE -> enterEncoding(transition);
              case REPAIR -> 0;
              default -> enterConversion(transition);
            };
      }
    }
    return bytes;
  }

  private long enterConversion(TransitionView transition) {
    Map<Long, StripeView> byId = view.snapshot().stripes();
    List<StripeView> unconverted =
        transition.stripeIds().stream()
            .map(byId::get)
            .filter(stripe -> stripe != null && !stripe.code().equals(transition.toCode()))
            .toList();
    bound.enter(
        StorageBound.Change.ofParities(conversions.parityDelta(transition.kind(), unconverted)));
    return unconverted.stream().mapToLong(StripeView::liveBytes).sum();
  }

  private long enterEncoding(TransitionView transition) {
    ErasureCode code = view.codes().byName(transition.toCode());
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
