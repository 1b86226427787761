package io.ebbfs.verify.placement;

import io.ebbfs.coding.code.Codes;
import java.io.PrintStream;
import java.util.List;

/** The table of {@code ./ebb verify packing}. */
public final class PackingTable {
  private static final List<int[]> TREES =
      List.of(
          new int[] {10_000, 1},
          new int[] {10_000, 10},
          new int[] {10_000, 100},
          new int[] {1_000, 1},
          new int[] {100, 1});

  private PackingTable() {}

  public static void print(List<String> codes, long seed, PrintStream out) {
    out.printf("Packing, seed %d. Files of 1 to 3 blocks of 128 MiB, log-normal tails.%n", seed);
    out.printf(
        "%-12s %7s %9s %7s %9s %8s %9s %8s %9s %9s %9s%n",
        "code",
        "files",
        "proposals",
        "blocks",
        "overhead",
        "own",
        "more by",
        "of it:",
        "padding",
        "unfilled",
        "left out");
    for (String name : codes) {
      for (int[] tree : TREES) {
        PackingSimulation.Result r =
            PackingSimulation.run(Codes.byName(name), tree[0], tree[1], seed);
        double data = r.dataBytes();
        out.printf(
            "%-12s %7d %9d %7d %9.4f %8.4f %9.4f %8s %9.4f %9.4f %9.4f%n",
            r.code(),
            r.files(),
            r.proposals(),
            r.blocks(),
            r.overhead(),
            r.ofCode(),
            r.overhead() - r.ofCode(),
            "",
            r.paddingBytes() / data,
            r.unfilledBytes() / data,
            r.leftOutBytes() / data);
      }
    }
    out.println(
        """
        Overheads are bytes stored per byte of data. proposals: the files were proposed in this many
        parts, and each part was packed by itself. left out: blocks that stay replicated because a
        stripe of them would store more.""");
  }
}
