package io.ebbfs.namenode.placement;

import io.ebbfs.coding.plan.BlockRef;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;

/**
 * The disks of the blocks of a group of stripes.
 *
 * @param stripes for a new group, by stripe: the block at each position. A position may have
 *     another block than was asked for: blocks of similar length swap positions to save copies.
 *     Empty if single blocks were placed
 * @param disks by stripe: the disk of each position that was to be placed
 * @param moves data blocks that have no replica on their new disk, so that they must be copied
 * @param survivesAnyServer whether every stripe decodes without any one server
 * @param fatalRacks racks whose loss some stripe does not survive; empty if there is only one rack
 * @param fatalServerPairs how many pairs of servers there are whose common loss some stripe does
 *     not survive
 * @param fatalPairsWhenMerged how many such pairs the merged stripe would have; 0 if the stripes do
 *     not merge
 * @param keepsRules false if a block shares a disk with another block of its stripe, or is on a
 *     server whose loss its stripe would not survive. A repaired block takes such a place rather
 *     than none; a conversion does not start with it
 * @param compromises for the operator: the rules that are broken; empty if none is
 */
public record Placement(
    List<SortedMap<Integer, StripeBlock>> stripes,
    List<SortedMap<Integer, PlacementDisk>> disks,
    Set<BlockRef> moves,
    boolean survivesAnyServer,
    List<String> fatalRacks,
    int fatalServerPairs,
    int fatalPairsWhenMerged,
    boolean keepsRules,
    List<String> compromises)
    implements PlacementResult {
  /** The disk of a position of a stripe; null if the position was not to be placed. */
  public PlacementDisk disk(int stripe, int position) {
    return disks.get(stripe).get(position);
  }
}
