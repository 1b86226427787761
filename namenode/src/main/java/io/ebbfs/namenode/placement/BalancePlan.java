package io.ebbfs.namenode.placement;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Which disks give bytes and which get some, until the used share of no disk differs from the mean
 * by more than a threshold. A disk that is too full gives down to the mean, and a disk that is too
 * empty gets up to the mean. If only one kind exists, the disks on the other side of the mean help.
 * Pure; {@link #moved} keeps account of the moves that were begun. Not thread-safe.
 *
 * <p>The used share is weighted by capacity, so that large disks and small ones end up equally full
 * (HDFS: Balancer).
 */
public final class BalancePlan {
  /** A disk that takes part. */
  public record Disk(
      String storageUuid,
      String serverUuid,
      long capacityBytes,
      long usedBytes,
      long remainingBytes) {
    public double share() {
      return (double) usedBytes / capacityBytes;
    }
  }

  /** The bytes that leave a disk (negative), or come to it. */
  public record Flow(Disk disk, long bytes) {}

  private final double mean;
  private final double threshold;
  private final Map<String, Disk> disks = new HashMap<>();
  // The used bytes of a disk as the moves that were begun will leave them.
  private final Map<String, Long> used = new HashMap<>();
  private final boolean levelled;

  private BalancePlan(List<Disk> all, double threshold) {
    this.threshold = threshold;
    double capacity = 0;
    double usedBytes = 0;
    for (Disk disk : all) {
      if (disk.capacityBytes() > 0) {
        disks.put(disk.storageUuid(), disk);
        used.put(disk.storageUuid(), disk.usedBytes());
        capacity += disk.capacityBytes();
        usedBytes += disk.usedBytes();
      }
    }
    this.mean = capacity == 0 ? 0 : usedBytes / capacity;
    this.levelled = disks.values().stream().noneMatch(this::isOutside);
  }

  /**
   * @param disks all disks that take blocks; disks that have told no capacity are left out
   * @param threshold a share between 0 and 1
   */
  public static BalancePlan of(List<Disk> disks, double threshold) {
    return new BalancePlan(disks, threshold);
  }

  public double mean() {
    return mean;
  }

  /** Whether nothing has to move. */
  public boolean isLevelled() {
    return levelled;
  }

  private double shareOf(Disk disk) {
    return (double) used.get(disk.storageUuid()) / disk.capacityBytes();
  }

  private boolean isOutside(Disk disk) {
    return Math.abs(disk.share() - mean) > threshold;
  }

  private boolean isBelow(Disk disk) {
    return shareOf(disk) < mean;
  }

  /** The disks that are too full or too empty, the fullest first. */
  public List<Flow> flows() {
    List<Flow> flows = new ArrayList<>();
    disks.values().stream()
        .filter(this::isOutside)
        .sorted(Comparator.comparingDouble(Disk::share).reversed())
        .forEach(disk -> flows.add(new Flow(disk, toMean(disk))));
    return flows;
  }

  /** The bytes that have to come to a disk so that its share is the mean. */
  private long toMean(Disk disk) {
    return Math.round((mean - shareOf(disk)) * disk.capacityBytes());
  }

  /** The bytes that have to move so that no disk is too full or too empty. */
  public long bytesToMove() {
    long out = 0;
    long in = 0;
    for (Flow flow : flows()) {
      out += Math.max(0, -flow.bytes());
      in += Math.max(0, flow.bytes());
    }
    return Math.max(out, in);
  }

  /** The disks that give bytes now, the fullest first; empty if all is level. */
  public List<Disk> sources() {
    if (levelled) {
      return List.of();
    }
    boolean hasEmpty = disks.values().stream().anyMatch(d -> isOutside(d) && d.share() < mean);
    return disks.values().stream()
        .filter(disk -> shareOf(disk) > mean)
        .filter(disk -> hasEmpty || isOutside(disk))
        .sorted(Comparator.comparingDouble(this::shareOf).reversed())
        .toList();
  }

  /**
   * The disks that may get a block of this length from another disk, the emptiest first. The move
   * makes the two disks more equal.
   */
  public List<Disk> targets(Disk source, long lengthBytes) {
    boolean isFull = isOutside(source) && source.share() > mean;
    return disks.values().stream()
        .filter(disk -> !disk.serverUuid().equals(source.serverUuid()))
        .filter(disk -> isFull ? isBelow(disk) : isOutside(disk) && isBelow(disk))
        .filter(disk -> disk.remainingBytes() - inFlight(disk) >= 2 * lengthBytes)
        .filter(
            disk ->
                shareOf(disk) + (double) lengthBytes / disk.capacityBytes()
                    <= shareOf(source) - (double) lengthBytes / source.capacityBytes())
        .sorted(Comparator.comparingDouble(this::shareOf))
        .toList();
  }

  private long inFlight(Disk disk) {
    return Math.max(0, used.get(disk.storageUuid()) - disk.usedBytes());
  }

  /** A block moves from one disk to another. Unknown disks are passed over. */
  public void moved(String fromStorageUuid, String toStorageUuid, long lengthBytes) {
    used.computeIfPresent(fromStorageUuid, (uuid, bytes) -> bytes - lengthBytes);
    used.computeIfPresent(toStorageUuid, (uuid, bytes) -> bytes + lengthBytes);
  }
}
