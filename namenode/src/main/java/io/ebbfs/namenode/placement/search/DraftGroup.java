package io.ebbfs.namenode.placement.search;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.plan.BlockRef;
import io.ebbfs.coding.plan.Conversion;
import io.ebbfs.coding.plan.Planner;
import io.ebbfs.namenode.placement.search.PlacementDraft.Item;
import io.ebbfs.namenode.placement.search.PlacementDraft.View;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The stripes of a group as views of a {@link PlacementDraft}, and the merged stripe that they may
 * become.
 */
final class DraftGroup {
  /**
   * The weight of a fatal pair of a stripe of the group: it counts more than one of the merged
   * stripe.
   */
  private static final double WEIGHT_NOW = 10;

  /** The weight of a fatal pair of the merged stripe. */
  private static final double WEIGHT_MERGED = 1;

  /**
   * The weight if the merged stripe must have fatal pairs on so few servers: then one more such
   * pair is no reason to copy blocks.
   */
  private static final double WEIGHT_HOPELESS = 0.1;

  final List<View> stripes = new ArrayList<>();

  /** The merged stripe; null if the stripes do not merge. */
  final View merged;

  /** Positions of the merged stripe that the merge will write. */
  final List<Integer> onlyMerged = new ArrayList<>();

  private final Map<BlockRef, Integer> inMerged = new HashMap<>();

  /**
   * @param compact the code of the merged stripe; empty if the stripes do not merge
   * @param occupied by stripe of the group: the positions with a block
   */
  DraftGroup(
      PlacementDraft draft,
      ErasureCode code,
      Optional<ErasureCode> compact,
      List<? extends Collection<Integer>> occupied) {
    this(draft, code, compact, occupied, compact.map(c -> weight(c, draft)).orElse(WEIGHT_MERGED));
  }

  /** A group with a given weight for the fatal pairs of the merged stripe. */
  DraftGroup(
      PlacementDraft draft,
      ErasureCode code,
      Optional<ErasureCode> compact,
      List<? extends Collection<Integer>> occupied,
      double weightMerged) {
    occupied.forEach(positions -> stripes.add(draft.addView(code, WEIGHT_NOW)));
    merged = compact.map(c -> draft.addView(c, weightMerged)).orElse(null);
    if (compact.isPresent()) {
      Conversion conversion = Planner.upcode(code, compact.get(), occupied, Set.of());
      conversion.kept().forEach(kept -> inMerged.put(kept.before(), kept.after().position()));
      conversion.outputs().forEach(output -> onlyMerged.add(output.position()));
    }
  }

  private static double weight(ErasureCode compact, PlacementDraft draft) {
    return AnyTwoServers.survives(compact, draft.serverCount()) ? WEIGHT_MERGED : WEIGHT_HOPELESS;
  }

  /** Makes an item the block at a position, in the stripe and in the merged stripe. */
  Item join(Item item, BlockRef ref) {
    item.in(stripes.get(ref.stripe()), ref.position());
    if (inMerged.containsKey(ref)) {
      item.in(merged, inMerged.get(ref));
    }
    return item;
  }

  /** The position of a block in the merged stripe; empty if the merge does not keep the block. */
  Optional<Integer> positionInMerged(BlockRef ref) {
    return Optional.ofNullable(inMerged.get(ref));
  }

  /** How many fatal pairs the merged stripe would have. */
  int fatalPairsOfMerged(PlacementDraft draft) {
    return merged == null ? 0 : draft.fatalServerPairs(List.of(merged));
  }

  /**
   * How many fatal pairs there are. Those of the merged stripe do not count if it must have some on
   * so few servers.
   */
  int fatalPairs(PlacementDraft draft) {
    boolean counts = merged != null && merged.weight >= WEIGHT_MERGED;
    return draft.fatalServerPairs(stripes) + (counts ? fatalPairsOfMerged(draft) : 0);
  }

  /** The stripe and position of an item that has joined. */
  BlockRef refOf(Item item) {
    PlacementDraft.Membership own = item.memberships().get(0);
    return new BlockRef(stripes.indexOf(own.view()), own.position());
  }
}
