package io.ebbfs.namenode.placement;

import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.datanodes.ClusterView.Server;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** Grades the disks of servers as targets of new blocks. Pure and immutable. */
public final class TargetGrader {
  /**
   * A disk with this count of recent errors errs. The count halves every ten minutes, so that one
   * error counts for ten minutes, and eight errors count for forty.
   */
  private static final double SOME_ERRORS = 0.5;

  private final Set<String> busyServers = new HashSet<>();
  private final BusyDisks busyDisks;
  private final List<TargetGrade> bad;

  /**
   * @param servers all servers that take new blocks
   */
  public TargetGrader(List<Server> servers) {
    BusyServers busy =
        new BusyServers(servers.stream().mapToInt(Server::activeTransfers).toArray());
    for (int i = 0; i < servers.size(); i++) {
      if (busy.isBusy(i)) {
        busyServers.add(servers.get(i).uuid());
      }
    }
    this.busyDisks = new BusyDisks(inService(servers).mapToDouble(Disk::queuedCalls).toArray());
    EnumSet<TargetGrade> found = EnumSet.noneOf(TargetGrade.class);
    inService(servers).forEach(disk -> found.add(of(disk)));
    found.remove(TargetGrade.GOOD);
    this.bad = List.copyOf(found);
  }

  private static Stream<Disk> inService(List<Server> servers) {
    return servers.stream()
        .flatMap(server -> server.disks().stream())
        .filter(disk -> !disk.failed());
  }

  /** The grades of the disks in service that are not good, in their order. */
  public List<TargetGrade> bad() {
    return bad;
  }

  /** The worst grade that a disk deserves for itself or for its server. */
  public TargetGrade of(Disk disk) {
    TargetGrade alone = ofDisk(disk);
    return alone == TargetGrade.GOOD && busyServers.contains(disk.serverUuid())
        ? TargetGrade.BUSY
        : alone;
  }

  /** The worst grade that a disk deserves for itself: it tells the disks of one server apart. */
  public TargetGrade ofDisk(Disk disk) {
    if (errs(disk)) {
      return TargetGrade.ERRING;
    }
    if (isFull(disk)) {
      return TargetGrade.FULL;
    }
    return busyDisks.isBusy(disk.queuedCalls()) ? TargetGrade.BUSY : TargetGrade.GOOD;
  }

  /** Whether at least 95% of a disk are used. A disk of unknown capacity is not full. */
  public static boolean isFull(Disk disk) {
    return BusyServers.isFull(disk.capacityBytes(), disk.remainingBytes());
  }

  /** Whether calls of a disk have failed lately. */
  public static boolean errs(Disk disk) {
    return disk.recentErrors() >= SOME_ERRORS;
  }
}
