package io.ebbfs.namenode.placement;

import java.util.ArrayList;
import java.util.List;

/**
 * A disk in service, as placement sees it.
 *
 * @param rack the rack of its server
 * @param capacityBytes its size; 0 if not known
 * @param freeBytes how much can still be written to it
 * @param load how busy the disk or its server is: 0 is idle, at 1 it should not get busier
 * @param leaving whether its server is drained: its blocks have to move
 * @param grade whether it should get new blocks
 */
public record PlacementDisk(
    String storageUuid,
    String serverUuid,
    String rack,
    long capacityBytes,
    long freeBytes,
    double load,
    boolean leaving,
    TargetGrade grade) {

  /** A good disk of a server that stays. */
  public PlacementDisk(
      String storageUuid,
      String serverUuid,
      String rack,
      long capacityBytes,
      long freeBytes,
      double load) {
    this(storageUuid, serverUuid, rack, capacityBytes, freeBytes, load, false, TargetGrade.GOOD);
  }

  /**
   * The disks for one attempt after the other to place blocks: the good ones alone, and then each
   * time those of the next grade, too. The last list has all disks.
   */
  public static List<List<PlacementDisk>> byGrade(List<PlacementDisk> disks) {
    List<List<PlacementDisk>> attempts = new ArrayList<>();
    disks.stream()
        .map(PlacementDisk::grade)
        .distinct()
        .sorted()
        .forEach(
            worst ->
                attempts.add(
                    disks.stream().filter(disk -> disk.grade().isNoWorseThan(worst)).toList()));
    return attempts.isEmpty() ? List.of(disks) : attempts;
  }

  /** The share of its space that is used, 0 to 1; 0 if its capacity is not known. */
  public double utilisation() {
    return capacityBytes <= 0 ? 0 : Math.max(0, 1 - (double) freeBytes / capacityBytes);
  }
}
