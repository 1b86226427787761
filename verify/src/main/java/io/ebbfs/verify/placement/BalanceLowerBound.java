package io.ebbfs.verify.placement;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.plan.Conversion;
import io.ebbfs.coding.plan.Planner;
import io.ebbfs.coding.tolerance.MinimumServers;
import io.ebbfs.namenode.placement.search.AnyTwoServers;
import io.ebbfs.verify.placement.LinearProgram.Sum;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * Computes how much fuller than the mean disk the fullest disk must be, whatever the placement. It
 * is a lower bound that uses only the numbers of blocks.
 *
 * <p>A stripe with p parities decodes without at most p blocks. So a server holds at most p of its
 * blocks, and at most one per disk. A rack holds at most p if the stripe must survive the loss of a
 * rack. If the stripe must survive the loss of any two servers, any two hold at most p together:
 * either each server holds at most p/2 (rounded down), or one server holds j &gt; p/2 and each
 * other server at most p - j. Over many stripes, servers hold any mixture of such numbers. So the
 * mean numbers of blocks per server and stripe are the points of a polytope. If w(j,s) is the share
 * of the stripes of which server s holds the j blocks:
 *
 * <pre>
 *   mean(s) = even(s) + sum over j of (most(j,s) + other(j,s))
 *   even(s)    &lt;= W(0) floor(p/2)         W(0) + sum over j of W(j) = 1
 *   most(j,s)  &lt;= w(j,s) j                sum over s of w(j,s) = W(j)
 *   other(j,s) &lt;= (W(j) - w(j,s)) (p - j)
 *   sum over s of even(s) = n W(0)        sum over s of (most(j,s) + other(j,s)) = n W(j)
 * </pre>
 *
 * <p>Stripes that will merge have two such polytopes. The one of the fast stripes contains the
 * blocks that the merge keeps and the blocks that it deletes. The one of the compact stripe
 * contains the blocks that the merge keeps and the blocks that it writes. A {@link LinearProgram}
 * finds the least level L with mean(s) at most L times the fair share of every server s (its share
 * of the disks). A placement may be unable to reach L, since a code does not survive every loss of
 * p blocks, but it never falls below L.
 */
final class BalanceLowerBound {
  private final int[] disks;
  private final int[] rackOf;
  private final int racks;
  private final LinearProgram program = new LinearProgram();
  private final boolean allowsUneven;
  private boolean survivesRacks;

  private BalanceLowerBound(int[] disks, int[] rackOf, boolean allowsUneven) {
    this.disks = disks;
    this.rackOf = rackOf;
    this.racks = (int) IntStream.of(rackOf).distinct().count();
    this.allowsUneven = allowsUneven;
  }

  /**
   * The bound for a cluster that is filled with stripes of one code.
   *
   * @param compact the code that the stripes will merge into, if they will
   * @param disks the number of disks of each server; all disks have one capacity
   * @param rackOf the rack of each server, from 0
   */
  static double of(ErasureCode code, Optional<ErasureCode> compact, int[] disks, int[] rackOf) {
    Optional<Double> even = new BalanceLowerBound(disks, rackOf, false).solve(code, compact);
    if (even.isPresent() && even.get() < 1 + 1e-6) {
      return 1; // The larger program cannot give less.
    }
    Optional<Double> least = new BalanceLowerBound(disks, rackOf, true).solve(code, compact);
    if (least.isEmpty() && compact.isPresent()) {
      return of(code, Optional.empty(), disks, rackOf); // The cluster is too small for the merge.
    }
    return least.orElseThrow(
        () ->
            new IllegalArgumentException(
                "%s does not fit on %d servers: add servers or disks"
                    .formatted(code, disks.length)));
  }

  private Optional<Double> solve(ErasureCode code, Optional<ErasureCode> compact) {
    survivesRacks =
        racks >= 2 && survivesRack(code) && compact.map(this::survivesRack).orElse(true);
    int stripes = compact.map(to -> to.dataCount() / code.dataCount()).orElse(1);
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

  private boolean survivesRack(ErasureCode code) {
    return racks >= MinimumServers.of(code);
  }

  /** How many blocks of a group the merge keeps. */
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

  /** The sums of the parts, by server, are possible numbers of blocks of that many stripes. */
  private void within(ErasureCode code, int stripes, List<int[]> parts) {
    Sum[] held = new Sum[disks.length];
    for (int s = 0; s < held.length; s++) {
      held[s] = new Sum();
      for (int[] part : parts) {
        held[s].plus(1, part[s]);
      }
    }
    int p = code.parityCount();
    boolean pairs = AnyTwoServers.survives(code, disks.length);
    Sum shares = new Sum();
    share(code, pairs ? p / 2 : p, shares, held);
    for (int j = p / 2 + 1; pairs && allowsUneven && j <= p; j++) {
      if (j + (disks.length - 1) * (p - j) >= code.size()) {
        unevenShare(code, j, shares, held);
      }
    }
    program.equal(shares, stripes);
    for (Sum difference : held) {
      program.equal(difference, 0);
    }
  }

  /** The share of the stripes of which no server holds more than that many blocks. */
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

  /** The share of the stripes of which one server holds j blocks and each other at most p - j. */
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
    if (!survivesRacks) {
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
