package io.ebbfs.common.config;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/**
 * Finds the valid word that a mistyped word probably means: the word with the smallest edit
 * distance. Example: "tolerence" means "tolerance". Pure.
 */
public final class NearestWord {
  private NearestWord() {}

  /**
   * The nearest valid word; empty if its edit distance is more than 2 and more than 40% of its
   * length. Case, hyphens and underscores of the word do not count.
   */
  public static Optional<String> to(String word, Collection<String> valid) {
    return valid.stream()
        .min(Comparator.comparingInt((String v) -> distance(word, v)).thenComparing(v -> v))
        .filter(v -> distance(word, v) <= Math.max(2, v.length() * 2 / 5));
  }

  private static int distance(String left, String right) {
    String a = left.toLowerCase(java.util.Locale.ROOT).replaceAll("[-_]", "");
    String b = right.toLowerCase(java.util.Locale.ROOT);
    int[] previous = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      previous[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int[] current = new int[b.length() + 1];
      current[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int swap = previous[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        current[j] = Math.min(swap, 1 + Math.min(previous[j], current[j - 1]));
      }
      previous = current;
    }
    return previous[b.length()];
  }
}
