package io.ebbfs.namespace.prove;

import io.ebbfs.coding.Codes;
import io.ebbfs.coding.ErasureCode;
import java.io.PrintStream;
import java.util.List;
import java.util.Optional;

/** The table of {@code ./ebb prove placement}. */
final class PlacementFigures {
  private static final int DISK_BLOCKS = 200;
  private static final double FILL = 0.5;
  private static final List<Integer> SERVERS =
      List.of(6, 7, 8, 9, 10, 11, 12, 14, 16, 20, 24, 32, 40);

  private PlacementFigures() {}

  static void print(List<String> codes, long seed, PrintStream out) {
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
            r.weakServers(),
            r.weakRacks(),
            r.weakPairs(),
            r.weakPairsMerged(),
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
        server, rack, pairs: what some stripe would not survive, over all groups (pairs of servers);
        merged: pairs that the compact stripe to come would not survive; missing: what would change
        that. moves: copies per data block. max/mean: utilisation (used / capacity) of the fullest
        disk; forced: the least that arithmetic allows, since of the blocks of a stripe with p
        parities a server or rack holds at most p, and any two servers at most p together, however
        many disks they have. ms: processor time to place a group; max ms: the longest, searches for
        patterns included, which come once.""");
  }

  /** The code that stripes of this one are merged into, if they are. */
  static Optional<ErasureCode> mergesInto(ErasureCode code) {
    return Codes.familyOf(code.name())
        .filter(family -> family.fast().equals(code.name()))
        .map(family -> family.compactCode());
  }
}
