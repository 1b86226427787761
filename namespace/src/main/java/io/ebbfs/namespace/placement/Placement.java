package io.ebbfs.namespace.placement;

import io.ebbfs.coding.BlockRef;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;

/**
 * Where the blocks of a group of stripes go.
 *
 * @param stripes of a new group: the blocks at their positions, which may differ from those asked
 *     for (blocks of like length change places so that nothing need be copied); empty otherwise
 * @param disks by stripe of the group: the disk of each position that was asked for
 * @param moves data blocks that have no replica on their disk: to be copied there
 * @param survivesAnyServer whether every stripe decodes without any one server
 * @param weakRacks racks whose loss some stripe does not survive; empty if there is only one
 * @param weakServerPairs pairs of servers whose loss at the same time some stripe does not survive
 * @param weakPairsWhenMerged the same of the stripe that they will merge into; 0 if there is none
 * @param keepsRules false if a block had to be put where another one of its stripe is, or on a
 *     server whose loss its stripe would not survive: better than none for a repaired block, and
 *     nothing to begin a conversion with
 * @param compromises what could not be kept, for the operator; empty if everything was
 */
public record Placement(
    List<SortedMap<Integer, StripeBlock>> stripes,
    List<SortedMap<Integer, Disk>> disks,
    Set<BlockRef> moves,
    boolean survivesAnyServer,
    List<String> weakRacks,
    int weakServerPairs,
    int weakPairsWhenMerged,
    boolean keepsRules,
    List<String> compromises)
    implements PlacementResult {
  /** The disk of a position of a stripe, or null if it was not asked for. */
  public Disk disk(int stripe, int position) {
    return disks.get(stripe).get(position);
  }
}
