package io.ebbfs.verify.placement;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Finds the least value of one variable under linear constraints. All variables are at least 0. It
 * uses the two-phase simplex method on a dense tableau, with Bland's rule against cycles once the
 * value stalls. It is fast for hundreds of variables, not for thousands. Not thread-safe.
 */
final class LinearProgram {
  private static final double TINY = 1e-9;
  private static final int STALL = 200;

  private record Row(Map<Integer, Double> terms, boolean isEquation, double bound) {}

  private final List<Row> rows = new ArrayList<>();
  private int variables;
  // The last two rows are the objectives of both phases. The last column is the right side.
  private double[][] tableau;
  private int[] basis;

  int variable() {
    return variables++;
  }

  /** Sum of coefficients by variable. */
  static final class Sum {
    private final Map<Integer, Double> terms = new TreeMap<>();

    Sum plus(double coefficient, int variable) {
      terms.merge(variable, coefficient, Double::sum);
      return this;
    }
  }

  void atMost(Sum sum, double bound) {
    rows.add(new Row(Map.copyOf(sum.terms), false, bound));
  }

  void equal(Sum sum, double bound) {
    rows.add(new Row(Map.copyOf(sum.terms), true, bound));
  }

  /** The least value of a variable; empty if the constraints contradict each other. */
  Optional<Double> least(int objective) {
    int columns = build();
    int artificial = columns - rows.size();
    int cost = rows.size();
    // First phase: make the artificial variables, one per row, zero.
    for (int r = 0; r < rows.size(); r++) {
      subtract(cost + 1, r, 1);
      tableau[cost + 1][artificial + r] = 0;
    }
    minimise(cost + 1, columns);
    if (tableau[cost + 1][columns] < -1e-6) {
      return Optional.empty();
    }
    for (int r = 0; r < rows.size(); r++) {
      if (basis[r] >= artificial) {
        drive(r, artificial);
      }
    }
    tableau[cost][objective] += 1;
    for (int r = 0; r < rows.size(); r++) {
      subtract(cost, r, tableau[cost][basis[r]]);
    }
    minimise(cost, artificial);
    return Optional.of(-tableau[cost][columns]);
  }

  /**
   * Takes an artificial variable, whose value is 0, out of the basis. It may stay if its row has
   * only zeros.
   */
  private void drive(int row, int artificial) {
    for (int c = 0; c < artificial; c++) {
      if (Math.abs(tableau[row][c]) > 1e-7) {
        pivot(row, c);
        return;
      }
    }
  }

  private int build() {
    int slacks = (int) rows.stream().filter(row -> !row.isEquation()).count();
    int columns = variables + slacks + rows.size();
    tableau = new double[rows.size() + 2][columns + 1];
    basis = new int[rows.size()];
    int slack = variables;
    for (int r = 0; r < rows.size(); r++) {
      Row row = rows.get(r);
      double sign = row.bound() < 0 ? -1 : 1;
      for (Map.Entry<Integer, Double> term : row.terms().entrySet()) {
        tableau[r][term.getKey()] = sign * term.getValue();
      }
      if (!row.isEquation()) {
        tableau[r][slack++] = sign;
      }
      tableau[r][columns] = sign * row.bound();
      basis[r] = variables + slacks + r;
      tableau[r][basis[r]] = 1;
    }
    return columns;
  }

  private void subtract(int from, int row, double factor) {
    if (factor != 0) {
      for (int c = 0; c < tableau[from].length; c++) {
        tableau[from][c] -= factor * tableau[row][c];
      }
    }
  }

  /** Pivots until no column below the limit makes the row's value smaller. */
  private void minimise(int cost, int limit) {
    int right = tableau[cost].length - 1;
    int stalled = 0;
    while (true) {
      int column = -1;
      for (int c = 0; c < limit && (stalled < STALL || column < 0); c++) {
        if (tableau[cost][c] < -TINY && (column < 0 || tableau[cost][c] < tableau[cost][column])) {
          column = c;
        }
      }
      if (column < 0) {
        return;
      }
      int leaving = leaving(column, right);
      if (leaving < 0) {
        throw new IllegalStateException("the objective has no least value");
      }
      double before = tableau[cost][right];
      pivot(leaving, column);
      stalled = Math.abs(tableau[cost][right] - before) < TINY ? stalled + 1 : 0;
    }
  }

  private int leaving(int column, int right) {
    int best = -1;
    double least = Double.MAX_VALUE;
    for (int r = 0; r < basis.length; r++) {
      if (tableau[r][column] > TINY) {
        double ratio = tableau[r][right] / tableau[r][column];
        if (ratio < least - TINY || ratio < least + TINY && basis[r] < basis[best]) {
          least = Math.min(least, ratio);
          best = r;
        }
      }
    }
    return best;
  }

  private void pivot(int row, int column) {
    double by = tableau[row][column];
    for (int c = 0; c < tableau[row].length; c++) {
      tableau[row][c] /= by;
    }
    for (int r = 0; r < tableau.length; r++) {
      if (r != row) {
        subtract(r, row, tableau[r][column]);
      }
    }
    basis[row] = column;
  }
}
