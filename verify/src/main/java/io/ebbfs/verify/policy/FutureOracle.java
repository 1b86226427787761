package io.ebbfs.verify.policy;

import io.ebbfs.manager.economics.CodeCost;
import io.ebbfs.manager.economics.PairCost;
import java.util.Arrays;

/**
 * Knows all reads and failures, and finds for each file the cheapest sequence of codes: net moves
 * plus the readers' wait at a price. Storage above the bound has a price (a Lagrange multiplier),
 * found by bisection. The last two solutions, one on each side of the bound, are mixed so that the
 * bound is met. So no schedule that keeps the bound has a lower objective.
 */
final class FutureOracle {
  private static final int REPLICATED = 0;
  private static final int FAST = 1;
  private static final int COMPACT = 2;
  private static final int STATES = 3;

  /** Each file is encoded by this hour: a read file may wait, and an encoding takes a while. */
  private static final int ENCODED_BY = PolicySystem.WAIT_WHILE_READ_HOURS + 4;

  private static final int EARLIEST = 1;
  private static final int BISECTIONS = 30;

  private final Traffic traffic;
  private final FailureDraws failures;
  private final double reader;
  private final boolean[][] hot;
  private final double[] repair;
  private final double[] degraded;
  private final double[] storedIn;
  private final double[][] move = new double[STATES][STATES];

  private FutureOracle(Traffic traffic, FailureDraws failures, double reader) {
    this.traffic = traffic;
    this.failures = failures;
    this.reader = reader;
    this.hot = HottestFiles.byHour(traffic.opens());
    PairCost pair = PairCost.of(PolicySystem.FAMILY);
    CodeCost fast = pair.fast();
    CodeCost compact = pair.compact();
    repair = new double[] {6, fast.repairMoves(), compact.repairMoves()};
    degraded = new double[] {1, fast.degradedReads(), compact.degradedReads()};
    storedIn = new double[] {3, fast.stored(), compact.stored()};
    for (double[] row : move) {
      Arrays.fill(row, Double.POSITIVE_INFINITY);
    }
    for (int state = 0; state < STATES; state++) {
      move[state][state] = 0;
    }
    int fastBlocks = PolicySystem.FAMILY.fastCode().dataCount();
    int compactBlocks = PolicySystem.FAMILY.compactCode().dataCount();
    move[REPLICATED][FAST] =
        (double) StripeCost.of(PolicySystem.FAMILY.fastCode(), fastBlocks).encode() / fastBlocks;
    move[REPLICATED][COMPACT] =
        (double) StripeCost.of(PolicySystem.FAMILY.compactCode(), compactBlocks).encode()
            / compactBlocks;
    move[FAST][COMPACT] = pair.toCompact();
    move[COMPACT][FAST] = pair.toFast();
  }

  /**
   * The figures of an oracle.
   *
   * @param bounded whether it keeps the bound
   * @param reader the price of a byte that a reader waits for, besides the move itself
   */
  static Ledger.Figures of(Traffic traffic, FailureDraws failures, boolean bounded, double reader) {
    return new FutureOracle(traffic, failures, reader)
        .run(bounded)
        .figures(traffic.blocks().length);
  }

  private Ledger run(boolean bounded) {
    Solution free = solve(0);
    if (!bounded || free.excess <= 0) {
      return free.ledger;
    }
    double low = 0;
    double high = 1;
    Solution over = free;
    Solution under = solve(high);
    for (int i = 0; i < BISECTIONS; i++) {
      double middle = (low + high) / 2;
      Solution next = solve(middle);
      if (next.excess > 0) {
        low = middle;
        over = next;
      } else {
        high = middle;
        under = next;
      }
    }
    return mix(over, under, -under.excess / (over.excess - under.excess));
  }

  /** A schedule of all files, and the block hours by which coded data exceeds the bound. */
  private static final class Solution {
    private final Ledger ledger;
    private double excess;

    Solution(Ledger ledger) {
      this.ledger = ledger;
    }
  }

  private Ledger mix(Solution over, Solution under, double part) {
    Ledger sum = new Ledger(traffic.totalBlocks(), failures.hours());
    sum.add(over.ledger, part);
    sum.add(under.ledger, 1 - part);
    return sum;
  }

  private Solution solve(double price) {
    Solution solution = new Solution(new Ledger(traffic.totalBlocks(), failures.hours()));
    for (int file = 0; file < traffic.blocks().length; file++) {
      record(file, cheapest(file, price), solution);
    }
    return solution;
  }

  /** The state of the file in each hour, by a dynamic programme from the end to the beginning. */
  private byte[] cheapest(int file, double price) {
    int hours = failures.hours();
    double[] later = new double[STATES];
    byte[][] next = new byte[hours][STATES];
    for (int hour = hours - 1; hour >= 0; hour--) {
      double[] now = new double[STATES];
      for (int from = 0; from < STATES; from++) {
        now[from] = Double.POSITIVE_INFINITY;
        for (int to = 0; to < STATES; to++) {
          double cost = move[from][to] + hourly(file, hour, to, price) + later[to];
          if (cost < now[from]) {
            now[from] = cost;
            next[hour][from] = (byte) to;
          }
        }
      }
      later = now;
    }
    byte[] states = new byte[hours];
    int state = REPLICATED;
    for (int hour = 0; hour < hours; hour++) {
      state = next[hour][state];
      states[hour] = (byte) state;
    }
    return states;
  }

  private double hourly(int file, int hour, int state, double price) {
    boolean allowed = state == REPLICATED ? hour < ENCODED_BY : hour >= EARLIEST;
    if (!allowed) {
      return Double.POSITIVE_INFINITY;
    }
    double reads = traffic.opens()[hour][file] * failures.absent()[hour];
    return failures.lost()[hour] * repair[state]
        + reads * degraded[state] * (1 + reader)
        + price * excess(state);
  }

  private double excess(int state) {
    return state == REPLICATED ? 0 : storedIn[state] - PolicySystem.BOUND;
  }

  private void record(int file, byte[] states, Solution solution) {
    Ledger ledger = solution.ledger;
    double blocks = traffic.blocks()[file];
    ledger.ingest += 3 * blocks;
    int before = REPLICATED;
    for (int hour = 0; hour < states.length; hour++) {
      int state = states[hour];
      if (before == REPLICATED) {
        ledger.encode += move[before][state] * blocks;
      } else if (before != state) {
        ledger.convert += move[before][state] * blocks;
        ledger.conversions++;
      }
      double reads = traffic.opens()[hour][file] * failures.absent()[hour] * blocks;
      ledger.repair += failures.lost()[hour] * repair[state] * blocks;
      ledger.addReads(reads, reads * degraded[state], hot[hour][file]);
      ledger.storedBlockHours += storedIn[state] * blocks;
      solution.excess += excess(state) * blocks;
      before = state;
    }
  }
}
