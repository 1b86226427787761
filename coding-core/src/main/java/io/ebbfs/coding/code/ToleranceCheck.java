package io.ebbfs.coding.code;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Proves that a code survives every loss that it claims to survive, by trying each. Pure. */
final class ToleranceCheck {
  /** The most losses that are tried, which takes some seconds. */
  static final long MOST_PATTERNS = 4_000_000;

  private ToleranceCheck() {}

  /**
   * A smallest set of at most {@code tolerance} lost positions that does not decode; empty if all
   * decode.
   *
   * @throws IllegalArgumentException if there are too many sets to try all of them
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
   * Returns the code if it survives every loss of as many blocks as it claims.
   *
   * @param remedy ends the message of the exception
   * @throws IllegalArgumentException if it does not; the message names a loss that does not decode
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
