package io.ebbfs.namenode.placement;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Which disks give bytes and which get some, until the used share of no disk differs from the mean
 * by more than a threshold. A disk that is too full gives down to the mean, and a disk that is too
 * empty gets up to the mean. If only one kind exists, the disks on the other side of the mean help.
 * Pure; {@link #moved} keeps account of the moves that were begun. Not thread-safe.
 *
 * <p>The used share is weighted by capacity, so that large disks and small ones end up equally full
 * (HDFS: Balancer). Disks of each type are levelled among themselves, because a storage policy says
 * on which types a replica lies.
 */
public final class BalancePlan {
  /** A disk that takes part. */
  public record Disk(
      String storageUuid,
      String serverUuid,
      String type,
      long capacityBytes,
      long usedBytes,
      long remainingBytes) {
    public double share() {
      return (double) usedBytes / capacityBytes;
    }
  }

  /** The bytes that leave a disk (negative), or come to it. */
  public record Flow(Disk disk, long bytes) {}

  /** The bytes of several disks. */
  private record Sum(double used, double capacity) {
    static final Sum ZERO = new Sum(0, 0);

    Sum plus(Sum other) {
      return new Sum(used + other.used, capacity + other.capacity);
    }

    double share() {
      return capacity == 0 ? 0 : used / capacity;
    }
  }

  // The sums at the beginning, by the type of the disks.
  private final Map<String, Sum> sums = new HashMap<>();
  private final double threshold;
  private final Map<String, Disk> disks = new HashMap<>();
  // The used bytes of a disk as the moves that were begun will leave them.
  private final Map<String, Long> used = new HashMap<>();
  private final boolean levelled;

  private BalancePlan(List<Disk> all, double threshold) {
    this.threshold = threshold;
    for (Disk disk : all) {
      if (disk.capacityBytes() > 0) {
        disks.put(disk.storageUuid(), disk);
        used.put(disk.storageUuid(), disk.usedBytes());
        sums.merge(disk.type(), new Sum(disk.usedBytes(), disk.capacityBytes()), Sum::plus);
      }
    }
    this.levelled = disks.values().stream().noneMatch(this::isOutside);
  }

  /**
   * @param disks all disks that take blocks; disks that have told no capacity are left out
   * @param threshold a share between 0 and 1
   */
  public static BalancePlan of(List<Disk> disks, double threshold) {
    return new BalancePlan(disks, threshold);
  }

  /** The used share of all disks together. */
  public double mean() {
    return sums.values().stream().reduce(Sum.ZERO, Sum::plus).share();
  }

  /** The used share of the disks of the same type. */
  private double mean(Disk disk) {
    return sums.get(disk.type()).share();
  }

  /** Whether nothing has to move. */
  public boolean isLevelled() {
    return levelled;
  }

  private double shareOf(Disk disk) {
    return (double) used.get(disk.storageUuid()) / disk.capacityBytes();
  }

  private boolean isOutside(Disk disk) {
    return Math.abs(disk.share() - mean(disk)) > threshold;
  }

  private boolean isBelow(Disk disk) {
    return shareOf(disk) < mean(disk);
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

  /** The bytes that a disk must receive until its used share is the mean. */
  private long toMean(Disk disk) {
    return Math.round((mean(disk) - shareOf(disk)) * disk.capacityBytes());
  }

  /** The bytes that have to move so that no disk is too full or too empty. */
  public long bytesToMove() {
    Map<String, Long> out = new HashMap<>();
    Map<String, Long> in = new HashMap<>();
    for (Flow flow : flows()) {
      out.merge(flow.disk().type(), Math.max(0, -flow.bytes()), Long::sum);
      in.merge(flow.disk().type(), Math.max(0, flow.bytes()), Long::sum);
    }
    return out.keySet().stream().mapToLong(type -> Math.max(out.get(type), in.get(type))).sum();
  }

  /** The disks that give bytes now, the fullest first; empty if all is level. */
  public List<Disk> sources() {
    Set<String> withEmpty =
        disks.values().stream()
            .filter(disk -> isOutside(disk) && disk.share() < mean(disk))
            .map(Disk::type)
            .collect(Collectors.toSet());
    return disks.values().stream()
        .filter(disk -> shareOf(disk) > mean(disk))
        .filter(disk -> withEmpty.contains(disk.type()) || isOutside(disk))
        .sorted(Comparator.comparingDouble(this::shareOf).reversed())
        .toList();
  }

  /**
   * The disks of the same type that may get a block of this length from another disk, the emptiest
   * first. The move makes the two disks more equal.
   */
  public List<Disk> targets(Disk source, long lengthBytes) {
    boolean isFull = isOutside(source) && source.share() > mean(source);
    return disks.values().stream()
        .filter(disk -> disk.type().equals(source.type()))
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
