package io.ebbfs.namespace.prove;

import io.ebbfs.coding.Conversion;
import io.ebbfs.coding.ErasureCode;
import io.ebbfs.coding.Planner;
import io.ebbfs.namespace.placement.MinimumServers;
import io.ebbfs.namespace.placement.Packing;
import io.ebbfs.namespace.prove.LinearProgram.Sum;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * How much fuller than the mean the fullest disk must be, whatever the placement: a lower bound by
 * arithmetic, from the numbers of blocks alone.
 *
 * <p>A stripe with p parities decodes without at most p blocks. So a server holds at most p of its
 * blocks, and one per disk; a rack at most p, where racks may be lost; and where any two servers
 * may be lost, two of them p at most together: either all hold at most p/2 (rounded down), or one
 * holds j &gt; p/2 and every other at most p - j. Over many stripes, servers hold any mixture of
 * such numbers, so the mean numbers of blocks per server and stripe are the points of a polytope:
 * with the share w(j,s) of stripes of which server s holds the j,
 *
 * <pre>
 *   mean(s) = even(s) + sum over j of (most(j,s) + other(j,s))
 *   even(s)    &lt;= W(0) floor(p/2)         W(0) + sum over j of W(j) = 1
 *   most(j,s)  &lt;= w(j,s) j                sum over s of w(j,s) = W(j)
 *   other(j,s) &lt;= (W(j) - w(j,s)) (p - j)
 *   sum over s of even(s) = n W(0)        sum over s of (most(j,s) + other(j,s)) = n W(j)
 * </pre>
 *
 * <p>For stripes that will merge there are two such polytopes: the blocks that stay and those that
 * go with the merge are in that of the fast stripes; the blocks that stay and those to come in that
 * of the compact stripe. The least level L with mean(s) at most L times the fair share of every
 * server s (its share of the disks) is found by a {@link LinearProgram}. Placement may be unable to
 * reach it, since which blocks are lost matters, too, but never falls below.
 */
final class ForcedBalance {
  private final int[] disks;
  private final int[] rackOf;
  private final int racks;
  private final LinearProgram program = new LinearProgram();
  private final boolean unevenToo;
  private boolean keepsRacks;

  private ForcedBalance(int[] disks, int[] rackOf, boolean unevenToo) {
    this.disks = disks;
    this.rackOf = rackOf;
    this.racks = (int) IntStream.of(rackOf).distinct().count();
    this.unevenToo = unevenToo;
  }

  /**
   * The bound for stripes of a code that fill a cluster.
   *
   * @param compact the code that they will merge into, if they will
   * @param disks of each server, all of one capacity
   * @param rackOf the rack of each server, from 0
   */
  static double of(ErasureCode code, Optional<ErasureCode> compact, int[] disks, int[] rackOf) {
    Optional<Double> even = new ForcedBalance(disks, rackOf, false).solve(code, compact);
    if (even.isPresent() && even.get() < 1 + 1e-6) {
      return 1; // no need for the larger program
    }
    Optional<Double> least = new ForcedBalance(disks, rackOf, true).solve(code, compact);
    if (least.isEmpty() && compact.isPresent()) {
      return of(code, Optional.empty(), disks, rackOf); // they cannot merge here
    }
    return least.orElseThrow(
        () ->
            new IllegalArgumentException(
                "%s does not fit on %d servers: add servers or disks"
                    .formatted(code, disks.length)));
  }

  private Optional<Double> solve(ErasureCode code, Optional<ErasureCode> compact) {
    keepsRacks = racks >= 2 && keepsRack(code) && compact.map(this::keepsRack).orElse(true);
    int stripes = compact.isPresent() ? Packing.stripesPerGroup(code) : 1;
    int stored = stripes * code.size();
    int kept = compact.map(to -> kept(code, to, stripes)).orElse(stored);
    int[] stay = variables();
    int[] leave = variables();
    program.equal(sum(stay), kept);
    program.equal(sum(leave), stored - kept);
    within(code, stripes, List.of(stay, leave));
    if (compact.isPresent()) {
      int[] come = variables();
      program.equal(sum(come), compact.get().size() - kept);
      within(compact.get(), 1, List.of(stay, come));
    }
    int level = program.variable();
    int all = IntStream.of(disks).sum();
    for (int s = 0; s < disks.length; s++) {
      Sum above = new Sum().plus(1, stay[s]).plus(1, leave[s]);
      program.atMost(above.plus(-(double) stored * disks[s] / all, level), 0);
    }
    return program.least(level);
  }

