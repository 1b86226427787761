package io.ebbfs.coding.definitions;

import io.ebbfs.coding.code.CodeFamily;
import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.ErasureCode;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The codes and pairs of a process, in a form that two processes can compare. A name means the same
 * code in both processes only if the generators have the same fingerprint. Immutable.
 *
 * @param codes fingerprints of the codes that the user defined, by name
 * @param pairs "FAST -> COMPACT" of all pairs, by name
 */
public record CodeDefinitions(SortedMap<String, String> codes, SortedMap<String, String> pairs) {

  /** The codes and pairs of a registry. */
  public static CodeDefinitions of(CodeRegistry registry) {
    SortedMap<String, String> codes = new TreeMap<>();
    for (ErasureCode code : registry.userDefined()) {
      codes.put(code.name(), code.fingerprint());
    }
    SortedMap<String, String> pairs = new TreeMap<>();
    for (CodeFamily pair : registry.families()) {
      pairs.put(pair.name(), pair.fast() + " -> " + pair.compact());
    }
    return new CodeDefinitions(codes, pairs);
  }

  /**
   * The first difference, as a sentence.
   *
   * @param here the name of the process that these definitions are of, for the sentence
   * @param there the name of the other process
   * @return empty if both processes have the same definitions
   */
  public Optional<String> difference(String here, CodeDefinitions other, String there) {
    return difference("code", "fingerprint ", codes, here, other.codes, there)
        .or(() -> difference("pair", "", pairs, here, other.pairs, there));
  }

  private static Optional<String> difference(
      String what,
      String of,
      Map<String, String> mine,
      String here,
      Map<String, String> others,
      String there) {
    TreeSet<String> names = new TreeSet<>(mine.keySet());
    names.addAll(others.keySet());
    for (String name : names) {
      String one = mine.get(name);
      String other = others.get(name);
      if (one == null || other == null) {
        return Optional.of(
            "%s %s is defined at %s and not at %s"
                .formatted(what, name, one == null ? there : here, one == null ? here : there));
      }
      if (!one.equals(other)) {
        return Optional.of(
            "%s %s is %s%s at %s and %s%s at %s"
                .formatted(what, name, of, one, here, of, other, there));
      }
    }
    return Optional.empty();
  }
}
