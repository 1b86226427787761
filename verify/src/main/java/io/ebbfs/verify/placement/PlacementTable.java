package io.ebbfs.verify.placement;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import java.io.PrintStream;
import java.util.List;
import java.util.Optional;

/** The table of {@code ./ebb verify placement}. */
public final class PlacementTable {
  private static final int DISK_BLOCKS = 200;
  private static final double FILL = 0.5;
  private static final List<Integer> SERVERS =
      List.of(6, 7, 8, 9, 10, 11, 12, 14, 16, 20, 24, 32, 40);

  private PlacementTable() {}

  public static void print(List<String> codes, long seed, PrintStream out) {
    out.printf(
        "Placement, seed %d. Servers of 8 to 12 disks, filled to %.0f%%.%n", seed, FILL * 100);
    out.printf(
        "%-12s %7s %5s %5s %6s %7s %7s %7s %7s %7s %8s %8s %7s %7s  %s%n",
        "code",
        "servers",
        "racks",
        "disks",
        "groups",
        "server",
        "rack",
        "pairs",
        "merged",
        "moves",
        "max/mean",
        "forced",
        "ms",
        "max ms",
        "missing");
    for (String name : codes) {
      for (int servers : SERVERS) {
        int racks = servers >= 16 ? servers / 4 : 1;
        PlacementSimulation.Result r =
            PlacementSimulation.run(
                Codes.byName(name), servers, racks, DISK_BLOCKS, FILL, seed + servers);
        out.printf(
            "%-12s %7d %5d %5d %6d %7d %7d %7d %7d %7.4f %8.3f %8.3f %7.2f %7.2f  %s%n",
            r.code(),
            r.servers(),
            r.racks(),
            r.disks(),
            r.groups(),
            r.groupsLostWithServer(),
            r.groupsLostWithRack(),
            r.fatalPairs(),
            r.fatalPairsMerged(),
            (double) r.moves() / r.dataBlocks(),
            r.fullest(),
            r.forced(),
            r.meanMillis(),
            r.slowestMillis(),
            r.missing());
      }
    }
    out.println(
        """
        server, rack: the groups with a stripe that does not survive the loss of some server or rack.
        pairs: the pairs of servers whose loss some stripe does not survive, over all groups.
        merged: the same for the compact stripe that a group will merge into.
        missing: the servers or racks that would change this. moves: copied blocks per data block.
        max/mean: utilisation (used / capacity) of the fullest disk as a multiple of the mean.
        forced: the lower bound of max/mean. A server or rack holds at most p blocks of a stripe with
        p parities, and any two servers hold at most p together, however many disks they have.
        ms: processor time to place a group. max ms: the longest time, including the search for a
        placement pattern, which happens once for each number of servers.""");
  }

  /** The compact code into which stripes of a fast code merge; empty for any other code. */
  static Optional<ErasureCode> mergesInto(ErasureCode code) {
    return CodeRegistry.builtIn().mergesInto(code);
  }
}
