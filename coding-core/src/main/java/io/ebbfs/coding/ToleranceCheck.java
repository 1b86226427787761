package io.ebbfs.coding;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Proves by enumeration that a code survives what it claims to. Pure. */
final class ToleranceCheck {
  /** More patterns than these are not enumerated: some seconds. */
  static final long MOST_PATTERNS = 4_000_000;

  private ToleranceCheck() {}

  /**
   * The first pattern of at most {@code tolerance} losses that does not decode, fewest first.
   *
   * @throws IllegalArgumentException if there are too many patterns to look at all of them
   */
  static Optional<List<Position>> firstFatal(ErasureCode code, int tolerance) {
    if (patterns(code.size(), tolerance) > MOST_PATTERNS) {
      throw new IllegalArgumentException(
          "%s: a tolerance of %d among %d positions is too much to be proven (more than %d patterns); claim less, or use a smaller code"
              .formatted(code, tolerance, code.size(), MOST_PATTERNS));
    }
    for (int count = 1; count <= Math.min(tolerance, code.size()); count++) {
      int[] lost = new int[count];
      if (findFatal(code, lost, 0, 0)) {
        List<Position> fatal = new ArrayList<>();
        for (int position : lost) {
          fatal.add(code.position(position));
        }
        return Optional.of(fatal);
      }
    }
    return Optional.empty();
  }

  /**
   * The code itself, if it survives any loss of as many blocks as it claims.
   *
   * @throws IllegalArgumentException if not; the message names the pattern and the remedy
   */
  static ErasureCode proven(ErasureCode code, String remedy) {
    Optional<List<Position>> fatal = firstFatal(code, code.tolerance());
    if (fatal.isPresent()) {
      throw new IllegalArgumentException(
          "%s: the loss of %s does not decode, so that it does not survive any %d losses; %s"
              .formatted(code, names(fatal.get()), code.tolerance(), remedy));
    }
    return code;
  }

  static String names(List<Position> positions) {
    return positions.stream().map(Position::name).collect(Collectors.joining(", "));
  }

  private static boolean findFatal(ErasureCode code, int[] lost, int depth, int first) {
    if (depth == lost.length) {
      return !code.independent(lost, depth);
    }
    for (int p = first; p < code.size(); p++) {
      lost[depth] = p;
      if (findFatal(code, lost, depth + 1, p + 1)) {
        return true;
      }
    }
    return false;
  }

  private static double patterns(int size, int tolerance) {
    double patterns = 1;
    for (int i = 0; i < tolerance; i++) {
      patterns = patterns * (size - i) / (i + 1);
    }
    return patterns;
  }
}
