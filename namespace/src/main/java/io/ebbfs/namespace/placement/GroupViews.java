package io.ebbfs.namespace.placement;

import io.ebbfs.coding.BlockRef;
import io.ebbfs.coding.Conversion;
import io.ebbfs.coding.ErasureCode;
import io.ebbfs.coding.Planner;
import io.ebbfs.namespace.placement.Layout.Item;
import io.ebbfs.namespace.placement.Layout.View;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The views of a group: its stripes, and the compact stripe that they may become. */
final class GroupViews {
  /** The stripes that will be count more than the one that may come of them. */
  private static final double WEIGHT_NOW = 10;

  private static final double WEIGHT_MERGED = 1;

  /** Where some pairs of servers must be weak, some more are no reason to copy blocks. */
  private static final double WEIGHT_HOPELESS = 0.1;

  final List<View> stripes = new ArrayList<>();

  /** The stripe to come, or null. */
  final View merged;

  /** Positions of the stripe to come that a merge will write. */
  final List<Integer> onlyMerged = new ArrayList<>();

  private final Map<BlockRef, Integer> inMerged = new HashMap<>();

  /**
   * @param compact the code of the stripe to come, if one is considered
   * @param occupied by stripe of the group
   */
  GroupViews(
      Layout layout,
      ErasureCode code,
      Optional<ErasureCode> compact,
      List<? extends Collection<Integer>> occupied) {
    this(
        layout, code, compact, occupied, compact.map(c -> weight(c, layout)).orElse(WEIGHT_MERGED));
  }

  /** As above, with the weight of pairs that the stripe to come would not survive. */
  GroupViews(
      Layout layout,
      ErasureCode code,
      Optional<ErasureCode> compact,
      List<? extends Collection<Integer>> occupied,
      double weightMerged) {
    occupied.forEach(positions -> stripes.add(layout.addView(code, WEIGHT_NOW)));
    merged = compact.map(c -> layout.addView(c, weightMerged)).orElse(null);
    if (compact.isPresent()) {
      Conversion conversion = Planner.upcode(code, compact.get(), occupied, Set.of());
      conversion.kept().forEach(kept -> inMerged.put(kept.before(), kept.after().position()));
      conversion.outputs().forEach(output -> onlyMerged.add(output.position()));
    }
  }

  private static double weight(ErasureCode compact, Layout layout) {
    return MinimumServers.survivesAnyTwo(compact, layout.serverCount())
        ? WEIGHT_MERGED
        : WEIGHT_HOPELESS;
  }

  /** Makes an item the block at a position, in all views. */
  Item join(Item item, BlockRef ref) {
    item.in(stripes.get(ref.stripe()), ref.position());
    if (inMerged.containsKey(ref)) {
      item.in(merged, inMerged.get(ref));
    }
    return item;
  }

  /** The position in the stripe to come of a block that stays. */
  Optional<Integer> positionInMerged(BlockRef ref) {
    return Optional.ofNullable(inMerged.get(ref));
  }

  /** Pairs of servers that the stripe to come would not survive. */
  int weakPairsOfMerged(Layout layout) {
    return merged == null ? 0 : layout.weakServerPairs(List.of(merged));
  }

  /** Pairs of servers that may not be lost, leaving out those of a stripe that must have some. */
  int weakPairs(Layout layout) {
    boolean counts = merged != null && merged.weight >= WEIGHT_MERGED;
    return layout.weakServerPairs(stripes) + (counts ? weakPairsOfMerged(layout) : 0);
  }

  /** Where an item is that joined: its stripe and position. */
  BlockRef refOf(Item item) {
    Layout.Membership own = item.memberships().get(0);
    return new BlockRef(stripes.indexOf(own.view()), own.position());
  }
}