  private boolean keepsRack(ErasureCode code) {
    return racks >= MinimumServers.of(code);
  }

  /** Blocks of a group that are members of the stripe to come. */
  private static int kept(ErasureCode code, ErasureCode compact, int stripes) {
    Set<Integer> all = new TreeSet<>(IntStream.range(0, code.size()).boxed().toList());
    Conversion up = Planner.upcode(code, compact, Collections.nCopies(stripes, all), Set.of());
    return up.kept().size();
  }

  private int[] variables() {
    return IntStream.range(0, disks.length).map(s -> program.variable()).toArray();
  }

  private static Sum sum(int[] variables) {
    Sum sum = new Sum();
    IntStream.of(variables).forEach(v -> sum.plus(1, v));
    return sum;
  }

  /** The sums of these, by server, are numbers of blocks of so many stripes of a code. */
  private void within(ErasureCode code, int stripes, List<int[]> parts) {
    Sum[] held = new Sum[disks.length];
    for (int s = 0; s < held.length; s++) {
      held[s] = new Sum();
      for (int[] part : parts) {
        held[s].plus(1, part[s]);
      }
    }
    int p = code.parityCount();
    boolean pairs = MinimumServers.survivesAnyTwo(code, disks.length);
    Sum shares = new Sum();
    share(code, pairs ? p / 2 : p, shares, held);
    for (int j = p / 2 + 1; pairs && unevenToo && j <= p; j++) {
      if (j + (disks.length - 1) * (p - j) >= code.size()) {
        unevenShare(code, j, shares, held);
      }
    }
    program.equal(shares, stripes);
    for (Sum difference : held) {
      program.equal(difference, 0);
    }
  }

  /** A share of stripes of which no server holds more than so many blocks. */
  private void share(ErasureCode code, int most, Sum shares, Sum[] held) {
    int share = program.variable();
    shares.plus(1, share);
    int[] even = variables();
    for (int s = 0; s < even.length; s++) {
      program.atMost(new Sum().plus(1, even[s]).plus(-Math.min(most, disks[s]), share), 0);
      held[s].plus(-1, even[s]);
    }
    program.equal(sum(even).plus(-code.size(), share), 0);
    withinRacks(code, share, List.of(even));
  }

  /** A share of stripes of which one server holds j blocks and each other the rest at most. */
  private void unevenShare(ErasureCode code, int j, Sum shares, Sum[] held) {
    int share = program.variable();
    shares.plus(1, share);
    int rest = code.parityCount() - j;
    int[] shareOf = variables();
    int[] most = variables();
    int[] other = variables();
    Sum all = new Sum().plus(-code.size(), share);
    for (int s = 0; s < most.length; s++) {
      program.atMost(new Sum().plus(1, most[s]).plus(-Math.min(j, disks[s]), shareOf[s]), 0);
      int others = Math.min(rest, disks[s]);
      program.atMost(new Sum().plus(1, other[s]).plus(-others, share).plus(others, shareOf[s]), 0);
      held[s].plus(-1, most[s]).plus(-1, other[s]);
      all.plus(1, most[s]).plus(1, other[s]);
    }
    program.equal(all, 0);
    program.equal(sum(shareOf).plus(-1, share), 0);
    withinRacks(code, share, List.of(most, other));
  }

  private void withinRacks(ErasureCode code, int share, List<int[]> parts) {
    if (!keepsRacks) {
      return;
    }
    for (int rack = 0; rack < racks; rack++) {
      Sum held = new Sum().plus(-code.parityCount(), share);
      for (int s = 0; s < disks.length; s++) {
        if (rackOf[s] == rack) {
          for (int[] part : parts) {
            held.plus(1, part[s]);
          }
        }
      }
      program.atMost(held, 0);
    }
  }
}
